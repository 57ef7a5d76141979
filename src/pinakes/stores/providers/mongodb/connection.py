"""The connection to a server that speaks MongoDB's protocol, and its errors in our words.

The client's own text is never passed on whole: it may quote the connection string, or the documents of a batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from bson.errors import BSONError
from pymongo import MongoClient, ReadPreference, WriteConcern
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    OperationFailure,
    PyMongoError,
)
from pymongo.uri_parser import parse_uri

from pinakes.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from pinakes.loopback import is_loopback
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings

DUPLICATE_KEY = 11000
ALREADY_THERE = 48
_NOT_ALLOWED = frozenset({13, 18, 33, 8000})
# Elections, timeouts, lost cursors, conflicts, and "too many requests" of Cosmos DB.
_PASSING = frozenset(
    {
        6,
        7,
        43,
        50,
        63,
        89,
        91,
        112,
        133,
        150,
        189,
        234,
        262,
        429,
        9001,
        10107,
        11600,
        11602,
        13435,
        13436,
        16500,
    }
)
_BUILDING = "while in state"
_NO_STAGE = 40324
_NO_SEARCH = 31082
_LONGEST = 300


class Translator:
    """Turns errors of the client into ours, with the provider, and the setting to look at, in each."""

    def __init__(self, provider: str, hosts: str, database: str) -> None:
        self._provider = provider
        self._hosts = hosts
        self._database = database

    def __call__(self, error: Exception) -> StoreError:
        """Return the error to raise in place of one of the client."""
        if isinstance(error, BulkWriteError):
            return self._of_batch(error)
        if isinstance(error, OperationFailure):
            return self._of_answer(error.code, str((error.details or {}).get("errmsg", "")), error)
        if isinstance(error, ConnectionFailure):
            return self._of_connection(str(error))
        if isinstance(error, ConfigurationError):
            return StoreUnavailableError(
                f"{self._provider}: the servers of {self._hosts} cannot be looked up. Check the host name in "
                "connection_string, and that this machine can resolve it."
            )
        what = "" if isinstance(error, PyMongoError) else f" ({type(error).__name__})"
        return StoreError(f"{self._provider}: the client could not send or read this{what}.")

    def _of_connection(self, text: str) -> StoreError:
        if "SSL" in text or "certificate" in text.lower():
            hint = (
                "TLS failed: check tlsCAFile in connection_string, or write tls=false for a server without it"
            )
        else:
            hint = "check the host in connection_string, the network, and the allowed addresses; or raise timeout"
        return StoreUnavailableError(f"{self._provider}: no answer from {self._hosts}; {hint}.")

    def _of_batch(self, error: BulkWriteError) -> StoreError:
        details = error.details or {}
        failed = details.get("writeErrors") or details.get("writeConcernErrors") or [{}]
        code = failed[0].get("code")
        if code == DUPLICATE_KEY or not details.get("writeErrors"):
            # Two writers made the same document at once, or it is not yet on enough servers: the same works later.
            return StoreUnavailableError(
                f"{self._provider}: a batch was stored in part; it can be sent again."
            )
        return self._of_answer(code, str(failed[0].get("errmsg", "")), error)

    def _of_answer(self, code: int | None, text: str, error: OperationFailure) -> StoreError:
        if code in _NOT_ALLOWED and (code != 8000 or "auth" in text or "not allowed" in text):
            return self._refused(code, text)
        if code in _PASSING or _BUILDING in text or error.has_error_label("RetryableWriteError"):
            return StoreUnavailableError(
                f"{self._provider}: the server cannot do this now (code {code}): {_short(text)}"
            )
        if code == _NO_SEARCH or "SearchNotEnabled" in text:
            return StoreError(
                f"{self._provider}: this server has no search. Use MongoDB Atlas, or MongoDB 8.2 and later with its "
                "search process, in connection_string."
            )
        if code == _NO_STAGE:
            return StoreError(
                f"{self._provider}: this server is too old for what was asked ({_short(text)}); $rankFusion needs "
                "MongoDB 8.0. Set native to keyword or none, or upgrade the server."
            )
        if "dimensions" in text:
            return StoreSchemaError(f"{self._provider}: vectors of another length: {_short(text)}")
        return StoreError(f"{self._provider}: the server refused this (code {code}): {_short(text)}")

    def _refused(self, code: int | None, text: str) -> StoreError:
        if code == 13 or "not allowed" in text:
            return StoreAccessError(
                f"{self._provider}: the user of connection_string may not do this; give it the role readWrite on the "
                f"database {self._database}."
            )
        return StoreAccessError(
            f"{self._provider}: {self._hosts} refuses the user name or the password; check both in "
            "connection_string (a password with signs in it is written percent-encoded), or the password in api_key."
        )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


Document: TypeAlias = dict[str, Any]
Result = TypeVar("Result")

CONNECTION_OPTIONS = {
    "database": "The database that holds the collection (default: the one in the connection string, else pinakes).",
    "server_selection_timeout": "Seconds to look for a server that answers before giving up (default: 10).",
}
_PLAIN, _SRV = "mongodb://", "mongodb+srv://"
_DATABASE = "pinakes"
_SELECTION = 10.0
# The client looks for a server for a while and repeats by itself; ours is on top of that.
_ATTEMPTS = 2


class MongoConnection:
    """A pool of connections, shared by threads. ``call`` is the way to use it: it repeats and translates errors."""

    def __init__(self, settings: DatabaseSettings, example: str, *, retry_writes: bool = True) -> None:
        self._settings = settings
        self._text = settings.connection_string
        self._guard = threading.Lock()
        self._client: MongoClient[Document] | None = None
        parsed = _parse(settings, example)
        hosts = ", ".join(f"{host}:{port}" if port else str(host) for host, port in parsed["nodelist"])
        self.database = str(settings.option("database", parsed["database"] or _DATABASE))
        if not self.database or any(sign in self.database for sign in '/\\. "$\0'):
            raise UsageError(f"The option database of {settings.provider} is no name of a MongoDB database.")
        self._arguments = _arguments(settings, parsed, retry_writes)
        self.translate = Translator(settings.provider, hosts, self.database)

    def call(self, action: Callable[[], Result]) -> Result:
        """Return what an action returns; one that failed for a passing reason is repeated."""
        return retrying(lambda: self.once(action), attempts=_ATTEMPTS)

    def once(self, action: Callable[[], Result]) -> Result:
        """Return what an action returns, with errors in our words."""
        try:
            return action()
        except (PyMongoError, BSONError) as error:
            raise self.translate(error) from None

    def collection(self, name: str) -> Collection[Document]:
        """Return a collection, read from the primary and written to a majority, whatever the string says."""
        return self.handle()[name]

    def handle(self) -> Database[Document]:
        """Return the database."""
        with self._guard:
            if self._client is None:
                self._client = self.once(lambda: MongoClient(self._text, **self._arguments))
            client = self._client
        return client.get_database(
            self.database, read_preference=ReadPreference.PRIMARY, write_concern=WriteConcern(w="majority")
        )

    def close(self) -> None:
        """Close all connections; the next call makes new ones."""
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def _parse(settings: DatabaseSettings, example: str) -> dict[str, Any]:
    """Read the connection string without asking the network, and say what is wrong with it without quoting it."""
    text, provider = settings.connection_string, settings.provider
    if not text:
        raise UsageError(f"The database provider {provider} needs connection_string, such as {example}.")
    if not text.startswith((_PLAIN, _SRV)):
        raise UsageError(f"The connection_string of {provider} must begin as in {example}.")
    srv = text.startswith(_SRV)
    try:
        # Read as a plain address: the other kind would be looked up in the network at once.
        parsed: dict[str, Any] = parse_uri(_PLAIN + text[len(_SRV) :] if srv else text, default_port=None)
    except (PyMongoError, ValueError, TypeError):
        raise UsageError(
            f"The connection_string of {provider} cannot be read; a good one looks like {example}. Signs such as @ : / "
            "in the user name or password are written percent-encoded."
        ) from None
    if srv and (len(parsed["nodelist"]) != 1 or parsed["nodelist"][0][1] is not None):
        raise UsageError(
            f"The connection_string of {provider} with {_SRV} must name one host, without a port."
        )
    if settings.api_key and not parsed["username"]:
        raise UsageError(
            f"api_key is the password of {provider}, but connection_string names no user: it looks like {example}."
        )
    return parsed


def _arguments(settings: DatabaseSettings, parsed: dict[str, Any], retry_writes: bool) -> dict[str, Any]:
    selection = settings.option("server_selection_timeout", _SELECTION)
    if not 0.05 <= selection <= 3600:
        raise UsageError(
            f"The option server_selection_timeout of {settings.provider} must be 0.05 to 3600 seconds."
        )
    arguments: dict[str, Any] = {
        "appname": "pinakes",
        "serverSelectionTimeoutMS": int(1000 * min(selection, settings.timeout)),
        "connectTimeoutMS": int(1000 * min(10.0, settings.timeout)),
        "socketTimeoutMS": int(1000 * settings.timeout),
        "connect": False,
    }
    named = {name.lower() for name in parsed["options"]}
    if "tls" not in named and "ssl" not in named:
        remote = any(not _loopback(str(host)) for host, _ in parsed["nodelist"])
        if remote or settings.connection_string.startswith(_SRV):
            arguments["tls"] = True
    if "retrywrites" not in named and not retry_writes:
        arguments["retryWrites"] = False
    if settings.api_key:
        arguments["username"] = parsed["username"]
        arguments["password"] = settings.api_key
    return arguments


def _loopback(host: str) -> bool:
    return is_loopback(host) or host.endswith((".sock", ".localhost"))
