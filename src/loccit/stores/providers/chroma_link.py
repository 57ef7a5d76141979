"""The two connections to Chroma: a server over HTTP, or a folder opened by this process; and error translation.

Several processes may share a folder, which Chroma itself does not support: each keeps the vector index in memory and
trims the common log, so that the others miss points or corrupt the files. Here every operation holds a lock on the
folder, and a process that finds the files changed by another reopens the database.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpx
from chromadb.api import ServerAPI
from chromadb.api.fastapi import FastAPI
from chromadb.api.rust import RustBindingsAPI
from chromadb.config import Settings, System
from chromadb.errors import (
    AuthorizationError,
    ChromaAuthError,
    ChromaError,
    InvalidDimensionException,
    NotFoundError,
    RateLimitError,
)
from filelock import FileLock, Timeout

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.stores.providers.link import LONGEST_REASON, split_address, without_secrets
from loccit.stores.settings import DatabaseSettings


def quiet_system(**values: Any) -> System:
    """Return Chroma's system of components with settings that ignore .env files and telemetry."""
    fixed: dict[str, Any] = {
        "_env_file": None,
        "anonymized_telemetry": False,
        "chroma_client_auth_provider": None,
    }
    return System(Settings(**fixed, **values))


_DENIED = (401, 403)
_LATER = (408, 425, 429)


def check_status(response: httpx.Response) -> None:
    """Raise for an answer that is not Chroma's own, such as that of a proxy; the client loses the status."""
    if response.status_code in _DENIED:
        raise StoreAccessError(
            f"chromadb: the server refuses access (status {response.status_code}); check api_key, and the option "
            "token_header where the server wants the key in another header."
        )
    if response.status_code in _LATER or response.status_code >= 500:
        raise StoreUnavailableError(
            f"chromadb: the server answers with status {response.status_code}; see its log, or try again later."
        )


@contextmanager
def chroma_errors(settings: DatabaseSettings) -> Iterator[None]:
    """Turn the errors of the client into those of a store."""
    try:
        yield
    except StoreError:
        raise
    except httpx.TimeoutException as error:
        raise StoreUnavailableError(
            f"chromadb: the server did not answer within {settings.timeout:g} seconds; see timeout."
        ) from error
    except httpx.HTTPError as error:
        raise StoreUnavailableError(
            f"chromadb: the server in connection_string cannot be reached ({type(error).__name__}); is it running?"
        ) from error
    except RateLimitError as error:
        raise StoreUnavailableError("chromadb: the server asks to slow down; try again later.") from error
    except (ChromaAuthError, AuthorizationError) as error:
        raise StoreAccessError("chromadb: the server refuses access; check api_key.") from error
    except BaseException as error:
        # The client raises plain exceptions for unknown answers. A panic in Chroma's Rust code is not an
        # Exception, but must still be seen as a store's error.
        known = isinstance(error, ChromaError | ValueError | TypeError | RuntimeError)
        if not known and type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise _translated(error, settings) from error


def _translated(error: BaseException, settings: DatabaseSettings) -> StoreError:
    text = without_secrets(str(error), settings.connection_string, settings.api_key)[:LONGEST_REASON]
    if isinstance(error, InvalidDimensionException) or "dimension" in text:
        return StoreSchemaError(f"chromadb, collection {settings.collection}: {text}")
    if isinstance(error, NotFoundError):
        return StoreSchemaError(f"chromadb: {text}; check collection, and the options tenant and database.")
    if "database is locked" in text:
        return StoreUnavailableError(
            "chromadb: another process is writing to the folder in connection_string."
        )
    if any(reason in text for reason in ("readonly", "read-only", "ermission denied", "unable to open")):
        return StoreAccessError(
            f"chromadb: the folder in connection_string cannot be used; check its permissions. ({text})"
        )
    if "not a database" in text or "malformed" in text:
        return StoreSchemaError(
            f"chromadb: the folder in connection_string holds something else, or is damaged. ({text})"
        )
    return StoreError(f"chromadb, collection {settings.collection}: {text}")


