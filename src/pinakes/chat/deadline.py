"""A time limit that stands still while something is waited for that nobody can hurry."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Deadline:
    """Calls ``expire`` once, when the seconds that were not paused have passed."""

    def __init__(self, seconds: float, expire: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = seconds
        self._expire = expire
        self._pauses = 0
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._over = False
        self._start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock meanwhile; several may at once."""
        if self._pauses == 0:
            self._stop()
            self._left -= self._loop.time() - self._since
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                self._start()

    def cancel(self) -> None:
        """Let the time pass without consequence, from now on: whoever ends a pause later does not start it again."""
        self._over = True
        self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self) -> None:
        if self._over:
            return
        self._since = self._loop.time()
        self._timer = self._loop.call_later(max(self._left, 0.0), self._expire)
