"""Runs one answer after another on one event loop, where Ctrl-C stops the answer and not the program."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


class TurnLoop:
    """An event loop that lives as long as the conversation: connections to the model stay open between answers."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, T], stop: Callable[[], None] | None = None) -> T:
        """Run to the end. The first Ctrl-C calls ``stop``, which should bring the end about; the second raises."""
        if stop is None or threading.current_thread() is not threading.main_thread():
            return self._loop.run_until_complete(work)
        asked = False

        def interrupt(number: int, frame: FrameType | None) -> None:
            nonlocal asked
            if asked:
                raise KeyboardInterrupt
            asked = True
            self._loop.call_soon_threadsafe(stop)

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            return self._loop.run_until_complete(work)
        finally:
            signal.signal(signal.SIGINT, before)

    def close(self) -> None:
        """End what is still running and close the loop."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
