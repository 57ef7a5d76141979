"""Reaching Qdrant: a server or cluster by its address, or a folder that the client library searches itself.

The library's local mode is made for one client and one thread: stores of the same folder in this process share one
client, and take turns.
"""

from __future__ import annotations

import atexit
import json
import math
import re
import sqlite3
import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeVar

import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from pinakes.errors import PinakesError, StoreAccessError, StoreError, StoreUnavailableError, UsageError
from pinakes.stores.providers.web_address import check_server, without_secrets
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings

_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_LONGEST_REASON = 300


def translate(error: Exception, settings: DatabaseSettings) -> PinakesError:
    """Return the error of ours that an error of the client stands for."""
    if isinstance(error, PinakesError):
        return error
    if isinstance(error, UnexpectedResponse):
        return _of_answer(error, settings)
    if isinstance(error, ResourceExhaustedResponse):
        return StoreUnavailableError(
            "qdrant: the server has too many requests at the moment. Try again later."
        )
    if isinstance(error, ResponseHandlingException):
        if isinstance(error.source, httpx.TimeoutException):
            return StoreUnavailableError(
                f"qdrant: no answer within {settings.timeout:g} seconds. See whether the server at "
                "connection_string is well, or raise timeout."
            )
        if isinstance(error.source, httpx.HTTPError | OSError):
            return StoreUnavailableError(
                "qdrant: the server at connection_string cannot be reached. See whether it runs and whether the "
                "address, its port and http or https are right."
            )
    if isinstance(error, ResponseHandlingException | json.JSONDecodeError):
        return StoreError(
            "qdrant: the answer of the server cannot be read. See whether connection_string is that of Qdrant."
        )
    if isinstance(error, OSError):
        return StoreError(
            f"qdrant: the folder of connection_string cannot be used: {error.strerror or 'read or write failed'}."
        )
    return StoreError(f"qdrant: {_shown(str(error), settings)}")


def is_missing(error: BaseException) -> bool:
    """Whether the server said that there is no such collection."""
    cause = error.__cause__
    return isinstance(cause, UnexpectedResponse) and cause.status_code == 404


def _of_answer(error: UnexpectedResponse, settings: DatabaseSettings) -> PinakesError:
    reason = _shown(_reason(error), settings)
    if error.status_code in _REFUSED:
        return StoreAccessError(
            f"qdrant: the server refuses the key in api_key ({error.status_code}). See whether it is the right one, "
            "and whether it may write."
        )
    if error.status_code in _BUSY:
        return StoreUnavailableError(f"qdrant: the server answered {error.status_code}: {reason}")
    return StoreError(f"qdrant: the server answered {error.status_code}: {reason}")


