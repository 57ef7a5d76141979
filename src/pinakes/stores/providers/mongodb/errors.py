"""What the MongoDB client reports, in the words of Pinakes.

The client's own text is never passed on whole: it may quote the connection string, or the documents of a batch.
"""

from __future__ import annotations

from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    OperationFailure,
    PyMongoError,
)

from pinakes.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError

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
