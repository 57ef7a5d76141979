"""Small or large: which decides whether a service compares every vector or uses its index."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_RECHECK_SMALL = 30.0
_RECHECK_LARGE = 600.0


class SizeWatch:
    """Remembers whether a collection is below a bound. An answer that is a little old does no harm: both ways work."""

    def __init__(
        self, count: Callable[[], int], bound: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count = count
        self._bound = bound
        self._clock = clock
        self._guard = threading.Lock()
        self._known: tuple[bool, float] | None = None

    def small(self) -> bool:
        """Whether there are fewer points than the bound."""
        if self._bound <= 0:
            return False
        known = self._known
        if known is None or self._clock() > known[1]:
            # Outside the lock: several threads may count at once, none waits for another's request.
            small = self._count() < self._bound
            known = small, self._clock() + (_RECHECK_SMALL if small else _RECHECK_LARGE)
            with self._guard:
                self._known = known
        return known[0]

    def forget(self) -> None:
        """Count again at the next question."""
        with self._guard:
            self._known = None
