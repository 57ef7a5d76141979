"""Limits: how large a request may be, and how many may come from one address.

They are far above what a person does, and there for programs that run wild.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pinakes.server.api.problems import ProblemError
from pinakes.server.http import Limits

API = "/api/"
_GUARDED = (API, "/mcp")
_MAX_ADDRESSES = 10_000


class Rate:
    """Requests of each address: so many at once, and so many a second from then on."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Count a request; return 0, or how many seconds too early it comes."""
        if self._per_second <= 0:
            return 0.0
        now = self._clock()
        left, then = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._left[address] = (left - 1 if allowed else left, now)
        if len(self._left) > _MAX_ADDRESSES:
            # The address that was silent for longest has the most left anyway.
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second


class Limiter:
    """Refuses what is too much before anything else looks at it."""

    def __init__(self, app: ASGIApp, limits: Limits | None = None) -> None:
        self._app = app
        self._limits = limits or Limits()
        self._rate = Rate(self._limits.per_second, self._limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is too much, and hand on all others."""
        if scope["type"] != "http" or not scope["path"].startswith(_GUARDED):
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        wait = self._rate.wait(client[0] if client else "")
        if wait:
            after = {"Retry-After": str(max(1, round(wait)))}
            refusal = ProblemError(429, "Too many requests from this address. Slow down.", after)
        elif scope["path"].startswith(API) and self._declared(scope) > self._limits.body_bytes:
            refusal = self._too_large()
        else:
            within = self._counted(receive) if scope["path"].startswith(API) else receive
            await self._app(scope, within, send)
            return
        await refusal.response()(scope, receive, send)

    def _declared(self, scope: Scope) -> int:
        length = Headers(scope=scope).get("content-length", "0")
        return int(length) if length.isascii() and length.isdigit() else 0

    def _counted(self, receive: Receive) -> Receive:
        """Return what reads a body and stops where it is too large, whatever it said of its length."""
        size = 0

        async def within() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._limits.body_bytes:
                raise self._too_large()
            return message

        return within

    def _too_large(self) -> ProblemError:
        most = self._limits.body_bytes // 1024
        return ProblemError(
            413, f"The body is too large; at most {most} KB are read.", {"Connection": "close"}
        )
