"""What Qdrant's client raises, as errors that say which setting to look at."""

from __future__ import annotations

import json

import httpx
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from pinakes.errors import PinakesError, StoreAccessError, StoreError, StoreUnavailableError
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
    for secret in (settings.api_key, settings.connection_string):
        if len(secret) > 3:
            text = text.replace(secret, "…")
    return text[:_LONGEST_REASON]