def _reason(error: UnexpectedResponse) -> str:
    try:
        return str(json.loads(error.content)["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return error.reason_phrase or "no reason given"


def _shown(text: str, settings: DatabaseSettings) -> str:
    return without_secrets(text, settings.api_key, settings.connection_string)[:_LONGEST_REASON]


MEMORY = ":memory:"
# From here on the server knows weights of a fusion, and updates that only change what is as expected.
SERVER = (1, 17)
_GOOD = (
    "use the address of a server such as http://localhost:6333 or https://xyz.cloud.qdrant.io:6333, "
    "a folder such as ./qdrant, or :memory:"
)
_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+")
_VERSION = re.compile(r"(\d+)\.(\d+)")

Result = TypeVar("Result")


class _Local:
    """A folder that this process has open, and how many stores use it."""

    def __init__(self, client: QdrantClient) -> None:
        self.client = client
        self.guard = threading.RLock()
        self.users = 0
        self.eased: set[str] = set()

    def ease(self, name: str) -> None:
        """Spare a collection the two waits for the disk that it has for every point otherwise.

        The library keeps points in SQLite, one transaction each. With a write-ahead log none is lost when a process
        dies. The database is not offered to us: where it is no longer found, all is as before, only slower.
        """
        if name not in self.eased:
            self.eased.add(name)
            collections = getattr(getattr(self.client, "_client", None), "collections", {})
            storage = getattr(collections.get(name), "storage", None)
            database = getattr(storage, "storage", None)
            if isinstance(database, sqlite3.Connection):
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")


_folders: dict[str, _Local] = {}
_folders_guard = threading.RLock()


@atexit.register
def _close_folders() -> None:
    with _folders_guard:
        while _folders:
            _folders.popitem()[1].client.close()


class QdrantConnection:
    """A way to Qdrant that is opened when it is first used, and again after it was closed."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self._guard = threading.RLock()
        self._remote: QdrantClient | None = None
        self._local: _Local | None = None
        self._version: tuple[int, int] | None = None
        self.folder = _check(settings)

    def call(self, work: Callable[[QdrantClient], Result]) -> Result:
        """Do something with the client; what fails for a passing reason is tried again."""
        return retrying(lambda: self.once(work))

    def once(self, work: Callable[[QdrantClient], Result]) -> Result:
        """Do something with the client, one try only."""
        client, turn = self._open()
        try:
            with turn:
                return work(client)
        except Exception as error:
            raise translate(error, self._settings) from error

    def ease(self, name: str) -> None:
        """Make writing to a collection in a folder quick."""
        self._open()
        if self._local is not None:
            with self._local.guard:
                self._local.ease(name)

    def forget(self, name: str) -> None:
        """Take note that a collection is gone; one of the same name may follow."""
        if self._local is not None:
            self._local.eased.discard(name)

    def require(self, version: tuple[int, int], what: str) -> None:
        """Refuse what an older server would silently do in another way."""
        if self.folder is not None:
            return
        if self._version is None:
            found = _VERSION.match(self.call(lambda client: client.info()).version)
            self._version = (int(found[1]), int(found[2])) if found else (0, 0)
        if self._version < version:
            raise StoreError(
                f"qdrant: {what} needs a server of version {version[0]}.{version[1]} or later; this one is "
                f"{self._version[0]}.{self._version[1]}. Update it."
            )

    def close(self) -> None:
        """Let go of the client; the last store of a folder frees it for other processes."""
        with self._guard:
            if self._remote is not None:
                self._remote.close()
            if self._local is not None:
                self._release(self._local)
            self._remote = self._local = None

    def _open(self) -> tuple[QdrantClient, AbstractContextManager[object]]:
        with self._guard:
            if self.folder is None:
                self._remote = self._remote or self._connect()
                return self._remote, nullcontext()
            if self._local is None:
                with _folders_guard:
                    held = _folders.get(self.folder) or _Local(_open_folder(self.folder))
                    _folders[self.folder] = held
                    held.users += 1
                self._local = held
            return self._local.client, self._local.guard

    def _connect(self) -> QdrantClient:
        settings = self._settings
        with warnings.catch_warnings():
            # It warns of a key on a plain connection; we have refused that where it matters.
            warnings.simplefilter("ignore", UserWarning)
            return QdrantClient(
                url=settings.connection_string.strip(),
                api_key=settings.api_key or None,
                timeout=max(1, math.ceil(settings.timeout)),
                check_compatibility=False,
            )

    def _release(self, held: _Local) -> None:
        with _folders_guard:
            held.users -= 1
            # What is in memory stays until the process ends, as a folder would.
            if held.users == 0 and self.folder is not None and self.folder != MEMORY:
                del _folders[self.folder]
                with held.guard:
                    held.client.close()


def _check(settings: DatabaseSettings) -> str | None:
    """Return the folder that a connection string names, None when it is an address; refuse what is neither."""
    text = settings.connection_string.strip()
    if not text:
        raise UsageError(f"The database provider qdrant needs a connection_string: {_GOOD}.")
    if text == MEMORY:
        return text
    if "://" not in text:
        if _HOST_AND_PORT.fullmatch(text):
            raise UsageError(
                f"The connection_string of qdrant looks like a host without http:// or https://: {_GOOD}."
            )
        path = Path(text).expanduser().absolute()
        if path.exists() and not path.is_dir():
            raise UsageError(f"The connection_string of qdrant names a file, not a folder: {_GOOD}.")
        return str(path)
    check_server(settings, _GOOD)
    return None


def _open_folder(folder: str) -> QdrantClient:
    try:
        if folder == MEMORY:
            return QdrantClient(location=MEMORY)
        return QdrantClient(path=folder, force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise StoreUnavailableError(
            f"qdrant: the folder {folder} of connection_string is locked, another process has it open. Close that "
            "one, or run a Qdrant server, which many can use at once."
        ) from error
    except PermissionError as error:
        raise StoreAccessError(
            f"qdrant: the folder {folder} of connection_string may not be written to. Change its permissions."
        ) from error
    except OSError as error:
        raise StoreError(
            f"qdrant: the folder {folder} of connection_string cannot be used: {error.strerror}."
        ) from error
