"""From the name of a tool and what a model gave it to an answer."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pinakes.errors import UsageError
from pinakes.server.mcp import listing, reading
from pinakes.server.mcp.answer import Answer
from pinakes.server.mcp.catalog import INDEX, SEARCH, tool_names
from pinakes.server.mcp.extras import read_arguments
from pinakes.server.mcp.search import search
from pinakes.tools.values import shown

if TYPE_CHECKING:
    from pinakes.server.registry import LibraryRegistry

_TOOLS: dict[str, Callable[[LibraryRegistry, str | None, dict[str, Any]], Answer]] = {
    "read_section": reading.read_section,
    "define_term": reading.define_term,
    "follow_references": reading.follow_references,
    "list_outline": listing.list_outline,
    "list_documents": listing.list_documents,
    "index_status": listing.index_status,
}

# Beyond this a name is not worth comparing.
_LONGEST_NAME = 100


def call(registry: LibraryRegistry, name: str, given: Mapping[str, object]) -> Answer:
    """Answer a call of any tool but the one that indexes, which takes its time."""
    if name in _TOOLS:
        tool, arguments = read_arguments(name, given, several=registry.several)
        return _TOOLS[name](registry, tool, arguments)
    if name in registry.services and (registry.configured or name == SEARCH):
        service = registry.services[name]
    elif name == SEARCH and not registry.several:
        service = next(iter(registry.services.values()))
    else:
        raise unknown_tool(registry, name)
    _, arguments = read_arguments(SEARCH, given, several=False)
    return search(registry, service, arguments)


def unknown_tool(registry: LibraryRegistry, name: str) -> UsageError:
    """Return the error of a tool that does not exist, with the names of those that do."""
    names = tool_names(registry)
    if name == INDEX:
        return UsageError(f"This server only reads: {INDEX} is there when it is started with --write.")
    near = difflib.get_close_matches(name[:_LONGEST_NAME], names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]}?" if near else ""
    return UsageError(f"There is no tool {shown(name)}.{hint} There are {', '.join(names)}.")