_GOOD = "with an address, such as https://chroma.example:8000, or a folder on this machine, such as ./chroma"
_HEADERS = ("Authorization", "X-Chroma-Token")


class ServerConnection:
    """A server over HTTP or HTTPS; one pool of connections for all threads."""

    def __init__(self, settings: DatabaseSettings) -> None:
        parts = split_address(settings, _GOOD, "the server's token")
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._headers = _checked_headers(settings, self._url)
        self._timeout = settings.timeout
        self._verify = _certificates(settings)
        self._guard = threading.Lock()
        self._opened: FastAPI | None = None

    def exists(self) -> bool:
        """Whether there is a database: with a server, always."""
        return True

    @contextmanager
    def api(self) -> Iterator[ServerAPI]:
        """Give the client, which threads share."""
        with self._guard:
            if self._opened is None:
                self._opened = self._open()
            opened = self._opened
        yield opened

    def _open(self) -> FastAPI:
        # The package's own client first sends three requests, without any time limit.
        system = quiet_system(
            chroma_server_host=self._url,
            chroma_server_http_port=urlsplit(self._url).port or 443,
            chroma_server_ssl_enabled=self._url.startswith("https:"),
            chroma_server_ssl_verify=self._verify,
            chroma_server_headers=dict(self._headers),
        )
        client = system.instance(FastAPI)
        client._session.timeout = httpx.Timeout(self._timeout)
        client._session.event_hooks = {"response": [check_status]}
        system.start()
        return client

    def close(self) -> None:
        """Close the pool."""
        with self._guard:
            if self._opened is not None:
                self._opened._session.close()
            self._opened = None


def _checked_headers(settings: DatabaseSettings, url: str) -> dict[str, str]:
    cloud = (urlsplit(url).hostname or "").endswith("trychroma.com")
    header = settings.choice("token_header", _HEADERS[::-1] if cloud else _HEADERS)
    if not settings.api_key:
        return {}
    if not settings.api_key.isascii() or not settings.api_key.isprintable() or " " in settings.api_key:
        raise UsageError(
            "The api_key of the database provider chromadb has characters that a token cannot have; "
            "letters, digits and punctuation are allowed."
        )
    return {header: f"Bearer {settings.api_key}" if header == _HEADERS[0] else settings.api_key}


def _certificates(settings: DatabaseSettings) -> str | None:
    path: str = settings.option("ca_file", "")
    if path and not Path(path).is_file():
        raise UsageError(f"The option ca_file of the database provider chromadb is not a file: {path}.")
    return path or None


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
        """Return Chroma's interface to the current files; the lock is held."""
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
        """Return a value that changes with the files."""
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
        """Whether there is a database in the folder: checking must not create one under a wrong name."""
        return (self._path / _DATABASE).exists()

    @contextmanager
    def api(self) -> Iterator[ServerAPI]:
        """Yield the interface while nobody else works on the folder."""
        folder = self._shared()
        with folder.guard:
            lock = self._lock()
            try:
                yield folder.current()
                folder.seen = folder.signature()
            except BaseException:
                # What is in memory may be inconsistent: read it again.
                if folder.process == os.getpid():
                    folder.close()
                raise
            finally:
                lock.release()

    def _lock(self) -> FileLock:
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(str(self._path / "loccit.lock"))
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
        """Release the folder; the last user closes it."""
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


Connection: TypeAlias = FolderConnection | ServerConnection

# A host and port without http:// would be a valid folder name, but is never meant as one.
_LOOKS_LIKE_A_HOST = re.compile(r"[\w.-]+:\d+")


def connect(settings: DatabaseSettings) -> Connection:
    """Return the connection that the settings describe, after checking them; nothing is opened yet."""
    address = settings.connection_string.strip()
    if not address or _LOOKS_LIKE_A_HOST.fullmatch(address):
        raise UsageError(f"The database provider chromadb needs a connection_string {_GOOD}.")
    if "://" in address:
        return ServerConnection(settings)
    folder = Path(address).expanduser()
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            "The connection_string of the database provider chromadb is a file; it must be a folder."
        )
    return FolderConnection(folder, settings.timeout)
