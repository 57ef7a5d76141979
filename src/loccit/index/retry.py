"""Retry: temporary failures are retried with increasing delays.

A search retries a few times and then reports that the database cannot be reached. A writer has more to lose, and waits
for a server that restarts (``patient``), once it has answered at all: an address that never did is probably wrong.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from loccit.errors import StoreUnavailableError

logger: logging.Logger = logging.getLogger("loccit")

ATTEMPTS = 4
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0

Result = TypeVar("Result")


class _Patience:
    """How long to wait, once the server has answered."""

    def __init__(self, seconds: float, *, answered: bool) -> None:
        self.seconds = seconds
        self.answered = answered


_patience: ContextVar[_Patience | None] = ContextVar("loccit_patience", default=None)


@contextmanager
def patient(seconds: float, *, answered: bool = False) -> Iterator[None]:
    """Let calls in this thread wait for a server that disappears; ``answered``: it is known to have been there."""
    token = _patience.set(_Patience(seconds, answered=answered))
    try:
        yield
    finally:
        _patience.reset(token)


def retrying(
    call: Callable[[], Result], *, attempts: int = ATTEMPTS, sleep: Callable[[float], None] = time.sleep
) -> Result:
    """Return the result of a call; while it is unavailable, it is repeated with growing, jittered delays."""
    patience = _patience.get()
    pause, tried, deadline = _FIRST_PAUSE, 0, None
    while True:
        try:
            result = call()
        except StoreUnavailableError as error:
            tried += 1
            if tried >= attempts:
                if patience is None or not patience.answered or not patience.seconds:
                    raise
                if deadline is None:
                    deadline = time.monotonic() + patience.seconds
                    logger.warning("Waiting up to %.0f seconds for the database: %s", patience.seconds, error)
                if time.monotonic() > deadline:
                    raise
            logger.info("Trying again in %.1f seconds: %s", pause, error)
        else:
            if patience is not None:
                patience.answered = True
            if deadline is not None:
                logger.warning("The database answers again; continuing.")
            return result
        sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, _LONGEST_PAUSE)
