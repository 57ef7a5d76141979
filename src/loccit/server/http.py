"""The HTTP application: the page and its API, ``/mcp`` for agents, ``/health`` for monitoring."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from loccit.errors import MissingExtraError, UsageError
from loccit.version import __version__
from loccit.workers.loopback import is_loopback

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute, Route

    from loccit.server.services import LibraryRegistry
    from loccit.server.workers import Workers

HEALTH = "/health"
READY = "/ready"
MCP = "/mcp"
# Connections that may wait to be accepted.
_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """A server's limits: size of a body, requests per second and per burst from one address."""

    body_bytes: int = 256 * 1024
    per_second: float = 300.0
    burst: int = 1500


def build_app(
    registry: LibraryRegistry,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    allowed_hosts: Iterable[str] = (),
    routes: Sequence[BaseRoute] = (),
    limits: Limits | None = None,
    processes: int = 1,
) -> Starlette:
    """Return the application; beyond loopback it needs a token. ``routes`` are added to its own.

    ``processes`` is how many processes may answer under load.
    """
    check_access(host, token)
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.routing import Route

    from loccit.server.api.app import Api
    from loccit.server.api.problems import on_http_exception
    from loccit.server.guard import Guard, Limiter
    from loccit.server.static import STATIC, VIEWS, Page
    from loccit.server.workers import workers_of

    workers = workers_of(registry, processes)
    api = Api(registry, workers, token=token is not None)
    protocol, running = _mcp(registry, workers)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        registry.warm()
        try:
            async with running():
                yield
        finally:
            api.close()
            workers.close()

    return Starlette(
        routes=[
            protocol,
            Route(HEALTH, _health, methods=["GET"]),
            Route(READY, partial(_ready, registry), methods=["GET"]),
            *api.routes,
            *Page().routes,
            *routes,
        ],
        middleware=[
            Middleware(Limiter, limits=limits),
            Middleware(
                Guard,
                host=host,
                token=token,
                allowed_hosts=tuple(allowed_hosts),
                # The page holds no data; it asks for the token and sends it to the API.
                open_paths=(HEALTH, READY, "/favicon.ico", *VIEWS),
                open_below=(STATIC,),
            ),
        ],
        exception_handlers={HTTPException: on_http_exception},
        lifespan=lifespan,
    )


def _mcp(
    registry: LibraryRegistry, workers: Workers
) -> tuple[Route, Callable[[], AbstractAsyncContextManager[None]]]:
    """Return the MCP endpoint and its lifespan; without the MCP package, an answer that says what to install."""
    from starlette.routing import Route

    from loccit.server.mcp import build_server

    try:
        # Host and origin are checked for every path, by the guard.
        server = build_server(registry, workers)
    except MissingExtraError as error:
        refusal = Route(MCP, partial(_without_mcp, str(error)), methods=["GET", "POST", "DELETE"])
        return refusal, contextlib.nullcontext
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    manager = StreamableHTTPSessionManager(server)
    return Route(MCP, StreamableHTTPASGIApp(manager)), manager.run


async def _without_mcp(reason: str, _: Request) -> Response:
    from loccit.server.api.problems import problem

    return problem(501, reason)


def has_mcp() -> bool:
    """Whether the MCP package is installed."""
    return find_spec("mcp") is not None


def check_access(host: str, token: str | None) -> None:
    """Refuse to listen beyond loopback without a token, and refuse a token that cannot be sent."""
    if not is_loopback(host) and not token:
        raise UsageError(
            f"{host} can be reached by others: give --token, or set LOCCIT_TOKEN, so that only those who know it "
            "get in."
        )
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError(
            "A token is made of ASCII letters, digits and signs, without spaces: it goes into a header."
        )


async def _health(_: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"status": "ok", "version": __version__})


async def _ready(registry: LibraryRegistry, _: Request) -> Response:
    from starlette.responses import JSONResponse

    ready = next(iter(registry.services.values())).ready
    return JSONResponse({"status": "ready" if ready else "loading"}, status_code=200 if ready else 503)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free one."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}. Choose another with --host or --port."
        ) from error
    return listener


def url_of(listener: socket.socket, host: str) -> str:
    """Return the URL of a socket."""
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Starlette, listener: socket.socket) -> None:
    """Serve until the process is stopped."""
    import uvicorn

    from loccit.server.sockets import ImpatientProtocol, allow_many_files

    allow_many_files()
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        log_level="warning",
        # Otherwise it asks whether standard output is a terminal, which may be closed.
        use_colors=False,
        access_log=False,
        timeout_graceful_shutdown=2,
        backlog=_BACKLOG,
    )
    uvicorn.Server(config).run(sockets=[listener])
