"""Who may talk to the HTTP server: checks the host that is asked for, where a page comes from, and the token.

A web page anywhere can make a browser send requests to this machine, under a name that its owner lets point here (DNS
rebinding). Such a request carries that name as its host, and the page's address as its origin.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pinakes.loopback import is_loopback
from pinakes.server.api.problems import problem

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Guard:
    """Lets requests through to an application that name this server, come from its own pages, and know the token."""

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
        """Answer a request that may not pass, and hand on all others."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope), scope["path"])
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> Response | None:
        host = _name(f"//{headers.get('host', '')}")
        if host is None or not self._serves(host):
            return problem(
                421, "This server does not go by that name. Use its address, or start it with --allow-host."
            )
        origin = headers.get("origin")
        if origin is not None and not self._trusts(origin, headers["host"]):
            return problem(403, "Pages from that address may not use this server.")
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
        # An address written out in numbers cannot be made to point elsewhere.
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
        # In constant time, so that the time of the answer does not tell how much of a guess is right.
        return hmac.compare_digest(given.strip().encode(), self._token) and scheme.lower() == "bearer"


def _name(address: str) -> str | None:
    """Return the host of an address, without its port."""
    try:
        return (urlsplit(address).hostname or "").lower() or None
    except ValueError:
        return None
