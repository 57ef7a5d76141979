"""Arguments that only tools behind a server take: which library, where to go on, which files to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinakes.errors import UsageError
from pinakes.tools.arguments import Argument
from pinakes.tools.normalize import key, normalize, unwrapped
from pinakes.tools.values import BadValue

TOOL = Argument(
    "tool",
    "string",
    "Only in the library of this search tool; all of them are asked when it is left out.",
)
OFFSET = Argument(
    "offset",
    "integer",
    "Where to go on after an answer that was cut; that answer says the number.",
    bounds=(0, 1_000_000_000),
)
# What models call them, without case and underscores.
_NAMES = {
    "tool": ("tool", "library", "collection", "toolname", "libraryname", "index", "indexname", "corpus"),
    "offset": ("offset", "start", "skip", "from", "startat", "position", "nextoffset", "cursor"),
}
_PATHS = ("paths", "path", "files", "file", "folder", "folders", "directory", "source", "sources")
TAKES_OFFSET = ("read_section", "list_documents")


def read_arguments(
    tool: str, given: Mapping[str, object], *, several: bool
) -> tuple[str | None, dict[str, Any]]:
    """Return which library is meant, and the arguments of a call under their right names."""
    left = dict(unwrapped(given))
    library = _taken(left, TOOL) if several else None
    offset = _taken(left, OFFSET) if tool in TAKES_OFFSET else None
    arguments: dict[str, Any] = _index_arguments(left) if tool == "index_documents" else normalize(tool, left)
    if offset:
        arguments["offset"] = offset
    return (str(library) if library else None), arguments


def _taken(left: dict[str, object], argument: Argument) -> object:
    """Take an argument out, under whichever of its names it was given."""
    found = [name for name in left if key(name) in _NAMES[argument.name]]
    values = [left.pop(name) for name in found]
    try:
        return next((read for read in map(argument.read, values) if read is not None), None)
    except BadValue as error:
        raise UsageError(f"{found[0]} {error}.") from error


def _index_arguments(left: dict[str, object]) -> dict[str, Any]:
    paths: list[str] = []
    for name in list(left):
        if key(name) in _PATHS:
            value = left.pop(name)
            paths += [str(item) for item in (value if isinstance(value, (list, tuple)) else [value]) if item]
    unknown = [name for name, value in left.items() if value is not None]
    if unknown:
        raise UsageError(f"index_documents: unknown argument {unknown[0]!r}. It takes paths.")
    return {"paths": paths or None}
