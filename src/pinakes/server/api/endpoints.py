"""Endpoints: a request comes in, is read, answered in a thread or another process, and goes out.

A thread cannot be stopped from outside. So the number of threads is the bound on what runs, whoever has gone away
meanwhile; what has not begun is dropped when its client goes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pinakes.server.api.operations import Answer, Call, Catalogs, Operation, Question, answer
from pinakes.server.api.params import from_body, from_query
from pinakes.server.api.problems import ProblemError, as_problem

if TYPE_CHECKING:
    from pinakes.server.process_pool import ProcessPool
    from pinakes.server.services import LibraryRegistry

T = TypeVar("T")


class Workers:
    """Runs functions in ``threads`` threads; ``waiting`` more may wait, and nobody waits longer than ``seconds``."""

    def __init__(self, threads: int = 3, waiting: int = 200, seconds: float = 30.0) -> None:
        self.threads = threads
        self._most = self.threads + waiting
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="pinakes-api")
        self._taken = 0

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Return what the function returns, unless that takes too long or the client goes away first."""
        if self._taken >= self._most:
            raise ProblemError(503, "The server is busy. Try again in a moment.", {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        self._taken += 1
        future.add_done_callback(lambda _: _quietly(loop, self._free))
        result: asyncio.Future[T] = asyncio.wrap_future(future)
        gone: asyncio.Future[ProblemError | None] = asyncio.ensure_future(_disconnected(request))
        try:
            watched: list[asyncio.Future[Any]] = [result, gone]
            await asyncio.wait(watched, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            if gone.done():
                raise gone.result() or ClientDisconnect
            raise ProblemError(
                503, "That took too long. Ask for less, or try again later.", {"Retry-After": "5"}
            )
        except asyncio.CancelledError as error:
            # The server ends and waits no longer; whoever asked is told, and the log stays free of it.
            raise ProblemError(503, "The server is closing.") from error
        finally:
            # Takes the work out of the queue if it has not begun.
            future.cancel()
            result.cancel()
            gone.cancel()

    @property
    def taken(self) -> int:
        """How much runs or waits now."""
        return self._taken

    def _free(self) -> None:
        self._taken -= 1

    def close(self) -> None:
        """Begin nothing new; what runs ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def _disconnected(request: Request) -> ProblemError | None:
    """Wait until the client goes, or sends more than is read of a body that nobody asked for."""
    try:
        while (await request.receive())["type"] != "http.disconnect":
            pass
    except ProblemError as refusal:
        return refusal
    return None


def _quietly(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Have something called in a loop, unless that has ended meanwhile."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)


_BODY_SECONDS = 10.0


class Endpoints:
    """The operations of one server."""

    def __init__(
        self,
        registry: LibraryRegistry,
        workers: Workers,
        pool: ProcessPool | None = None,
        shared: Collection[str] = (),
    ) -> None:
        self._registry = registry
        self._workers = workers
        self._pool = pool
        self._shared = shared
        self._catalogs = Catalogs()

    def routes(self, operations: Sequence[Operation]) -> list[Route]:
        """Return a route for each address; its methods share one, so that others are refused with both named."""
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
            found = await self._workers.run(request, self._work(operation, question))
            return found.response()
        except ClientDisconnect:
            # Nobody is there to read it.
            return Response(status_code=499)
        except Exception as error:
            return as_problem(error).response()

    def _work(self, operation: Operation, question: Question) -> Callable[[], Answer]:
        """Return what answers a question, in this process or, when many wait, in another."""
        call = Call(self._registry, self._catalogs, question.arguments, question.known_etags)
        here = partial(answer, operation, call, question.packed)
        if self._pool is None or operation.name not in self._shared:
            return here
        self._pool.gather(self._workers.taken)
        return partial(self._pool.answer, question, here)


async def read_arguments(operation: Operation, request: Request) -> dict[str, Any]:
    """Return the arguments of a request, from its body or its address."""
    if not operation.in_body:
        return from_query(operation.params, request.query_params.multi_items())
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(415, "Send the body as application/json.")
    try:
        body = await asyncio.wait_for(request.body(), _BODY_SECONDS)
    except asyncio.TimeoutError as error:
        raise ProblemError(408, "The body did not come in time.") from error
    return from_body(operation.params, body)
