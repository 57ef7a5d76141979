"""The MCP server: tools, resources and prompts over one or more libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server import Server

    from pinakes.server.registry import LibraryRegistry


def build_server(registry: LibraryRegistry) -> Server[object]:
    """Return an MCP server that answers from a registry."""
    from pinakes.errors import MissingExtraError

    try:
        from pinakes.server.mcp.server import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise MissingExtraError("Serving MCP", "mcp") from error
    return make_server(registry)
