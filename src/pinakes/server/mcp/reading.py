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
    from pinakes.server.desk import Desk
    from pinakes.server.shelf import Shelf

T = TypeVar("T")


def first_that_knows(
    desk: Desk, tool: str | None, question: Callable[[Shelf], T], empty: Callable[[T], bool] = lambda _: False
) -> tuple[Shelf, T]:
    """Ask one library after the other until one has an answer; return which, and the answer."""
    refusals: list[NotFoundError] = []
    nothing: list[tuple[Shelf, T]] = []
    for shelf in desk.choose(tool):
        try:
            found = question(shelf)
        except NotFoundError as error:
            refusals.append(error)
            continue
        if not empty(found):
            return shelf, found
        nothing.append((shelf, found))
    if nothing:
        return nothing[0]
    raise refusals[0]


def read_section(desk: Desk, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return a section's text, as much as fits, from ``offset`` on."""
    reference, document = arguments["reference"], arguments.get("document")
    offset = arguments.get("offset") or 0
    shelf, view = first_that_knows(desk, tool, lambda shelf: shelf.section(reference, document))
    budget = desk.budget(arguments.get("token_budget"), shelf)
    shown = section_text(view, offset, budget, tokens_of(shelf))
    data = lean(shown.view) | {"location": view.location, "text": shown.view.text}
    data["truncated"] = shown.next_offset is not None
    data |= {"offset": offset} if offset else {}
    data |= {"next_offset": shown.next_offset} if shown.next_offset is not None else {}
    data |= {"tool": shelf.name} if desk.several else {}
    return Answer(
        shown.text, fit_by(data, budget, without("chunk_ids"), without("children"), without("alternatives"))
    )


def define_term(desk: Desk, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return what the documents say a term means."""
    term, document = arguments["term"], arguments.get("document")
    shelf, found = first_that_knows(
        desk,
        tool,
        lambda shelf: shelf.define(term, document),
        empty=lambda response: not response.definitions,
    )
    budget = desk.budget(arguments.get("token_budget"), shelf)
    text = format_definition(found, budget, tokens_of(shelf).count)
    data = lean(found) | {"definitions": lean(found.definitions), "conflict": found.conflict}
    data |= {"tool": shelf.name} if desk.several else {}
    return Answer(text, fit_items(data, "definitions", budget, ("near",)))


def follow_references(desk: Desk, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return what a section refers to, and what refers to it."""
    reference, document = arguments["reference"], arguments.get("document")
    shelf, found = first_that_knows(desk, tool, lambda shelf: shelf.references(reference, document))
    budget = desk.budget(arguments.get("token_budget"), shelf)
    lines = [f"refers to ({len(found.cites)}):", *map(cites_line, found.cites)]
    lines += [f"is referred to by ({len(found.cited_by)}):", *map(cited_by_line, found.cited_by)]
    fitted = fit_quoted(
        tokens_of(shelf),
        budget,
        "What a section refers to, and what refers to it.",
        [*section_lines(found.section), *lines],
    )
    bare = replace(found.section, text="", children=[], chunk_ids=[])
    data = {"section": lean(bare), "cites": lean(found.cites), "cited_by": lean(found.cited_by)}
    data |= {"truncated": False} | ({"tool": shelf.name} if desk.several else {})
    for name in ("cited_by", "cites"):
        data = fit_items(data, name, budget)
    return Answer(fitted.text, data)
