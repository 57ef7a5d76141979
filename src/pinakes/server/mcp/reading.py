"""The tools that read and look up: sections, terms, references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.errors import NotFoundError
from pinakes.server.mcp.answer import Answer, tokens_of
from pinakes.server.mcp.fit import fit_quoted
from pinakes.server.mcp.render import cited_by_line, cites_line, section_lines
from pinakes.server.mcp.section import section_text
from pinakes.server.mcp.structure import fit_by, fit_items, lean, without
from pinakes.tools.format import format_definition

if TYPE_CHECKING:
    from pinakes.library import Library
    from pinakes.server.registry import LibraryRegistry
    from pinakes.server.services import LibraryService

T = TypeVar("T")


def first_that_knows(
    registry: LibraryRegistry,
    tool: str | None,
    question: Callable[[Library], T],
    empty: Callable[[T], bool] = lambda _: False,
) -> tuple[LibraryService, T]:
    """Ask one library after the other until one has an answer; return which, and the answer."""
    refusals: list[NotFoundError] = []
    nothing: list[tuple[LibraryService, T]] = []
    for service in registry.choose(tool):
        try:
            found = service.ask(question)
        except NotFoundError as error:
            refusals.append(error)
            continue
        if not empty(found):
            return service, found
        nothing.append((service, found))
    if nothing:
        return nothing[0]
    raise refusals[0]


def read_section(registry: LibraryRegistry, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return a section's text, as much as fits, from ``offset`` on."""
    reference, document = arguments["reference"], arguments.get("document")
    offset = arguments.get("offset") or 0
    service, view = first_that_knows(
        registry, tool, lambda library: library.section(reference, document=document)
    )
    budget = registry.budget(arguments.get("token_budget"), service)
    shown = section_text(view, offset, budget, tokens_of(service))
    data = lean(shown.view) | {"location": view.location, "text": shown.view.text}
    data["truncated"] = shown.next_offset is not None
    data |= {"offset": offset} if offset else {}
    data |= {"next_offset": shown.next_offset} if shown.next_offset is not None else {}
    data |= {"tool": service.name} if registry.several else {}
    return Answer(
        shown.text, fit_by(data, budget, without("chunk_ids"), without("children"), without("alternatives"))
    )


def define_term(registry: LibraryRegistry, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return what the documents say a term means."""
    term, document = arguments["term"], arguments.get("document")
    service, found = first_that_knows(
        registry,
        tool,
        lambda library: library.define(term, document=document),
        empty=lambda response: not response.definitions,
    )
    budget = registry.budget(arguments.get("token_budget"), service)
    text = format_definition(found, budget, tokens_of(service).count)
    data = lean(found) | {"definitions": lean(found.definitions), "conflict": found.conflict}
    data |= {"tool": service.name} if registry.several else {}
    return Answer(text, fit_items(data, "definitions", budget, ("near",)))


def follow_references(registry: LibraryRegistry, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return what a section refers to, and what refers to it."""
    reference, document = arguments["reference"], arguments.get("document")
    service, found = first_that_knows(
        registry, tool, lambda library: library.references(reference, document=document)
    )
    budget = registry.budget(arguments.get("token_budget"), service)
    lines = [f"refers to ({len(found.cites)}):", *map(cites_line, found.cites)]
    lines += [f"is referred to by ({len(found.cited_by)}):", *map(cited_by_line, found.cited_by)]
    fitted = fit_quoted(
        tokens_of(service),
        budget,
        "What a section refers to, and what refers to it.",
        [*section_lines(found.section), *lines],
    )
    bare = replace(found.section, text="", children=[], chunk_ids=[])
    data = {"section": lean(bare), "cites": lean(found.cites), "cited_by": lean(found.cited_by)}
    data |= {"truncated": False} | ({"tool": service.name} if registry.several else {})
    for name in ("cited_by", "cites"):
        data = fit_items(data, name, budget)
    return Answer(fitted.text, data)
