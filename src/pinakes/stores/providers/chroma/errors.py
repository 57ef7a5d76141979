"""What Chroma and the way to it report, in our words, without anything secret."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from chromadb.errors import (
    AuthorizationError,
    ChromaAuthError,
    ChromaError,
    InvalidDimensionException,
    NotFoundError,
    RateLimitError,
)

from pinakes.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError
from pinakes.stores.settings import DatabaseSettings

_DENIED = (401, 403)
_LATER = (408, 425, 429)


def check_status(response: httpx.Response) -> None:
    """Raise for an answer that is not Chroma's own, such as that of a proxy before it; the client loses the status."""
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
    except (ChromaError, ValueError, TypeError, RuntimeError) as error:
        raise _translated(error, settings) from error
    except Exception as error:
        # The client raises plain exceptions for answers it does not know.
        if type(error) is not Exception:
            raise
        raise _translated(error, settings) from error
    except BaseException as error:
        # A panic in Chroma's Rust code is no Exception; whoever waits for a store's errors must see it all the same.
        if type(error).__name__ != "PanicException":
            raise
        raise _translated(error, settings) from error


def _translated(error: BaseException, settings: DatabaseSettings) -> StoreError:
    text = _without_secrets(str(error), settings)
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


def _without_secrets(text: str, settings: DatabaseSettings) -> str:
    for secret in (settings.connection_string, settings.api_key):
        if secret:
            text = text.replace(secret, "…")
    return text[:300]
