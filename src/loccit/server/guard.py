"""Access control of the HTTP server: hosts, origins, the token, and the size and rate of requests.

Any web page can make a browser send requests to this machine, under a name whose owner lets it point here (DNS
rebinding). Such a request has that name as its host, and the page's address as its origin. The limits are far above
what a person needs, and stop programs that run wild.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loccit.server.api.problems import ProblemError, problem
from loccit.server.http import Limits
from loccit.workers.loopback import is_loopback

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Guard:
    """Passes requests on that name this server, come from its own pages, and have the token."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str = "127.0.0.1",
        token: str | None = None,
        allowed_hosts: Iterable[str] = (),
        open_paths: Iterable[str] = (),
        open_below: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._local = is_loopback(host)
        self._token = token.encode() if token else None
        self._hosts = LOOPBACK_NAMES | {host.lower()} | {name.lower() for name in allowed_hosts}
        if not self._local:
            self._hosts |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self._open_paths = frozenset(open_paths)
        self._open_below = tuple(open_below)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that is not allowed, and pass on all others."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope), scope["path"])
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> Response | None:
        host = _name(f"//{headers.get('host', '')}")
        if host is None or not self._serves(host):
            return problem(
                421, "This host name is not allowed. Use the server's address, or start it with --allow-host."
            )
        origin = headers.get("origin")
        if origin is not None and not self._trusts(origin, headers["host"]):
            return problem(403, "Pages from that origin may not use this server.")
        if self._token is not None and not self._is_open(path) and not self._knows_token(headers):
            refused = problem(401, "Send the token as: Authorization: Bearer TOKEN")
            refused.headers["WWW-Authenticate"] = "Bearer"
            return refused
        return None

    def _serves(self, host: str) -> bool:
        if host in self._hosts:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        # A numeric address cannot be made to point elsewhere.
        return address.is_loopback or not self._local

    def _trusts(self, origin: str, host: str) -> bool:
        name = _name(origin)
        if name is None:
            return False
        if self._local or name in LOOPBACK_NAMES:
            return self._local and (name in LOOPBACK_NAMES or name in self._hosts)
        return urlsplit(origin).netloc.lower() == host.lower() or name in self._hosts

    def _is_open(self, path: str) -> bool:
        return path in self._open_paths or path.startswith(self._open_below)

    def _knows_token(self, headers: Headers) -> bool:
        assert self._token is not None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        # In constant time, so that the response time does not reveal how much of a guess is right.
        return hmac.compare_digest(given.strip().encode(), self._token) and scheme.lower() == "bearer"


def _name(address: str) -> str | None:
    """Return the host of an address, without the port."""
    try:
        return (urlsplit(address).hostname or "").lower() or None
    except ValueError:
        return None


API = "/api/"
_GUARDED = (API, "/mcp")
_MAX_ADDRESSES = 10_000


class Rate:
    """A token bucket per address: a burst, and a rate of requests per second."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Count a request; return 0, or how many seconds to wait."""
        if self._per_second <= 0:
            return 0.0
        now = self._clock()
        left, then = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._left[address] = (left - 1 if allowed else left, now)
        if len(self._left) > _MAX_ADDRESSES:
            # The address idle for longest has the fullest bucket anyway.
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second


class Limiter:
    """Refuses excessive requests before anything else sees them."""

    def __init__(self, app: ASGIApp, limits: Limits | None = None) -> None:
        self._app = app
        self._limits = limits or Limits()
        self._rate = Rate(self._limits.per_second, self._limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse an excessive request, and pass on all others."""
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
        """Return a receive function that stops at a body that is too large, whatever its declared length."""
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
