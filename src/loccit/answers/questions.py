"""Questions that are not searches: definitions, outlines, documents, texts of places, suggestions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from itertools import chain
from typing import Any

from loccit.answers.find_places import find_documents
from loccit.errors import NotFoundError, UsageError
from loccit.grammar.labels.document_keys import numbered_file
from loccit.grammar.text.keys import term_keys, term_words, typed_key
from loccit.index.port.index import SearchIndex
from loccit.index.port.names import Entry, SuggestionLookup
from loccit.index.port.records import Row, StoredPlace
from loccit.model import (
    DefineResponse,
    DocumentInfo,
    Outline,
    OutlineNode,
    Place,
    SectionView,
    SelfCheck,
    TermDefinition,
    chunk_id,
)
from loccit.model.document import holds_any, span
from loccit.model.place_ids import with_place_id
from loccit.model.views import NumberedLine
from loccit.search.present.enrich import located
from loccit.search.present.lead_in import lead_in
from loccit.search.resolve.define import DefinedTerm, Dictionary
from loccit.search.resolve.reference_graph import ReferenceGraph
from loccit.search.understand.filters import compile_filters
from loccit.search.understand.query import clean_text


def list_documents(index: SearchIndex, filters: Mapping[str, object] | None) -> list[DocumentInfo]:
    """Return the documents that pass the filters, by path."""
    rows = index.lookup.documents()
    allowed = allowed_documents(index, filters) if filters else None
    checks = index.lookup.self_checks()
    return [
        _info(row, checks.get(row["id"], SelfCheck()))
        for row in rows
        if allowed is None or row["id"] in allowed
    ]


def allowed_documents(index: SearchIndex, filters: Mapping[str, object]) -> set[int]:
    """Return the documents that pass; with a code filter, those with code in that language."""
    compiled = compile_filters([filters], spoken=index.lookup.languages)
    allowed = set(index.fields.matching(compiled.documents))
    for test in compiled.code:
        allowed &= index.keyword.documents_with_code(test.languages)
    return allowed


def _info(row: Row, check: SelfCheck) -> DocumentInfo:
    pages = json.loads(row["pages"])
    mtime = row["mtime_ns"] / 1e9
    modified = datetime.fromtimestamp(mtime, tz=timezone.utc)
    return DocumentInfo(
        source_path=row["source_path"],
        title=row["title"],
        file_type=row["file_type"],
        language=row["language"],
        doc_summary=row["doc_summary"],
        total_chunks=row["total_chunks"],
        pages=pages[-1][1] if pages else 0,
        size=row["size"],
        modified=modified.isoformat(timespec="seconds"),
        ingested_at=row["ingested_at"],
        metadata=json.loads(row["metadata"]),
        warnings=json.loads(row["warnings"]),
        self_check=check,
        mtime=mtime,
    )


def outlines(index: SearchIndex, document: str | None, *, clauses: bool) -> list[Outline]:
    """Return the outlines of the documents that ``document`` names, or of all: headings, and clauses if wanted."""
    entries = index.names.first() if document is None else find_documents(index, document)
    checks = index.lookup.self_checks([entry.id for entry in entries])
    return [
        Outline(
            entry.source_path,
            entry.title,
            tree(places, 0),
            checks.get(entry.id, SelfCheck()),
            places[0].place_id if places else "",
        )
        for entry in entries
        for places in [index.lookup.places_of_document(entry.id, clauses=clauses)]
    ]


def tree(places: Iterable[Place], root: int) -> list[OutlineNode]:
    """Return the nodes below one of the places of a document, given in text order."""
    top: list[OutlineNode] = []
    children: dict[int | None, list[OutlineNode]] = {root: top}
    for place in places:
        siblings = children.get(place.parent)
        if siblings is not None and place.ordinal != root:
            name = place.heading or place.marker
            node = OutlineNode(name, place.label, place.section_id, place.level, place.lines, place.pages)
            node.place_id = place.place_id
            siblings.append(node)
            children[place.ordinal] = node.children
    return top


# -- read: a place or a whole document, by name --------------------------------------------------------------


_MAX_ALTERNATIVES = 20


def whole_document(index: SearchIndex, name: str) -> SectionView:
    """Return a named document as one section, with its top-level sections as children."""
    found, *others = find_documents(index, name)
    if others:
        paths = ", ".join(entry.source_path for entry in (found, *others))
        raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
    root = index.lookup.place(found.id, 0)
    if root is None:
        raise NotFoundError(f"{name!r} was removed from the library.")
    return section_view(index, root)


def section_view(
    index: SearchIndex,
    found: StoredPlace,
    *,
    exact: bool = True,
    alternatives: Sequence[StoredPlace] = (),
    places: Sequence[Place] | None = None,
    lines: Sequence[NumberedLine] = (),
) -> SectionView:
    """Return a place with its text; a clause has the heading and path of the section it is in.

    ``places`` are those of its document, if already read.
    """
    place = found.place
    chunks = index.lookup.chunk_indexes_between(found.document, place.start, place.end)
    holder = found if place.is_heading else index.lookup.place(found.document, place.section)
    chain = list(holder.place.path) if holder else []
    # Headings below, and the section's own clauses.
    around = [
        other
        for other in (index.lookup.places_of_document(found.document) if places is None else places)
        if other.is_heading or other.section == place.section
    ]
    return SectionView(
        source_path=found.source_path,
        document_title=found.document_title,
        section_id=place.section_id,
        section_label=place.label,
        heading=holder.place.heading if holder else "",
        heading_level=place.level,
        parent_chain=chain if place.is_heading else [*chain, place.label],
        text=index.lookup.document_text(found.document, place.start, place.end).strip(),
        lines=place.lines,
        pages=place.pages,
        children=tree(around, place.ordinal),
        chunk_ids=[chunk_id(found.source_path, number) for number in chunks],
        exact=exact,
        alternatives=[
            f"{other.source_path}#{other.place.section_id}" for other in alternatives[:_MAX_ALTERNATIVES]
        ],
        from_image=bool(place.pages)
        and holds_any(index.lookup.image_pages([found.source_path]).get(found.source_path), place.pages),
        uncertain=any(check.doubtful for check in index.lookup.self_checks([found.document]).values()),
        place_id=place.place_id,
        numbered_lines=list(lines),
        lead_in=lead_in(index.lookup, found.document, place, around),
    )


# -- ask: what a term means, and references from and to a section --------------------------------------------


_END = 1 << 30
# For definitions in other documents than the one asked about: how many are named, and how much of one is
# quoted.
_MOST_ELSEWHERE, _LONGEST_ELSEWHERE = 3, 280


def define(index: SearchIndex, term: str, document: str | None) -> DefineResponse:
    """Return the definitions of a term, each with the documents that define it differently."""
    wanted = clean_text(term).strip("\"'“”‘’«»„ ")
    if not wanted:
        raise UsageError("Give a term to define.")
    within = find_documents(index, document) if document else None
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
    if within is not None and not found and known:
        raise NotFoundError(
            f"{document} does not define {wanted!r}. {_defined_elsewhere(index, known, within)}"
        )
    near = [] if found else Dictionary(index.terms.like(term_words(wanted))).near(wanted)
    if not found and not near:
        raise NotFoundError(f"No document defines {wanted!r}. {index.missing}".rstrip(), "term")
    return DefineResponse(wanted, found, near)


def _defined_elsewhere(index: SearchIndex, known: Sequence[DefinedTerm], within: Sequence[Entry]) -> str:
    """Say where a term is defined, and how, if that is in the same work or in a document that is referred to.

    Definitions in unrelated documents do not apply, so these are only named.
    """
    graph = ReferenceGraph(index)
    named = {path for entry in within for path in graph.documents_named(entry.id)}
    works = {_work_of(entry.source_path, entry.title) for entry in within} - {None}

    def bearing(item: DefinedTerm) -> str:
        if _work_of(item.definition.source_path, item.document_title) in works:
            return "a part of the same work"
        return "to which it refers" if item.definition.source_path in named else ""

    ordered = sorted(known, key=lambda item: not bearing(item))
    places = located([item.definition for item in ordered[:_MOST_ELSEWHERE]], index)
    said = []
    for item, definition in zip(ordered, places, strict=False):
        where = span(definition.lines, definition.pages, definition.source_path)
        place = with_place_id(f"{item.document_title} ({where})", definition.place_id)
        if why := bearing(item):
            text = " ".join(definition.definition_text.split())
            cut = (
                text
                if len(text) <= _LONGEST_ELSEWHERE
                else f"{text[:_LONGEST_ELSEWHERE].rpartition(' ')[0]} …"
            )
            said.append(f"{place}, {why}, defines {definition.term}: {cut}")
        else:
            said.append(f"{place} defines {definition.term} for itself.")
    if more := len(ordered) - len(places):
        said.append(f"{more} more define it.")
    return " ".join(said)


def _work_of(path: str, title: str) -> int | None:
    """Return the folder of a work in numbered files, given one of the files."""
    numbered = numbered_file(path, title)
    return numbered.folder if numbered else None


# -- suggest: titles, labels, headings and defined terms that complete what is typed -------------------------


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to search for or to open: ``kind`` is ``title``, ``label`` or ``term``."""

    text: str
    kind: str
    source_path: str
    section_id: str
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON values."""
        return asdict(self)


def suggest(
    lookup: SuggestionLookup, prefix: str, limit: int, paths: Collection[str] | None = None
) -> list[Suggestion]:
    """Return the best suggestions, only from the documents at ``paths`` if given.

    Those that begin with the prefix come first, then those with a word that does, then those that contain it anywhere.
    """
    key = typed_key(prefix)
    if not key or limit < 1:
        return []
    allowed = None if paths is None else paths.__contains__
    found: dict[tuple[str, str], Suggestion] = {}
    for row in chain(
        lookup.beginning(key, allowed),
        lookup.beginning(key, allowed, later_words=True),
        lookup.holding(key, allowed) if len(key) > 2 else (),
    ):
        # The same words in many documents are one suggestion, unless a place is meant.
        found.setdefault((row.text.casefold(), row.kind), Suggestion(*row))
        if len(found) == limit:
            break
    return list(found.values())
