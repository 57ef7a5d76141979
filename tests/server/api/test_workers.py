"""Blocking work is bounded, and what nobody waits for any more is not begun."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request

from loccit.server.api.problems import ProblemError
from loccit.server.workers import Workers


def request(leaving: asyncio.Event) -> Request:
    """A request whose client goes away when a test wants it."""

    async def receive() -> dict[str, Any]:
        await leaving.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "headers": []}, receive)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 60))


def test_work_that_has_not_begun_is_dropped_with_its_client() -> None:
    async def story() -> None:
        workers = Workers(threads=1, waiting=10)
        held, stay, leave = threading.Event(), asyncio.Event(), asyncio.Event()
        begun: list[int] = []
        first = asyncio.ensure_future(workers.run(held.wait, request(stay)))
        second = [
            asyncio.ensure_future(workers.run(partial(begun.append, n), request(leave))) for n in range(5)
        ]
        await asyncio.sleep(0)
        leave.set()
        for task in second:
            with pytest.raises(ClientDisconnect):
                await task
        # Room again, although the one thread is still held.
        last = asyncio.ensure_future(workers.run(partial(begun.append, 99), request(stay)))
        held.set()
        assert await first is True
        await last
        assert begun == [99]
        workers.close()

    run(story)


def test_more_than_can_wait_is_refused() -> None:
    async def story() -> None:
        workers = Workers(threads=1, waiting=2)
        held, stay = threading.Event(), asyncio.Event()
        tasks = [asyncio.ensure_future(workers.run(held.wait, request(stay))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ProblemError) as caught:
            await workers.run(held.wait, request(stay))
        assert caught.value.status == 503 and "Retry-After" in caught.value.headers
        held.set()
        assert await asyncio.gather(*tasks) == [True] * 3
        assert await workers.run(lambda: 7, request(stay)) == 7
        workers.close()

    run(story)


def test_what_takes_too_long_is_given_up_but_keeps_its_thread() -> None:
    async def story() -> None:
        workers = Workers(threads=1, waiting=0, seconds=0.05)
        held, stay = threading.Event(), asyncio.Event()
        with pytest.raises(ProblemError) as caught:
            await workers.run(held.wait, request(stay))
        assert caught.value.status == 503
        # The thread is still at it, so nothing else begins behind it.
        with pytest.raises(ProblemError):
            await workers.run(lambda: 1, request(stay))
        held.set()
        workers.close()

    run(story)


def test_what_the_work_raises_comes_out() -> None:
    async def story() -> None:
        def fail() -> None:
            raise ValueError("no")

        workers = Workers(threads=1)
        with pytest.raises(ValueError, match="no"):
            await workers.run(fail, request(asyncio.Event()))
        workers.close()

    run(story)


def test_a_body_that_is_too_large_is_said_to_be_so() -> None:
    async def story() -> None:
        async def receive() -> dict[str, Any]:
            raise ProblemError(413, "too large")

        workers = Workers(threads=1)
        held = threading.Event()
        with pytest.raises(ProblemError) as caught:
            await workers.run(held.wait, Request({"type": "http", "headers": []}, receive))
        assert caught.value.status == 413
        held.set()
        workers.close()

    run(story)


def test_a_server_that_ends_says_so_to_whoever_waits() -> None:
    async def story() -> None:
        workers = Workers(threads=1)
        held = threading.Event()
        waiting = asyncio.ensure_future(workers.run(held.wait, request(asyncio.Event())))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(ProblemError) as caught:
            await waiting
        assert caught.value.status == 503
        held.set()
        workers.close()

    run(story)


def test_who_is_no_request_waits_as_long_as_it_takes_and_can_be_cancelled() -> None:
    async def story() -> None:
        workers = Workers(threads=1, seconds=0.01)
        held = threading.Event()
        long = asyncio.ensure_future(workers.run(held.wait))
        given_up = asyncio.ensure_future(workers.run(lambda: pytest.fail("begun")))
        await asyncio.sleep(0.05)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        held.set()
        assert await long is True
        workers.close()

    run(story)
