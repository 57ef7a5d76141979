"""Ask: what a term means, and what leads to and from a section."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.errors import NotFoundError, UsageError
from pinakes.model import (
    Citation,
    Clause,
    DefineResponse,
    Reference,
    ReferencesResponse,
    Section,
    TermDefinition,
    line_of,
)
from pinakes.search.citations import Citations
from pinakes.search.corpus import Corpus
from pinakes.search.located import located
from pinakes.search.navigate import find_documents
from pinakes.search.read import find_place, section_view
from pinakes.search.understand import clean_text
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.lookup import Lookup, StoredClause
from pinakes.stores.embedded.reading_lookup import ReadingLookup

_MAX_TERM = 200


def define(index: EmbeddedIndex, corpus: Corpus, term: str, document: str | None) -> DefineResponse:
    """Return the definitions of a term, each with the documents that define it differently."""
    wanted = clean_text(term).strip("\"'“”‘’«»„ ")
    if not wanted or len(wanted) > _MAX_TERM:
        raise UsageError(f"Give a term to define, of at most {_MAX_TERM} characters.")
    paths = {row["source_path"] for row in find_documents(index, document)} if document else None
    known = corpus.definitions.lookup(wanted)
    shown = [item for item in known if paths is None or item.definition.source_path in paths]
    places = located([item.definition for item in shown], corpus, ReadingLookup(index.database))
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
    """Return what a section or clause refers to, and what refers to it or to a part of it."""
    found, exact = find_place(index, reference, document, corpus.names)
    first = found[0]
    view = section_view(index, first, exact=exact, alternatives=found[1:])
    place = first.clause if isinstance(first, StoredClause) else first.section
    citations = Citations(index.lookup, corpus)
    cites = [
        _citation(index.lookup, first.document, first.source_path, first.document_title, item)
        for item in citations.in_span(first.document, first.source_path, place.start, place.end)
    ]
    ids = [place.section_id, *_ids_below(index.lookup, first.document, place.start, place.end)]
    cited_by = [
        _citation(index.lookup, entry.id, entry.source_path, entry.title, item)
        for entry, item in citations.to_places(first.document, first.source_path, ids)
        if not (entry.id == first.document and place.start <= item.start < place.end)
    ]
    return ReferencesResponse(view, cites, cited_by)


def _ids_below(lookup: Lookup, document: int, start: int, end: int) -> list[str]:
    places: list[Section | Clause] = [stored.section for stored in lookup.sections_of_document(document)]
    places += [stored.clause for stored in lookup.clauses_of_document(document)]
    return [place.section_id for place in places if start <= place.start < end and place.section_id]


def _citation(lookup: Lookup, document: int, path: str, title: str, item: Reference) -> Citation:
    label, heading, line = _standing(lookup, document, item.start)
    return Citation(path, title, label, heading, line, item)


def _standing(lookup: Lookup, document: int, offset: int) -> tuple[str, str, int]:
    """Return label and heading of the innermost place that holds an offset, and its line."""
    sections = [s.section for s in lookup.sections_of_document(document) if s.section.start <= offset]
    holder = max(sections, key=lambda section: section.start, default=None)
    clauses: Sequence[Clause] = [
        s.clause for s in lookup.clauses_of_document(document) if s.clause.start <= offset < s.clause.end
    ]
    inner = max(clauses, key=lambda clause: clause.depth, default=None)
    label = inner.label if inner else holder.label if holder else ""
    start, line = 0, 1
    if inner or holder:
        at = inner or holder
        assert at is not None
        start, line = at.start, at.lines.first
    return (
        label,
        holder.heading if holder else "",
        line_of(
            lookup.line_starts(document),
            lookup.document_text(document, start, offset),
            start,
            line,
            offset,
        ),
    )
