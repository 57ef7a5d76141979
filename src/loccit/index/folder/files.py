"""Files of derived indexes, written atomically, and the lock that admits one writing process."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError, IndexLockedError, IndexStateError
from loccit.index.folder.digests import sealed_json, unsealed_json
from loccit.index.folder.record import now


def write_json(path: Path, data: dict[str, Any], *, sealed: bool = True) -> None:
    """Replace a small JSON file atomically: a reader sees the old or the new one.

    If ``sealed``, it also sees whether the file was damaged; others may be edited by hand.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as stream:
            stream.write(sealed_json(data) if sealed else json.dumps(data))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None if there is no such file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DamagedIndexError(f"{path.name} is unreadable: {error}") from error
    return unsealed_json(text, path.name)


def read_records(stream: BinaryIO, kind: np.dtype[Any], place: int, count: int) -> NDArray[Any]:
    """Return some records of a file, as a writable copy; zeros beyond its end."""
    stream.seek(place * kind.itemsize)
    size = count * kind.itemsize
    return np.frombuffer(bytearray(stream.read(size).ljust(size, b"\0")), kind)


def write_records(stream: BinaryIO, place: int, values: NDArray[Any]) -> None:
    """Write records at their position in a file."""
    stream.seek(place * values.itemsize)
    stream.write(values.tobytes())


# A search that catches up, or a check who is writing, only takes a moment.
_MOMENT = 0.5


# The mode of a new index folder: for its owner alone, or also for their group.
PRIVATE, GROUP = 0o700, 0o2770


def settle_modes(folder: Path) -> None:
    """Give all files of an index the permissions of its folder: whoever may enter it may read them.

    Files of other users are left to them.
    """
    mode = folder.stat().st_mode & 0o7777
    for parent, folders, names in os.walk(folder):
        wanted = [(name, mode) for name in folders] + [(name, mode & 0o666) for name in names]
        for name, right in wanted:
            path = Path(parent, name)
            with suppress(OSError):
                if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) != right:
                    path.chmod(right)


class WriterLock:
    """A lock of the operating system: it disappears with the process that held it, however that ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(str(folder / "writer.lock"))
        self._holder = folder / "writer.json"

    def problem(self) -> str:
        """Describe what is in the place of the lock file; "" if nothing is wrong."""
        path = Path(self._lock.lock_file)
        return f"{path} is a folder where a lock file belongs" if path.is_dir() else ""

    def mend(self) -> bool:
        """Remove a folder in the place of the lock file; False if it is not empty."""
        with suppress(OSError):
            Path(self._lock.lock_file).rmdir()
        return not self.problem()

    def holder(self) -> str:
        """Return who is writing now; "" if nobody."""
        if self._lock.is_locked:
            return ""
        try:
            if not self._try(0):
                return self._describe()
        except (OSError, IndexStateError):
            return ""
        self._lock.release()
        return ""

    def _describe(self) -> str:
        try:
            data = read_json(self._holder) or {}
        except DamagedIndexError:
            data = {}
        if not data:
            return "another process"
        return f"process {data.get('pid')} on {data.get('host')} ({data.get('command')}), since {data.get('since')}"

    @contextmanager
    def held(self, *, wait: bool, on_wait: Callable[[str], None] | None = None) -> Iterator[None]:
        """Hold the lock; if it is taken, wait for it or raise with the holder's name."""
        if not self._try(_MOMENT):
            holder = self._describe()
            if not wait:
                raise IndexLockedError(
                    f"The index at {self._folder} is being written by {holder}. Wait until it is done, or run "
                    "without --no-wait."
                )
            if on_wait:
                on_wait(holder)
            self._lock.acquire()
        with self._signed():
            yield

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if it is free, for small repairs in passing."""
        if self.problem() or not self._try(0):
            yield False
            return
        with self._signed():
            yield True

    @contextmanager
    def _signed(self) -> Iterator[None]:
        """Record the holder while the lock is held, and release it at the end."""
        try:
            # The name is a courtesy: a full disk is no reason to stop here.
            with suppress(OSError):
                command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])[:80]
                write_json(
                    self._holder,
                    {"pid": os.getpid(), "host": socket.gethostname(), "command": command, "since": now()},
                )
            yield
        finally:
            if self._lock.lock_counter == 1:
                with suppress(OSError):
                    self._holder.unlink()
                with suppress(OSError):
                    settle_modes(self._folder)
            self._lock.release()

    def _try(self, seconds: float) -> bool:
        try:
            self._lock.acquire(timeout=seconds)
        except Timeout:
            return False
        except OSError as error:
            if not (problem := self.problem()):
                raise
            raise IndexStateError(f"{problem}. Fix it with: loccit doctor") from error
        return True
