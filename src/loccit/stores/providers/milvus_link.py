"""The connection to Milvus: a server or cluster, or a path ending in .db that Milvus Lite serves here.

Milvus Lite lets one process open a path, and one writer at a time change a collection: stores with the same path in
this process share its server, and take turns writing.
"""

from __future__ import annotations

import logging
import re
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import grpc
from pymilvus import MilvusClient
from pymilvus.exceptions import ConnectionConfigException, MilvusException

from loccit.errors import (
    LoccitError,
    MissingExtraError,
    StoreAccessError,
    StoreError,
    StoreUnavailableError,
    UsageError,
)
from loccit.stores.providers.link import LONGEST_REASON, Link, split_address, without_secrets
from loccit.stores.settings import DatabaseSettings

# Milvus's own codes: not ready, unavailable, too many requests, temporarily denied.
_BUSY = frozenset({2, 3, 4, 5, 8, 9})
_FORBIDDEN = frozenset({1400, 1401, 1402, 1403})
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


def translate(error: Exception, settings: DatabaseSettings, path: str | None) -> LoccitError:
    """Return our error for one of the client's."""
    if isinstance(error, LoccitError):
        return error
    if isinstance(error, ConnectionConfigException) and path is not None:
        return StoreUnavailableError(
            f"milvus: the path {path} of connection_string is locked, another process has it open (or it cannot be "
            "read). Close that one, or run a Milvus server, which many can use at once."
        )
    status = _status(error)
    code = getattr(error, "code", None)
    message = _message(error, settings)
    if status in _REFUSED or code in _FORBIDDEN or "permission deny" in message.lower():
        return StoreAccessError(
            "milvus: the server refuses the token, or user:password, in api_key. Check that it is the right one, "
            "and that it may do this."
        )
    if status is grpc.StatusCode.DEADLINE_EXCEEDED:
        return StoreUnavailableError(
            f"milvus: no answer within {settings.timeout:g} seconds. Check the server at connection_string, or "
            "raise timeout."
        )
    if status in _AWAY or isinstance(error, grpc.FutureTimeoutError):
        return StoreUnavailableError(
            "milvus: the server at connection_string cannot be reached. Check that it is running and that the address, "
            "its port and http or https are right."
        )
    if code in _BUSY or getattr(error, "retriable", False):
        return StoreUnavailableError(f"milvus: the server cannot do this right now: {message}")
    return StoreError(f"milvus: {message}")


def _status(error: BaseException) -> Any:
    """Return the gRPC status of the call; the client wraps errors in errors, and some in themselves."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        code = getattr(link, "code", None)
        found = code() if isinstance(link, grpc.RpcError) and callable(code) else code
        if isinstance(found, grpc.StatusCode):
            return found
        link = link.__cause__
    return None


def _message(error: Exception, settings: DatabaseSettings) -> str:
    text = error.message if isinstance(error, MilvusException) else str(error)
    _, _, password = settings.api_key.partition(":")
    text = without_secrets(text, settings.api_key, password, settings.connection_string)
    return " ".join(text.split())[:LONGEST_REASON] or type(error).__name__


_GOOD = (
    "use the address of a server such as http://localhost:19530 or https://xyz.zillizcloud.com:443, or a path that "
    "ends in .db such as ./milvus.db"
)
_VERSION = re.compile(r"(\d+)\.(\d+)")

# After a server was gone, retry soon: by default the delays grow to two minutes. In between every call fails at once,
# so they are shorter than the attempts of one call take together, .7 seconds at least.
_RECONNECT = {"grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 400}

# Both also log what they raise, in many lines; the errors are enough.
for _logger in ("pymilvus", "milvus_lite"):
    logging.getLogger(_logger).setLevel(logging.CRITICAL)
# And the client tries calls that Milvus Lite lacks, and does without them.
logging.getLogger("grpc._server").addFilter(
    lambda record: "Method not implemented" not in record.getMessage()
)


class _Served:
    """A path served by this process: the number of stores that use it, and the lock for writing."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self.users = 0


_paths: dict[str, _Served] = {}
_paths_guard = threading.RLock()


class MilvusLink(Link[Any]):
    """A server, or a path served by this process."""

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self.path: str | None = _check(settings)
        self._database: str = settings.option("database", "")
        self._served: _Served | None = None

    def writing(self) -> AbstractContextManager[object]:
        """Wait for the turn to write, if there are turns."""
        served = self._served
        return nullcontext() if served is None else served.turn

    def version(self) -> tuple[int, int]:
        """Return the version of the server; that of Milvus Lite counts as its own."""
        timeout = self.settings.timeout
        found = _VERSION.search(self.call(lambda client: client.get_server_version(timeout=timeout)))
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def _connect(self) -> Any:
        if self.path is None:
            return self._open(self.settings.connection_string.strip(), self.settings.api_key)
        # Two processes starting the server of one path at once would lock each other out.
        with _paths_guard:
            _prepare(self.path)
            client = self._open(self.path, "")
            self._served = _paths.setdefault(self.path, _Served())
            self._served.users += 1
        return client

    def _open(self, uri: str, token: str) -> Any:
        return MilvusClient(
            uri,
            token=token,
            db_name=self._database,
            timeout=self.settings.timeout,
            grpc_options=_RECONNECT,
        )

    def _disconnect(self, client: Any) -> None:
        client.close()
        served, self._served = self._served, None
        if served is not None and self.path is not None:
            # The last store of a path frees it for other processes.
            _leave(self.path, served)

    def _translated(self, error: Any) -> BaseException:
        return translate(error, self.settings, self.path)


def _prepare(path: str) -> None:
    try:
        import milvus_lite  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError("Milvus Lite, for a path in connection_string,", "milvus") from error
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreAccessError(
            f"milvus: the path {path} of connection_string cannot be created: {error.strerror}. Change it, or the "
            "permissions of the folder it is in."
        ) from error


def _leave(path: str, served: _Served) -> None:
    from milvus_lite.server_manager import server_manager_instance

    with _paths_guard:
        served.users -= 1
        if served.users == 0:
            del _paths[path]
            server_manager_instance.release_server(path)


def _check(settings: DatabaseSettings) -> str | None:
    """Return the path in a connection string, None if it is an address; refuse anything else."""
    text = settings.connection_string.strip()
    if not text:
        raise UsageError(f"The database provider milvus needs a connection_string: {_GOOD}.")
    if "://" not in text:
        if not text.endswith(".db"):
            raise UsageError(
                f"The connection_string of milvus is neither an address nor a path that ends in .db: {_GOOD}."
            )
        path = Path(text).expanduser().absolute()
        if path.is_file():
            raise UsageError(
                "The connection_string of milvus names a file; Milvus Lite keeps a folder, and cannot read files of "
                "its versions before 3. Choose another path."
            )
        return str(path)
    split_address(settings, f"with an address: {_GOOD}", "the token, or user:password,")
    return None
