"""The time as a database has it: claims of several machines are compared by one clock, not by each machine's own."""

from __future__ import annotations

import time

from pinakes.stores.store import Store

# A machine's clock keeps this long to what it was found to differ by.
_TRUSTED_SECONDS = 60.0


class StoreClock:
    """The store's clock, read now and then, and carried on here in between."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ahead = 0.0
        self._read_at: float | None = None

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        now = time.monotonic()
        if self._read_at is None or now - self._read_at > _TRUSTED_SECONDS:
            self._ahead, self._read_at = self._store.now() - now, now
        return now + self._ahead
