"""Workers: a few threads for work that blocks, with a short queue before them.

A thread cannot be stopped from outside. So the number of threads is the bound on what runs, whoever has gone away
meanwhile; what has not begun is dropped when its client goes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from pinakes.server.api.problems import ProblemError

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
