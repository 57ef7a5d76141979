"""Problems: errors as a plain sentence and a status, in the format of RFC 9457."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loccit.errors import (
    IndexLockedError,
    IndexNotFoundError,
    IndexReadOnlyError,
    IndexStateError,
    LoccitError,
    NotFoundError,
    StoreError,
    UsageError,
)
from loccit.server.services import NotReadyError

logger: logging.Logger = logging.getLogger("loccit")

PROBLEM_JSON = "application/problem+json"
_RETRY = {"Retry-After": "2"}
# The operations that help to find a misspelled name, by the corresponding tools.
_OPERATIONS = {
    "list_documents": "/api/documents",
    "list_outline": "/api/outline",
    "find_all": "/api/find_all",
}
_SILENCE = 60.0
_MOST_NOTED = 100
_noted: dict[str, float] = {}


class ProblemError(Exception):
    """Ends a request with a status and a sentence for the client."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers: dict[str, str] = dict(headers or {})

    def response(self) -> Response:
        """Return the problem as an answer."""
        return problem(self.status, self.detail, self.headers)


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer that says what is wrong."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(
        json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
        status_code=status,
        media_type=PROBLEM_JSON,
        headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **(headers or {})},
    )


def as_problem(error: Exception) -> ProblemError:
    """Return what a client may know about an error: nothing about this machine beyond the index's contents."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, UsageError):
        # Well formed, but cannot be processed: an invalid date, a folder that is not the server's.
        return ProblemError(422, str(error))
    if isinstance(error, NotFoundError):
        return ProblemError(404, f"{error} {error.where_to_look(_OPERATIONS)}".strip())
    if isinstance(error, NotReadyError):
        return ProblemError(503, str(error), _RETRY)
    # These messages name folders, databases and processes; they are for the server's operator.
    if isinstance(error, IndexNotFoundError):
        return ProblemError(503, "There is no index yet. Make one with: loccit index PATH", _RETRY)
    if isinstance(error, IndexLockedError):
        return ProblemError(
            409, "Another process is writing to the index. Try again when it is done.", _RETRY
        )
    if isinstance(error, IndexReadOnlyError):
        return ProblemError(409, "The index cannot be written to.")
    if isinstance(error, (IndexStateError, StoreError)):
        _note(error)
        return ProblemError(503, "The index is unusable; the server's log says why.", _RETRY)
    if isinstance(error, LoccitError):
        _note(error)
        return ProblemError(500, "The request failed; the server's log says why.")
    logger.error("A request failed", exc_info=error)
    return ProblemError(500, "Internal error; the server's log says more.")


def _note(error: LoccitError) -> None:
    """Log an error; repetitions of the same one at most once a minute."""
    text, now = str(error), time.monotonic()
    if now - _noted.get(text, -_SILENCE) < _SILENCE:
        return
    if len(_noted) >= _MOST_NOTED:
        _noted.clear()
    _noted[text] = now
    logger.warning("%s", text, exc_info=error)


async def on_http_exception(_: Request, error: Exception) -> Response:
    """Answer for an unknown address or method."""
    if not isinstance(error, HTTPException):
        return as_problem(error).response()
    words = {404: "There is nothing at this address.", 405: "This address does not take that method."}
    return problem(error.status_code, words.get(error.status_code, error.detail), error.headers)
