"""Ask: what a term means, and what leads to and from a section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pinakes.errors import NotFoundError, UsageError
from pinakes.model import (
    Citation,
    DefineResponse,
    Reference,
    ReferencesResponse,
    TermDefinition,
    line_of,
)
from pinakes.port.index import SearchIndex
from pinakes.port.rows import Standing
from pinakes.search.links.define import Dictionary
from pinakes.search.links.navigate import find_documents
from pinakes.search.links.read import find_place, section_view
from pinakes.search.links.reference_graph import ReferenceGraph
from pinakes.search.present.located import located
from pinakes.search.query.names import NameIndex
from pinakes.search.query.understand import clean_text
from pinakes.text.terms import term_keys, term_words

_MAX_TERM = 200
_END = 1 << 30


def define(index: SearchIndex, term: str, document: str | None) -> DefineResponse:
    """Return the definitions of a term, each with the documents that define it differently."""
    wanted = clean_text(term).strip("\"'“”‘’«»„ ")
    if not wanted or len(wanted) > _MAX_TERM:
        raise UsageError(f"Give a term to define, of at most {_MAX_TERM} characters.")
    within = find_documents(index.names, document) if document else None
    paths = None if within is None else {entry.source_path for entry in within}
    keys = {" ".join(words) for words in term_keys(wanted)}
    known = Dictionary(index.terms.by_keys(keys, paths=paths or ())).lookup(wanted)
    shown = [item for item in known if paths is None or item.definition.source_path in paths]
    places = located([item.definition for item in shown], index)
    found = [
        TermDefinition(
            definition, item.document_title, [conflict.document_title for conflict in item.conflicts]
        )
        for definition, item in zip(places, shown, strict=True)
    ]
    if paths is not None and not found and known:
        titles = ", ".join(dict.fromkeys(item.document_title for item in known))
        raise NotFoundError(f"{document} does not define {wanted!r}; it is defined in: {titles}.")
    near = [] if found else Dictionary(index.terms.like(term_words(wanted))).near(wanted)
    if not found and not near:
        raise NotFoundError(f"No document defines {wanted!r}.")
    return DefineResponse(wanted, found, near)


def references(index: SearchIndex, reference: str, document: str | None) -> ReferencesResponse:
    """Return what a place refers to, and what refers to it or to a part of it."""
    found, exact = find_place(index, reference, document, NameIndex(index.names))
    first = found[0]
    view = section_view(index, first, exact=exact, alternatives=found[1:])
    place = first.place
    graph = ReferenceGraph(index)
    cites = [
        (first.document, first.source_path, first.document_title, item)
        for item in graph.in_span(first.document, place.start, place.end)
    ]
    below = [
        one for one in index.lookup.places_of_document(first.document) if place.start <= one.start < place.end
    ]
    cited_by = [
        (entry.id, entry.source_path, entry.title, item)
        for entry, item in graph.leading_to(first.document, below)
        if not (entry.id == first.document and place.start <= item.start < place.end)
    ]
    return ReferencesResponse(view, _standing(index, cites), _standing(index, cited_by))


def _standing(index: SearchIndex, found: Sequence[tuple[int, str, str, Reference]]) -> list[Citation]:
    """Say where references stand: label and heading of the innermost place that holds each, and its line."""
    offsets = [(document, item.start) for document, _, _, item in found]
    places = index.lookup.standing(offsets)
    # Those of one document come together, and each text is read once.
    text = lru_cache(maxsize=1)(lambda document: index.lookup.document_text(document, 0, _END))
    starts = lru_cache(maxsize=1)(index.lookup.line_starts)
    citations = []
    for document, path, title, item in found:
        at = places.get((document, item.start)) or Standing("", "", "", "", 0, 1)
        before = text(document)[at.start : item.start]
        line = line_of(starts(document), before, at.start, at.line, item.start)
        citations.append(Citation(path, title, at.label, at.heading, line, item))
    return citations
