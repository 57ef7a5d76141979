"""Completions: what a user may mean while typing an argument of a prompt or of a resource's address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import mcp_types as types

from loccit.ask.relative import absolute, relative
from loccit.config.bounds import MOST_SUGGESTIONS
from loccit.errors import LoccitError
from loccit.grammar.text.keys import typed_key
from loccit.model import OutlineNode
from loccit.model.uris import DOCUMENT_TEMPLATE, SECTION_TEMPLATE, TOOL_PARAMETER
from loccit.server.mcp.prompts import PROMPTS

if TYPE_CHECKING:
    from loccit.library import Library
    from loccit.server.services import LibraryRegistry

# The protocol's limit.
_MOST = 100
_TEMPLATES = {
    DOCUMENT_TEMPLATE: ("document",),
    DOCUMENT_TEMPLATE + TOOL_PARAMETER: ("document", "tool"),
    SECTION_TEMPLATE + TOOL_PARAMETER: ("tool",),
}


def complete(registry: LibraryRegistry, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Return what an argument may be completed to, best first; nothing where anything goes or nothing is known."""
    name, typed = params.argument.name, params.argument.value
    given = (params.context and params.context.arguments) or {}
    found: list[str] = []
    more = False
    if name in _arguments(params.ref):
        if name == "tool":
            found = _matching(typed, ((tool, "") for tool in registry.services))
        elif name.endswith("document"):
            found = _documents(registry, typed, given.get("tool"))
        elif name in ("first", "second"):
            found, more = _places(registry, typed, given.get(f"{name}_document"))
    shown = types.Completion(
        values=found[:_MOST], total=None if more else len(found), has_more=more or len(found) > _MOST
    )
    return types.CompleteResult(completion=shown)


def _arguments(ref: types.PromptReference | types.ResourceTemplateReference) -> tuple[str, ...]:
    if isinstance(ref, types.ResourceTemplateReference):
        return _TEMPLATES.get(ref.uri, ())
    return tuple(
        argument.name for prompt in PROMPTS if prompt.name == ref.name for argument in prompt.arguments or ()
    )


def _documents(registry: LibraryRegistry, typed: str, tool: str | None) -> list[str]:
    """Return the paths of documents whose file name, title or path has what was typed."""

    def named(library: Library) -> list[tuple[str, str]]:
        return [
            (info.source_path, f"{PurePosixPath(info.source_path).name}\n{info.title}")
            for info in relative(library.documents(), library.root)
        ]

    return _matching(typed, _from_each(registry, tool, named))


def _places(registry: LibraryRegistry, typed: str, document: str | None) -> tuple[list[str], bool]:
    """Return labels and headings: those of a document, or those of all that something was typed of.

    And whether a library may have more.
    """
    full = False

    def named(library: Library) -> list[tuple[str, str]]:
        nonlocal full
        if not document:
            found = library.suggest(typed, MOST_SUGGESTIONS)
            full = full or len(found) == MOST_SUGGESTIONS
            return [(item.text, "") for item in found if item.kind == "label"]
        name = absolute(library, {"document": document})["document"]
        return [
            (node.label or node.heading, node.heading)
            for outline in library.outline(name)
            for node in _nodes(outline.nodes)
        ]

    return _matching(typed, _from_each(registry, None, named)), full


def _nodes(nodes: Iterable[OutlineNode]) -> Iterator[OutlineNode]:
    for node in nodes:
        yield node
        yield from _nodes(node.children)


def _from_each(
    registry: LibraryRegistry, tool: str | None, named: Callable[[Library], list[tuple[str, str]]]
) -> Iterator[tuple[str, str]]:
    """Ask every library, or that of a tool; one that cannot answer at once has no completions."""
    for service in registry.services.values():
        if not tool or service.name == tool:
            with suppress(LoccitError):
                yield from service.ask(named, 0)


def _matching(typed: str, named: Iterable[tuple[str, str]]) -> list[str]:
    """Return values, each with other names, that have what was typed: at their beginning, of a word, anywhere."""
    key = typed_key(typed)
    ranked: dict[str, int] = {}
    for value, names in named:
        keys = [typed_key(name) for name in (value, *names.split("\n")) if name]
        rank = min((_rank(key, one) for one in keys), default=3)
        if value and rank < 3:
            ranked[value] = min(rank, ranked.get(value, rank))
    # Sorting is stable: within a rank, documents and places keep their own order.
    return sorted(ranked, key=ranked.__getitem__)


def _rank(key: str, name: str) -> int:
    if name.startswith(key):
        return 0
    return 1 if f" {key}" in name or f"/{key}" in name else 2 if key in name else 3
