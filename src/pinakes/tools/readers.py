"""Readers: who reads from something that is to be closed, which may be done when the last of them has gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# How long to wait for those who read. What is still read from then is left open: to close it could end the process.
_PATIENCE = 30.0


class Readers:
    """Lets readers in until it is closed; ``then`` is called once it is, and nobody is inside."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self._then = then
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
                if self.closed and not self._inside:
                    self._then()

    def close(self) -> None:
        """Let nobody in any more."""
        with self._changed:
            if not self.closed and not self._inside:
                self._then()
            self.closed = True

    def wait(self) -> bool:
        """Wait until nobody is inside; return whether that came about."""
        with self._changed:
            return self._changed.wait_for(lambda: self._inside == 0, _PATIENCE)
