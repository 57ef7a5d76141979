"""The MCP server: tools, resources and prompts over one or more libraries."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from loccit.errors import MissingExtraError

if TYPE_CHECKING:
    from mcp.server import Server

    from loccit.server.services import LibraryRegistry
    from loccit.server.workers import Workers


def build_server(registry: LibraryRegistry, workers: Workers | None = None) -> Server[object]:
    """Return an MCP server that answers from a registry; in ``workers`` if it shares them with others."""
    try:
        from loccit.server.mcp.server import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise MissingExtraError("Serving MCP", "mcp") from error
    return make_server(registry, workers)


def run_stdio(server: Server[object]) -> None:
    """Serve one client on standard input and output until it disconnects, or the process is stopped."""
    if sys.stdin.isatty():
        print(
            "Waiting for an MCP client; `loccit mcp install` shows how to tell one. Stop with Ctrl-C.",
            file=sys.stderr,
        )
    # A thread is blocked reading standard input and cannot be interrupted: exit without waiting for it.
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    try:
        asyncio.run(_serve(server))
    except BaseException as error:
        if not _client_is_gone(error):
            raise
        # Buffered output can no longer be delivered, and must not fail at shutdown.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def _serve(server: Server[object]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _client_is_gone(error: BaseException) -> bool:
    """Whether the only error is that nobody reads any more."""
    inner = getattr(error, "exceptions", None)
    if inner is not None:
        return all(_client_is_gone(item) for item in inner)
    return isinstance(error, (BrokenPipeError, ConnectionError))


def _leave(number: int, frame: object) -> None:
    scratch = sys.modules.get("loccit.agent.database")
    if scratch is not None:
        scratch.remove_scratch_folders()
    os._exit(0)
