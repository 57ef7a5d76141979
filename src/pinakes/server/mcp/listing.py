"""The tools that list: outlines, documents, the state of the index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pinakes.errors import NotFoundError
from pinakes.model import DocumentInfo, Outline, OutlineNode
from pinakes.server.mcp.answer import Answer, tokens_of
from pinakes.server.mcp.fit import Tokens, fit_quoted
from pinakes.server.mcp.render import (
    document_line,
    outline_depth,
    outline_head,
    outline_lines,
    status_text,
)
from pinakes.server.mcp.structure import fit_items, lean, size

if TYPE_CHECKING:
    from pinakes.server.registry import LibraryRegistry

_DISPENSABLE = ("doc_summary", "metadata", "warnings", "ingested_at", "modified", "size")


def list_outline(registry: LibraryRegistry, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return the headings of one document, or of all; as deep as fits, unless a depth is given."""
    document, clauses = arguments.get("document"), bool(arguments.get("clauses"))
    found: list[Outline] = []
    refusals: list[NotFoundError] = []
    for service in registry.choose(tool):
        with collecting(refusals):
            found += service.ask(lambda library: library.outline(document, clauses=clauses))
    if refusals and not found:
        raise refusals[0]
    service = registry.choose(tool)[0]
    budget = registry.budget(arguments.get("token_budget"), service if not registry.several else None)
    text = _outlines_text(found, arguments.get("depth"), budget, tokens_of(service))
    return Answer(text, _outlines_data(found, arguments.get("depth"), budget))


@contextmanager
def collecting(refusals: list[NotFoundError]) -> Iterator[None]:
    """Keep a refusal for later: another library may know better."""
    try:
        yield
    except NotFoundError as error:
        refusals.append(error)


def _outlines_text(found: list[Outline], depth: int | None, budget: int, tokens: Tokens) -> str:
    if not found:
        return "The library has no documents yet."
    deepest = depth or max(outline_depth(outline.nodes) for outline in found)
    shown = deepest
    while True:
        head = f"Outline of {len(found)} document{'' if len(found) == 1 else 's'}; section ids in brackets."
        if shown < deepest:
            head += f" Cut to fit the token budget: {shown} of {deepest} levels shown."
        fitted = fit_quoted(
            tokens,
            budget,
            head,
            _lines(found, shown),
            when_cut="Cut to fit the token budget: {kept} of {total} lines shown.",
        )
        # Cut from below first: a shallow outline of everything says more than a deep one of the beginning.
        if fitted.complete or shown <= 1:
            return fitted.text
        shown -= 1


def _lines(found: list[Outline], depth: int) -> list[str]:
    return [
        line
        for outline in found
        for line in (
            outline_head(outline),
            *(outline_lines(outline.nodes, outline.source_path, depth) if depth else ()),
        )
    ]


def _outlines_data(found: list[Outline], depth: int | None, budget: int) -> dict[str, Any]:
    deepest = depth or max((outline_depth(outline.nodes) for outline in found), default=0)
    cut = False
    while True:
        outlines = [replace(outline, nodes=_down_to(outline.nodes, deepest)) for outline in found]
        data = {"outlines": lean(outlines), "total": len(found), "truncated": cut}
        if deepest == 0 or size(data) <= budget:
            return fit_items(data, "outlines", budget)
        deepest, cut = deepest - 1, True


def _down_to(nodes: list[OutlineNode], depth: int) -> list[OutlineNode]:
    if depth <= 0:
        return []
    return [replace(node, children=_down_to(node.children, depth - 1)) for node in nodes]


def list_documents(registry: LibraryRegistry, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return the documents, from ``offset`` on, as many as fit."""
    filters, offset = arguments.get("filters"), arguments.get("offset") or 0
    services = registry.choose(tool)
    found: list[DocumentInfo] = [
        info for service in services for info in service.ask(lambda library: library.documents(filters))
    ]
    budget = registry.budget(arguments.get("token_budget"), services[0] if not registry.several else None)
    rest = found[offset:]
    fitted = fit_quoted(
        tokens_of(services[0]),
        budget,
        f"{len(found)} document{'' if len(found) == 1 else 's'}{f', from number {offset + 1}' if offset else ''}.",
        [document_line(info) for info in rest],
        when_cut="Cut to fit the token budget: {kept} shown. For the next ones add that to offset.",
    )
    data: dict[str, Any] = {"documents": lean(rest[: fitted.kept]), "total": len(found)}
    data = fit_items(data | {"truncated": not fitted.complete}, "documents", budget, _DISPENSABLE)
    if data["truncated"]:
        data["next_offset"] = offset + len(data["documents"])
    return Answer(fitted.text, data)


def index_status(registry: LibraryRegistry, tool: str | None, arguments: dict[str, Any]) -> Answer:
    """Return what each index holds and how it is."""
    services = registry.choose(tool)
    states = [(service, service.ask(lambda library: library.status())) for service in services]
    budget = registry.budget(arguments.get("token_budget"), services[0] if not registry.several else None)
    lines = [
        line
        for service, state in states
        for line in status_text(state, service.name if registry.several else "").splitlines()
    ]
    fitted = fit_quoted(tokens_of(services[0]), budget, "State of the index.", lines)
    # The settings are the caller's own; they are in `pinakes status --json`.
    data = {"indexes": [lean(replace(state, settings={})) for _, state in states], "truncated": False}
    return Answer(fitted.text, fit_items(data, "indexes", budget, ("failures", "roots")))
