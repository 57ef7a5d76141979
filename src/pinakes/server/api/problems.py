"""Problems: what goes wrong, as plain words and a status, in the form of RFC 9457."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pinakes.errors import (
    IndexLockedError,
    IndexNotFoundError,
    IndexReadOnlyError,
    IndexStateError,
    NotFoundError,
    PinakesError,
    StoreError,
    UsageError,
)
from pinakes.server.services import NotReadyError

logger = logging.getLogger("pinakes")

PROBLEM_JSON = "application/problem+json"
_RETRY = {"Retry-After": "2"}
# The operations that help to find what was named wrongly, by the tools that do the same.
_OPERATIONS = {
    "list_documents": "/api/documents",
    "list_outline": "/api/outline",
    "find_all": "/api/find_all",
}
_SILENCE = 60.0
_MOST_NOTED = 100
_noted: dict[str, float] = {}


class ProblemError(Exception):
    """Ends a request with a status and a sentence for whoever sent it."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

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
    """Return what may be said of an error: nothing about this machine that the index itself does not say."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, UsageError):
        # Well formed, but it cannot be meant: a date that is none, a folder that is not the server's.
        return ProblemError(422, str(error))
    if isinstance(error, NotFoundError):
        return ProblemError(404, f"{error} {error.where_to_look(_OPERATIONS)}".strip())
    if isinstance(error, NotReadyError):
        return ProblemError(503, str(error), _RETRY)
    # The messages of these name folders, databases and processes; they are for whoever runs the server.
    if isinstance(error, IndexNotFoundError):
        return ProblemError(503, "There is no index yet. Make one with: pinakes index PATH", _RETRY)
    if isinstance(error, IndexLockedError):
        return ProblemError(
            409, "Another process is writing to the index. Try again when it is done.", _RETRY
        )
    if isinstance(error, IndexReadOnlyError):
        return ProblemError(409, "The index cannot be written to.")
    if isinstance(error, (IndexStateError, StoreError)):
        _note(error)
        return ProblemError(503, "The index cannot be used as it is; the server's log says why.", _RETRY)
    if isinstance(error, PinakesError):
        _note(error)
        return ProblemError(500, "That did not work; the server's log says why.")
    logger.error("A request failed", exc_info=error)
    return ProblemError(500, "Something went wrong on the server; its log says what.")


def _note(error: PinakesError) -> None:
    """Write an error to the log; the same one, which every request may meet, once a minute."""
    text, now = str(error), time.monotonic()
    if now - _noted.get(text, -_SILENCE) < _SILENCE:
        return
    if len(_noted) >= _MOST_NOTED:
        _noted.clear()
    _noted[text] = now
    logger.warning("%s", text)


async def on_http_exception(_: Request, error: Exception) -> Response:
    """Answer for an address or a method that does not exist."""
    if not isinstance(error, HTTPException):
        return as_problem(error).response()
    words = {404: "There is nothing at this address.", 405: "This address does not take that method."}
    return problem(error.status_code, words.get(error.status_code, error.detail), error.headers)
