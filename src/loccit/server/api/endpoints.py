"""Endpoints: read a request, answer it in a thread or another process, and send the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from loccit.server.api.operations import Answer, Call, Catalogs, Operation, Question, answer
from loccit.server.api.params import from_body, from_query
from loccit.server.api.problems import ProblemError, as_problem

if TYPE_CHECKING:
    from loccit.server.services import LibraryRegistry
    from loccit.server.workers import Workers

_BODY_SECONDS = 10.0


class Endpoints:
    """The operations of one server."""

    def __init__(self, registry: LibraryRegistry, workers: Workers, shared: Collection[str] = ()) -> None:
        self._registry = registry
        self._workers = workers
        self._shared = shared
        self._catalogs = Catalogs()

    def routes(self, operations: Sequence[Operation]) -> list[Route]:
        """Return one route per address; its methods share it, so that other methods are refused with both named."""
        by_path: dict[str, dict[str, Operation]] = {}
        for operation in operations:
            by_path.setdefault(operation.path, {})[operation.method] = operation
        return [
            Route(path, partial(self._answer, methods), methods=list(methods))
            for path, methods in by_path.items()
        ]

    async def _answer(self, methods: dict[str, Operation], request: Request) -> Response:
        operation = methods.get(request.method) or methods["GET"]
        try:
            arguments = await read_arguments(operation, request)
            known = request.headers.get("if-none-match", "")
            packed = "gzip" in request.headers.get("accept-encoding", "")
            question = Question(operation.name, arguments, known, packed)
            found = await self._found(operation, question, request)
            return found.response()
        except ClientDisconnect:
            # The client is gone.
            return Response(status_code=499)
        except Exception as error:
            return as_problem(error).response()

    async def _found(self, operation: Operation, question: Question, request: Request) -> Answer:
        """Answer a question, in this process or, under load, in another."""
        call = Call(self._registry, self._catalogs, question.arguments, question.known_etags)
        here = partial(answer, operation, call, question.packed)
        if operation.name in self._shared and call.service.loaded:
            return await self._workers.share(question, here, request)
        return await self._workers.run(here, request)


async def read_arguments(operation: Operation, request: Request) -> dict[str, Any]:
    """Return the arguments of a request, from its body or its URL."""
    if not operation.in_body:
        return from_query(operation.params, request.query_params.multi_items())
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(415, "Send the body as application/json.")
    try:
        body = await asyncio.wait_for(request.body(), _BODY_SECONDS)
    except asyncio.TimeoutError as error:
        raise ProblemError(408, "The request body did not arrive in time.") from error
    return from_body(operation.params, body)
