"""Ask: what a term means, and what leads to and from a section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pinakes.errors import NotFoundError, UsageError
from pinakes.model import (
    Citation,
    DefineResponse,
    Place,
    Reference,
    ReferencesResponse,
    TermDefinition,
    line_of,
)
from pinakes.model.place import innermost
from pinakes.search.citations import Citations
from pinakes.search.corpus import Corpus
from pinakes.search.located import located
from pinakes.search.navigate import find_documents
from pinakes.search.read import find_place, section_view
from pinakes.search.understand import clean_text
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.lookup import Lookup

_MAX_TERM = 200


def define(index: EmbeddedIndex, corpus: Corpus, term: str, document: str | None) -> DefineResponse:
    """Return the definitions of a term, each with the documents that define it differently."""
    wanted = clean_text(term).strip("\"'“”‘’«»„ ")
    if not wanted or len(wanted) > _MAX_TERM:
        raise UsageError(f"Give a term to define, of at most {_MAX_TERM} characters.")
    paths = {row["source_path"] for row in find_documents(index, document)} if document else None
    known = corpus.definitions.lookup(wanted)
    shown = [item for item in known if paths is None or item.definition.source_path in paths]
    places = located([item.definition for item in shown], corpus, index.reading)
    found = [
        TermDefinition(
            definition, item.document_title, [conflict.document_title for conflict in item.conflicts]
        )
        for definition, item in zip(places, shown, strict=True)
    ]
    if paths is not None and not found and known:
        titles = ", ".join(dict.fromkeys(item.document_title for item in known))
        raise NotFoundError(f"{document} does not define {wanted!r}; it is defined in: {titles}.")
    near = corpus.definitions.near(wanted) if not found else []
    if not found and not near:
        raise NotFoundError(f"No document defines {wanted!r}.")
    return DefineResponse(wanted, found, near)


def references(
    index: EmbeddedIndex, corpus: Corpus, reference: str, document: str | None
) -> ReferencesResponse:
    """Return what a place refers to, and what refers to it or to a part of it."""
    found, exact = find_place(index, reference, document, corpus.names)
    first = found[0]
    view = section_view(index, first, exact=exact, alternatives=found[1:])
    place = first.place
    citations = Citations(index.lookup, corpus)
    tree = lru_cache(maxsize=None)(index.lookup.places_of_document)

    def citation(document: int, path: str, title: str, item: Reference) -> Citation:
        return Citation(path, title, *_standing(index.lookup, document, tree(document), item.start), item)

    cites = [
        citation(first.document, first.source_path, first.document_title, item)
        for item in citations.in_span(first.document, first.source_path, place.start, place.end)
    ]
    below = [one for one in tree(first.document) if place.start <= one.start < place.end]
    ids = [one.section_id for one in below if one.section_id]
    cited_by = [
        citation(entry.id, entry.source_path, entry.title, item)
        for entry, item in citations.to_places(first.document, first.source_path, ids)
        if not (entry.id == first.document and place.start <= item.start < place.end)
    ]
    return ReferencesResponse(view, cites, cited_by)


def _standing(lookup: Lookup, document: int, places: Sequence[Place], offset: int) -> tuple[str, str, int]:
    """Return label and heading of the innermost place that holds an offset, and its line."""
    at = innermost(places, offset)
    heading = next((place.heading for place in places if at and place.ordinal == at.section), "")
    start, line = (at.start, at.lines.first) if at else (0, 1)
    starts, before = lookup.line_starts(document), lookup.document_text(document, start, offset)
    return at.label if at else "", heading, line_of(starts, before, start, line, offset)
