"""What Milvus' client raises, as errors that say which setting to look at."""

from __future__ import annotations

from typing import Any

import grpc
from pymilvus.exceptions import ConnectionConfigException, MilvusException

from pinakes.errors import PinakesError, StoreAccessError, StoreError, StoreUnavailableError
from pinakes.stores.settings import DatabaseSettings

_LONGEST_REASON = 300
# Of Milvus itself: not ready, unavailable, too many requests, denied for now.
_BUSY = frozenset({2, 3, 4, 5, 8, 9})
_FORBIDDEN = frozenset({1400, 1401, 1402, 1403})
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


def translate(error: Exception, settings: DatabaseSettings, path: str | None) -> PinakesError:
    """Return the error of ours that an error of the client stands for."""
    if isinstance(error, PinakesError):
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
            "milvus: the server refuses the token, or user:password, in api_key. See whether it is the right one, and "
            "whether it may do this."
        )
    if status is grpc.StatusCode.DEADLINE_EXCEEDED:
        return StoreUnavailableError(
            f"milvus: no answer within {settings.timeout:g} seconds. See whether the server at connection_string is "
            "well, or raise timeout."
        )
    if status in _AWAY or isinstance(error, grpc.FutureTimeoutError):
        return StoreUnavailableError(
            "milvus: the server at connection_string cannot be reached. See whether it runs and whether the address, "
            "its port and http or https are right."
        )
    if code in _BUSY or getattr(error, "retriable", False):
        return StoreUnavailableError(f"milvus: the server cannot do it at the moment: {message}")
    return StoreError(f"milvus: {message}")


def _status(error: BaseException) -> Any:
    """Return how the call ended on the wire; the client wraps errors in errors, and some in themselves."""
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
    for secret in (settings.api_key, password, settings.connection_string):
        if len(secret) > 3:
            text = text.replace(secret, "…")
    return " ".join(text.split())[:_LONGEST_REASON] or type(error).__name__
