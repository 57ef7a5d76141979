"""Who is reading from a library, so that nobody closes it under them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# How long to wait for those who read. What is still read from then is left open: to close it could end the process.
PATIENCE = 30.0


class Readers:
    """Lets readers in until it is closed, and knows when the last one has gone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self.closed = False

    @contextmanager
    def reading(self, refusal: Exception) -> Iterator[None]:
        """Be a reader meanwhile; raise the refusal when it is too late for that."""
        with self._changed:
            if self.closed:
                raise refusal
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in any more."""
        with self._changed:
            self.closed = True

    def wait(self, patience: float = PATIENCE) -> bool:
        """Wait until nobody is inside; return whether that came about."""
        with self._changed:
            return self._changed.wait_for(lambda: self._inside == 0, patience)
