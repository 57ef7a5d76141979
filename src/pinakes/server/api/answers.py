"""Answers: a request that was read, and what is sent back, both plain enough to go to another process."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from starlette.responses import Response

from pinakes.server.api.operations import Call, Operation
from pinakes.server.api.problems import as_problem

_WORTH_PACKING = 1024
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A request: the operation that it names, its arguments, and what its client knows and can read."""

    operation: str
    arguments: Mapping[str, Any]
    known_etags: str = ""
    packed: bool = False

    def encode(self) -> bytes:
        """Return the question as bytes."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> Question:
        """Return the question in some bytes."""
        return cls(**json.loads(data))


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent: a status, headers and bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def response(self) -> Response:
        """Return it as the server sends it."""
        return Response(self.body, status_code=self.status, headers=dict(self.headers))

    def encode(self) -> tuple[bytes, bytes]:
        """Return the answer as two pieces of bytes."""
        return json.dumps([self.status, dict(self.headers)]).encode(), self.body

    @classmethod
    def decode(cls, head: bytes, body: bytes) -> Answer:
        """Return the answer in two pieces of bytes."""
        status, headers = json.loads(head)
        return cls(status, headers, body)


def answer(operation: Operation, call: Call, packed: bool) -> Answer:
    """Answer a request; making JSON and packing it take a while too. What goes wrong is an answer as well."""
    try:
        return _answer(operation, call, packed)
    except Exception as error:
        refusal = as_problem(error).response()
        return Answer(refusal.status_code, dict(refusal.headers), bytes(refusal.body))


def _answer(operation: Operation, call: Call, packed: bool) -> Answer:
    reply = operation.handler(call)
    headers = {**_HEADERS, **reply.headers, **({"ETag": reply.etag} if reply.etag else {})}
    if reply.unchanged:
        return Answer(304, headers)
    body = reply.body()
    headers |= {"Content-Type": reply.media_type, "Vary": "Accept-Encoding"}
    if packed and len(body) > _WORTH_PACKING and not reply.media_type.startswith("image/"):
        body = gzip.compress(body, 4)
        headers["Content-Encoding"] = "gzip"
    return Answer(200, headers, body)
