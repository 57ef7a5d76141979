"""Reading: one document with everything that a reader shows of it, in one go."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any

from pinakes.errors import NotFoundError
from pinakes.model import Clause, Lines, Pages, Reference, Section
from pinakes.search.corpus import Corpus
from pinakes.search.map import LinkMap, WholeLibrary
from pinakes.search.term_places import TermPlace, term_places
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.reading_lookup import ClausePlaces, ReadingLookup


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section; offsets are into the text of its document. ``parent`` is an id, empty at the top."""

    section_id: str
    label: str
    title: str
    heading: str
    level: int
    parent: str
    start: int
    body: int
    end: int
    lines: Lines
    pages: Pages | None


@dataclass(frozen=True, slots=True)
class ReadClause:
    """A clause of a section."""

    section_id: str
    label: str
    marker: str
    depth: int
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadReference:
    """A reference where it stands, and the place it means; ``target_path`` is empty when that is not known."""

    start: int
    end: int
    text: str
    kind: str
    target_path: str
    target_section: str
    target_label: str
    reason: str


@dataclass(frozen=True, slots=True)
class BackReference:
    """A reference elsewhere that leads to this document."""

    from_path: str
    from_section: str
    from_label: str
    text: str
    target_section: str


@dataclass(frozen=True, slots=True)
class ReadLink:
    """A link as it is written, and the document of the library that it leads to, if any."""

    start: int
    end: int
    text: str
    target: str
    kind: str
    target_path: str


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as a reader needs it. ``pages`` says where each page begins, page 1 first."""

    source_path: str
    title: str
    file_type: str
    language: str
    metadata: dict[str, Any]
    text: str
    body_start: int
    pages: list[int] = field(default_factory=list)
    sections: list[ReadSection] = field(default_factory=list)
    clauses: list[ReadClause] = field(default_factory=list)
    references: list[ReadReference] = field(default_factory=list)
    back_references: list[BackReference] = field(default_factory=list)
    terms: list[TermPlace] = field(default_factory=list)
    links: list[ReadLink] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON values."""
        # Not by ``asdict``, which copies every one of many thousand values once more.
        lists = ("sections", "clauses", "references", "back_references", "terms", "links")
        data = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**data, **{name: [_plain(item) for item in data[name]] for name in lists}}


def _plain(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__slots__}


def read_document(index: EmbeddedIndex, corpus: Corpus, links: LinkMap, path: str) -> DocumentView:
    """Return the document at a path."""
    lookup = ReadingLookup(index.database)
    row = lookup.document(path)
    if row is None:
        raise NotFoundError("This document was removed from the library.")
    number, text = int(row["id"]), str(row["text"])
    sections = [stored.section for stored in index.lookup.sections_of_document(number)]
    clauses = [stored.clause for stored in index.lookup.clauses_of_document(number)]
    references = _references(index, corpus, lookup, number, path, len(text))
    return DocumentView(
        source_path=path,
        title=row["title"],
        file_type=row["file_type"],
        language=row["language"],
        metadata=json.loads(row["metadata"]),
        text=text,
        body_start=row["body_start"],
        pages=_page_offsets(json.loads(row["pages"])),
        sections=_sections(sections),
        clauses=[_clause(clause) for clause in clauses],
        references=references,
        back_references=_back_references(lookup, corpus, links, path),
        terms=term_places(
            text,
            corpus.definitions,
            path,
            {item.target_path for item in references},
            sections,
            row["body_start"],
        ),
        links=_links(corpus, lookup, number, path),
    )


def _sections(sections: list[Section]) -> list[ReadSection]:
    ids = {section.ordinal: section.section_id for section in sections}
    return [
        ReadSection(
            section.section_id,
            section.label,
            section.title,
            section.heading,
            section.level,
            ids.get(section.parent, "") if section.parent is not None else "",
            section.start,
            section.body,
            section.end,
            section.lines,
            section.pages,
        )
        for section in sections
        if section.ordinal > 0
    ]


def _clause(clause: Clause) -> ReadClause:
    return ReadClause(
        clause.section_id, clause.label, clause.marker, clause.depth, clause.start, clause.body, clause.end
    )


def _references(
    index: EmbeddedIndex, corpus: Corpus, lookup: ReadingLookup, document: int, path: str, length: int
) -> list[ReadReference]:
    found = index.lookup.references_between(document, 0, length + 1)
    citations = WholeLibrary(index, corpus)
    citations.preload(found)
    resolved = [citations.resolve_once(document, path, reference) for reference in found]
    labels = _labels(corpus, lookup, resolved)
    return [
        ReadReference(
            item.start,
            item.end,
            item.text,
            item.kind,
            item.target_path,
            item.target_section,
            labels.get((item.target_path, item.target_section), ""),
            item.reason,
        )
        for item in resolved
    ]


def _labels(corpus: Corpus, lookup: ReadingLookup, references: list[Reference]) -> dict[tuple[str, str], str]:
    wanted: dict[str, set[str]] = {}
    for reference in references:
        if reference.target_path and reference.target_section:
            wanted.setdefault(reference.target_path, set()).add(reference.target_section)
    return {
        (path, section): label
        for path, ids in wanted.items()
        if (entry := corpus.by_path(path)) is not None
        for section, label in lookup.labels(entry.id, ids).items()
    }


def _back_references(lookup: ReadingLookup, corpus: Corpus, links: LinkMap, path: str) -> list[BackReference]:
    found = []
    clauses: dict[int, ClausePlaces] = {}
    for link in links.inward(path):
        entry = corpus.by_path(link.from_path)
        if entry is None:
            # Removed since the map was made.
            continue
        if entry.id not in clauses:
            clauses[entry.id] = lookup.clauses(entry.id)
        section, label = clauses[entry.id].at(link.start) or (link.from_section, link.from_label)
        found.append(BackReference(link.from_path, section, label, link.text, link.to_section))
    return found


def _links(corpus: Corpus, lookup: ReadingLookup, document: int, path: str) -> list[ReadLink]:
    found = []
    for link in lookup.links(document):
        target = corpus.targets.find("link" if link.kind == "link" else "wiki", link.target, path)
        to = target[0].source_path if target else ""
        found.append(ReadLink(link.start, link.end, link.text, link.target, link.kind, to))
    return found


def _page_offsets(pages: list[tuple[int, int]]) -> list[int]:
    """Return where each page begins; a page without text begins where the next one does."""
    offsets: list[int] = []
    for offset, page in pages:
        offsets += [offset] * max(0, page - len(offsets))
    return offsets
