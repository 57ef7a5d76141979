"""The tool list of a server: the catalogue, with the server's additions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mcp_types as types

from loccit.ask.catalog import SEARCH, TOOLS, ToolSpec
from loccit.ask.request import Request
from loccit.server.mcp.calls import INDEX, LIBRARY, tool_names, with_extras

if TYPE_CHECKING:
    from loccit.server.services import LibraryRegistry, LibraryService


def list_tools(registry: LibraryRegistry) -> list[types.Tool]:
    """Return every tool with its schemas."""
    return [_tool(registry, name) for name in tool_names(registry)]


def _tool(registry: LibraryRegistry, name: str) -> types.Tool:
    spec: ToolSpec = INDEX if name == INDEX.name else TOOLS.get(name, SEARCH)
    description = spec.description
    if registry.configured and name in registry.services:
        description = f"{registry.services[name].description.strip()}\n\n{SEARCH.description}".strip()
    return types.Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=description,
        input_schema=_input_schema(registry, spec, registry.services.get(name)),
        annotations=types.ToolAnnotations(read_only_hint=True)
        if spec is not INDEX
        else types.ToolAnnotations(destructive_hint=False),
    )


def _input_schema(
    registry: LibraryRegistry, spec: ToolSpec, service: LibraryService | None
) -> dict[str, Any]:
    # A configured tool reads its own source only.
    known = replace(spec, request=Request) if spec is INDEX and registry.configured else spec
    own = service or next(iter(registry.services.values()))
    defaults = {"token_budget": registry.token_budget}
    if service is not None or not registry.several:
        defaults |= own.defaults
    schema = with_extras(registry, known).parameters(defaults)
    # Names that models invent are understood too, so a client that checks arguments must not refuse them.
    del schema["additionalProperties"]
    if not schema["required"]:
        del schema["required"]
    if LIBRARY.name in schema["properties"]:
        schema["properties"][LIBRARY.name]["enum"] = list(registry.services)
    return schema
