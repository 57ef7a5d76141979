"""Retry: how long to keep asking a service that is busy or down.

The SDKs can retry too, but not alike: how often, how long a ``Retry-After`` may be, and whether time runs out
differ between them and between their versions. Here it is one rule for all services.
"""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``retries`` further attempts, none begun later than ``total`` seconds after the first.

    The wait doubles from ``first_wait`` on and is shortened by chance, so that many callers do not come back at once.
    A service that names a time (``Retry-After``) is asked again then, unless that is beyond ``longest_wait``.
    """

    retries: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0
    total: float = 300.0

    def persist(self, call: Callable[[], T], passing: Callable[[Exception], float | None]) -> T:
        """Call until it works. ``passing`` returns the wait that a failure asks for, 0 for none, None if it lasts."""
        started = time.monotonic()
        attempt = 0
        while True:
            try:
                return call()
            except Exception as error:
                asked = passing(error)
                if asked is None or attempt >= self.retries or asked > self.longest_wait:
                    raise
                wait = asked or min(self.first_wait * 2**attempt, self.longest_wait) * random.uniform(0.5, 1)
                if time.monotonic() + wait - started > self.total:
                    raise
            time.sleep(wait)
            attempt += 1


def retry_after(headers: Mapping[str, str]) -> float:
    """Return how many seconds a service asks to wait, 0 when it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            return max(0.001, float(value) * unit)
        except ValueError:
            pass
        if date := email.utils.parsedate_tz(value):
            return max(0.001, email.utils.mktime_tz(date) - time.time())
    return 0.0
