"""Retry: what failed for a passing reason is tried again, a little later each time."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from pinakes.errors import StoreUnavailableError

logger = logging.getLogger("pinakes")

ATTEMPTS = 4
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0

Result = TypeVar("Result")


def retrying(
    call: Callable[[], Result], *, attempts: int = ATTEMPTS, sleep: Callable[[float], None] = time.sleep
) -> Result:
    """Return what a call returns; one that is unavailable is called again, with a growing and uneven pause."""
    pause = _FIRST_PAUSE
    for _ in range(attempts - 1):
        try:
            return call()
        except StoreUnavailableError as error:
            logger.info("Trying again in %.1f seconds: %s", pause, error)
        sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, _LONGEST_PAUSE)
    return call()
