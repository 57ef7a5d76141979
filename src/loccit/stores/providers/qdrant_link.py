"""The connection to Qdrant: a server or cluster, or a folder that the client library searches itself.

The library's local mode is made for one client and one thread: stores on the same folder in this process share one
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
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from loccit.errors import LoccitError, StoreAccessError, StoreError, StoreUnavailableError, UsageError
from loccit.stores.providers.link import Link, Result, split_address
from loccit.stores.settings import DatabaseSettings

_BUSY = frozenset({408, 429, 500, 502, 503, 504})
MEMORY = ":memory:"
# The first version with fusion weights and conditional updates.
SERVER = (1, 17)
_GOOD = (
    "use the address of a server such as http://localhost:6333 or https://xyz.cloud.qdrant.io:6333, "
    "a folder such as ./qdrant, or :memory:"
)
_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+")
_VERSION = re.compile(r"(\d+)\.(\d+)")


class _Local:
    """A folder open in this process, and the number of stores that use it."""

    def __init__(self, client: QdrantClient) -> None:
        self.client = client
        self.guard = threading.RLock()
        self.users = 0
        self.eased: set[str] = set()

    def ease(self, name: str) -> None:
        """Avoid the two disk syncs that local mode makes for every point.

        The library keeps points in SQLite, one transaction each. With a write-ahead log none is lost if a process dies.
        The database is not part of its interface: if it is no longer found, everything works as before, only slower.
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


class QdrantLink(Link[QdrantClient]):
    """A server, or a folder in which stores take turns."""

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self.folder: str | None = _check(settings)
        self._local: _Local | None = None
        self._version: tuple[int, int] | None = None

    def once(self, work: Callable[[QdrantClient], Result]) -> Result:
        """Call a function with the client; in a folder, when it is this store's turn."""

        def in_turn(client: QdrantClient) -> Result:
            with nullcontext() if self._local is None else self._local.guard:
                return work(client)

        return super().once(in_turn)

    def ease(self, name: str) -> None:
        """Make writes to a collection in a folder fast; to be called with the client."""
        if self._local is not None:
            self._local.ease(name)

    def forget(self, name: str) -> None:
        """Record that a collection is gone; one with the same name may follow."""
        if self._local is not None:
            self._local.eased.discard(name)

    def require(self, version: tuple[int, int], what: str) -> None:
        """Refuse what an older server would silently do differently."""
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

    def _connect(self) -> QdrantClient:
        settings = self.settings
        if self.folder is not None:
            with _folders_guard:
                held = _folders.get(self.folder) or _Local(_open_folder(self.folder))
                _folders[self.folder] = held
                held.users += 1
            self._local = held
            return held.client
        with warnings.catch_warnings():
            # It warns of a key on a plain connection; we have refused that where it matters.
            warnings.simplefilter("ignore", UserWarning)
            return QdrantClient(
                url=settings.connection_string.strip(),
                api_key=settings.api_key or None,
                timeout=max(1, math.ceil(settings.timeout)),
                check_compatibility=False,
            )

    def _disconnect(self, client: QdrantClient) -> None:
        held, self._local = self._local, None
        if held is None:
            client.close()
            return
        with _folders_guard:
            held.users -= 1
            # The last store of a folder frees it for other processes; what is in memory stays until the process ends.
            if held.users == 0 and self.folder is not None and self.folder != MEMORY:
                del _folders[self.folder]
                with held.guard:
                    client.close()

    def _translated(self, error: Any) -> BaseException:
        if isinstance(error, LoccitError):
            return error
        if isinstance(error, UnexpectedResponse):
            return self._answered(error.status_code or 0, _reason(error))
        if isinstance(error, ResourceExhaustedResponse):
            return StoreUnavailableError(
                "qdrant: the server has too many requests right now. Try again later."
            )
        source = error.source if isinstance(error, ResponseHandlingException) else None
        if isinstance(source, httpx.TimeoutException):
            return StoreUnavailableError(
                f"qdrant: no answer within {self.settings.timeout:g} seconds. Check the server at "
                "connection_string, or raise timeout."
            )
        if isinstance(source, httpx.HTTPError | OSError):
            return StoreUnavailableError(
                "qdrant: the server at connection_string cannot be reached. Check that it is running and that the "
                "address, its port and http or https are right."
            )
        if isinstance(error, ResponseHandlingException | json.JSONDecodeError):
            return StoreError(
                "qdrant: the server's answer cannot be read. Check that connection_string is the address of "
                "Qdrant."
            )
        if isinstance(error, OSError):
            return StoreError(
                f"qdrant: the folder of connection_string cannot be used: {error.strerror or 'read or write failed'}."
            )
        return StoreError(f"qdrant: {self.shown(error)}")

    def _answered(self, status: int, reason: str) -> StoreError:
        if status in (401, 403):
            return StoreAccessError(
                f"qdrant: the server refuses the key in api_key ({status}). Check that it is the right one, and "
                "that it may write."
            )
        kind = StoreUnavailableError if status in _BUSY else StoreError
        return kind(f"qdrant: the server answered {status}: {self.shown(reason)}")


def is_missing(error: BaseException) -> bool:
    """Whether the server said that the collection does not exist."""
    cause = error.__cause__
    return isinstance(cause, UnexpectedResponse) and cause.status_code == 404


def _reason(error: UnexpectedResponse) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(error.content)["status"]["error"])
    return error.reason_phrase or "no reason given"


def _check(settings: DatabaseSettings) -> str | None:
    """Return the folder in a connection string, None if it is an address; refuse anything else."""
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
    split_address(settings, f"with an address: {_GOOD}")
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
