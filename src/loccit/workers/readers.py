"""Readers: keeps a resource open until its last reader is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# How long to wait for readers. A resource still being read after that stays open: closing it could crash the
# process.
_PATIENCE = 30.0


class Readers:
    """Admits readers until it is closed; ``then`` is called once it is closed and the last reader has left."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self._then = then
        self._changed = threading.Condition()
        self._inside = 0
        self.closed: bool = False

    @contextmanager
    def reading(self, refusal: Exception) -> Iterator[None]:
        """Be a reader for the duration; raise the refusal if it is closed."""
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
        """Admit no more readers."""
        with self._changed:
            if not self.closed and not self._inside:
                self._then()
            self.closed = True

    def wait(self) -> bool:
        """Wait until no reader is left; return whether that happened."""
        with self._changed:
            return self._changed.wait_for(lambda: self._inside == 0, _PATIENCE)
