"""The list of tools: what each is called, what it is for, what it takes and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

from pinakes.errors import UsageError
from pinakes.server.mcp.extras import OFFSET, TAKES_OFFSET, TOOL
from pinakes.server.mcp.schemas import output_schema
from pinakes.tools.arguments import TOOLS, parameters

if TYPE_CHECKING:
    from pinakes.server.registry import LibraryRegistry

SEARCH = "search_documents"
INDEX = "index_documents"

DESCRIPTIONS = {
    SEARCH: "Find passages in the documents by meaning, by keyword and by exact reference at once. Each result is a "
    "passage with its citation: file, section and lines or pages. Put words in double quotes for a phrase, and name a "
    "section (Article 6(1)(f), Section 306) to get just that. Cite what you use.",
    "read_section": "Read a section, clause or heading in full, by its number as printed (Section 306(b)), its "
    "heading or its section_id. Use it to see what stands around a passage that a search found.",
    "define_term": "Say what the documents mean by a term that they define, with exceptions, and which documents "
    "define it differently.",
    "list_outline": "Show the headings of a document as a tree, with the section_id of each; without document, of all "
    "documents. Use it to find one's way in a long document.",
    "follow_references": "Show what a section refers to, and which sections refer to it, across documents.",
    "list_documents": "List the documents of the library with title, type and path; filters narrow the list.",
    "index_status": "Say what the index holds, when it was updated, and which files could not be read.",
    INDEX: "Bring the index up to date with its files: new, changed and deleted ones. Takes a while; reports progress "
    "and can be cancelled. Give paths to add files or folders below those the index may read.",
}
TITLES = {
    SEARCH: "Search documents",
    "read_section": "Read a section",
    "define_term": "Define a term",
    "list_outline": "List the outline",
    "follow_references": "Follow references",
    "list_documents": "List documents",
    "index_status": "Index status",
    INDEX: "Index documents",
}
_PATHS = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Files and folders to read; without any, those that were indexed before.",
}


def tool_names(registry: LibraryRegistry) -> list[str]:
    """Return the names of all tools: the search tools first."""
    searches = list(registry.services) if registry.configured else [SEARCH]
    others = [name for name in TOOLS if name != SEARCH] + ([INDEX] if registry.write else [])
    taken = [name for name in searches if name in (*others, INDEX)]
    if taken:
        raise UsageError(f"A tool may not be called {taken[0]}: the server has one of that name. Rename it.")
    return [*searches, *others]


def list_tools(registry: LibraryRegistry) -> list[types.Tool]:
    """Return every tool with its schemas."""
    return [_tool(registry, name) for name in tool_names(registry)]


def _tool(registry: LibraryRegistry, name: str) -> types.Tool:
    kind = name if name in DESCRIPTIONS else SEARCH
    description = DESCRIPTIONS[kind]
    if registry.configured and name in registry.services:
        description = f"{registry.services[name].description.strip()}\n\n{DESCRIPTIONS[SEARCH]}".strip()
    return types.Tool(
        name=name,
        title=TITLES[kind] if name in TITLES else name.replace("_", " ").capitalize(),
        description=description,
        input_schema=input_schema(registry, kind),
        output_schema=output_schema(kind) if registry.structured else None,
        annotations=types.ToolAnnotations(
            read_only_hint=kind != INDEX, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def input_schema(registry: LibraryRegistry, kind: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    if kind == INDEX:
        schema: dict[str, Any] = {"type": "object", "properties": {"paths": _PATHS}}
        # A configured tool reads its own source and nothing else.
        if registry.configured:
            schema["properties"] = {}
    else:
        schema = parameters(kind)
    # Names that models invent are understood too; a client that checks arguments must not refuse them.
    schema.pop("additionalProperties", None)
    properties = dict(schema["properties"])
    if kind in TAKES_OFFSET:
        properties[OFFSET.name] = OFFSET.schema()
    if registry.several and kind != SEARCH:
        properties[TOOL.name] = TOOL.schema() | {"enum": list(registry.services)}
    return {**schema, "properties": properties}
