"""Workers: the threads and processes in which a server answers pages, programs and agents.

A thread cannot be stopped from outside. So the number of threads bounds what runs, even after clients have gone; a
request that has not started is dropped when its client goes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from loccit.server.api.operations import Answer, Question
from loccit.server.api.problems import ProblemError
from loccit.server.process_pool import ProcessPool, Setup
from loccit.server.services import LibraryRegistry

T = TypeVar("T")


def workers_of(registry: LibraryRegistry, processes: int = 1) -> Workers:
    """Return the workers of a registry; up to ``processes`` answer under load."""

    def setup() -> Setup | None:
        reader = registry.reader()
        return Setup(reader) if reader else None

    # Two answer here, so that a long answer does not block a short one; one waits for each further process.
    # The queue before them is first in, first out; a lock within could starve some requests.
    return Workers(max(3, processes + 1), pool=ProcessPool(setup, processes - 1))


class Workers:
    """Runs functions in ``threads`` threads; ``waiting`` more may queue, and no request longer than ``seconds``."""

    def __init__(
        self, threads: int = 3, waiting: int = 200, seconds: float = 30.0, pool: ProcessPool | None = None
    ) -> None:
        self.threads = threads
        self.pool: ProcessPool = pool or ProcessPool(lambda: None, 0)
        self._most = self.threads + waiting
        self._seconds = seconds
        self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="loccit-answer")
        self._taken = 0

    async def share(
        self, question: Question, here: Callable[[], T], request: Request | None = None
    ) -> Answer | T:
        """Answer a question that any process can answer: in another process under load."""
        self.pool.gather(self._taken)
        return await self.run(partial(self.pool.answer, question, here), request)

    async def run(self, work: Callable[[], T], request: Request | None = None) -> T:
        """Return the function's result, unless that takes too long or the client disconnects first."""
        if self._taken >= self._most:
            raise ProblemError(503, "The server is busy. Try again in a moment.", {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        future = self._executor.submit(work)
        self._taken += 1
        future.add_done_callback(lambda _: _quietly(loop, self._free))
        result: asyncio.Future[T] = asyncio.wrap_future(future)
        gone: asyncio.Future[ProblemError | None] = (
            loop.create_future() if request is None else asyncio.ensure_future(_disconnected(request))
        )
        try:
            watched: list[asyncio.Future[Any]] = [result, gone]
            patience = None if request is None else self._seconds
            await asyncio.wait(watched, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            if gone.done():
                raise gone.result() or ClientDisconnect
            raise ProblemError(
                503, "That took too long. Ask for less, or try again later.", {"Retry-After": "5"}
            )
        except asyncio.CancelledError as error:
            if request is None:
                raise
            # The server is shutting down and no longer waits; the caller is told, and nothing is logged.
            raise ProblemError(503, "The server is closing.") from error
        finally:
            # Removes the work from the queue if it has not started.
            future.cancel()
            result.cancel()
            gone.cancel()

    def _free(self) -> None:
        self._taken -= 1

    def close(self) -> None:
        """Accept nothing new, and stop the processes; what runs here ends by itself."""
        self.pool.close()
        self._executor.shutdown(wait=False, cancel_futures=True)


async def _disconnected(request: Request) -> ProblemError | None:
    """Wait until the client disconnects, or sends an unexpected body."""
    try:
        while (await request.receive())["type"] != "http.disconnect":
            pass
    except ProblemError as refusal:
        return refusal
    return None


def _quietly(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Schedule a call in an event loop, unless it has ended meanwhile."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)
