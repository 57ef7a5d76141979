"""A Chroma database in a folder, shared between processes.

Chroma itself does not allow for that: each process keeps the vector index in memory and trims the common log, so
that the others miss points or spoil the files. Here every piece of work holds a lock on the folder, and a process
that finds the files changed by another opens the database anew.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chromadb.api import ServerAPI
from chromadb.api.rust import RustBindingsAPI
from chromadb.config import System
from filelock import FileLock, Timeout

from pinakes.errors import StoreAccessError, StoreError, StoreUnavailableError
from pinakes.stores.providers.chroma.client import quiet_system

_DATABASE = "chroma.sqlite3"
# Where in the head of a SQLite file the number is that grows with every change.
_CHANGES = slice(24, 28)

Signature = tuple[object, ...]


class _Folder:
    """What all stores of this process on a folder share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.guard = threading.RLock()
        self.users = 0
        self.system: System | None = None
        self.process = 0
        self.seen: Signature = ()

    def current(self) -> ServerAPI:
        """Return Chroma's interface on the files as they are now; the lock is held."""
        if self.system is not None and self.process != os.getpid():
            raise StoreError(
                "chromadb: this process was forked from one that had the folder in connection_string open, and "
                "Chroma does not work on in such a process; start processes with spawn, or use a server."
            )
        if self.system is not None and self.seen != self.signature():
            self.close()
        if self.system is None:
            system = quiet_system(is_persistent=True, persist_directory=str(self.path))
            system.instance(RustBindingsAPI)
            system.start()
            self.system, self.process = system, os.getpid()
        return self.system.instance(RustBindingsAPI)

    def signature(self) -> Signature:
        """Return what is different after any change to the files."""
        facts: list[object] = []
        with suppress(OSError):
            for path in [self.path / _DATABASE, *sorted(self.path.glob("*/*.*"))]:
                status = path.stat()
                facts.append((path.name, status.st_ino, status.st_size, status.st_mtime_ns))
            with (self.path / _DATABASE).open("rb") as file:
                facts.append(file.read(_CHANGES.stop)[_CHANGES])
        return tuple(facts)

    def close(self) -> None:
        """Stop Chroma."""
        system, self.system = self.system, None
        if system is not None:
            system.stop()


_folders: dict[Path, _Folder] = {}
_guard = threading.Lock()


class FolderConnection:
    """A folder; threads and processes take turns."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._folder: _Folder | None = None

    def exists(self) -> bool:
        """Whether there is a database in the folder: asking must not make one where the name is wrong."""
        return (self._path / _DATABASE).exists()

    @contextmanager
    def api(self) -> Iterator[ServerAPI]:
        """Give the interface while nobody else works on the folder."""
        folder = self._shared()
        with folder.guard:
            lock = self._lock()
            try:
                yield folder.current()
                folder.seen = folder.signature()
            except BaseException:
                # What is in memory may be half of something: read it anew.
                if folder.process == os.getpid():
                    folder.close()
                raise
            finally:
                lock.release()

    def _lock(self) -> FileLock:
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(str(self._path / "pinakes.lock"))
            lock.acquire(timeout=self._timeout)
        except Timeout as error:
            raise StoreUnavailableError(
                "chromadb: another process has been using the folder in connection_string for longer than timeout; "
                "for many at once, start a server (chroma run --path …) and give its address."
            ) from error
        except OSError as error:
            raise StoreAccessError(
                f"chromadb: the folder in connection_string cannot be used: {error.strerror or 'no lock on it'}."
            ) from error
        return lock

    def _shared(self) -> _Folder:
        with _guard:
            if self._folder is None:
                path = self._path.resolve()
                self._folder = _folders.setdefault(path, _Folder(path))
                self._folder.users += 1
            return self._folder

    def close(self) -> None:
        """Let go of the folder; the last one closes it."""
        with _guard:
            folder, self._folder = self._folder, None
            if folder is None:
                return
            folder.users -= 1
            if folder.users:
                return
            _folders.pop(folder.path, None)
        with folder.guard:
            folder.close()
