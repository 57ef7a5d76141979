"""Reading: one document with everything that a reader shows of it, in one go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from typing import Any

from pinakes.errors import NotFoundError
from pinakes.model import Place, Reference, SelfCheck
from pinakes.port.index import SearchIndex
from pinakes.search.links.reference_graph import ReferenceGraph
from pinakes.search.links.used_terms import UsedTerms, plain, used_terms

# What a document has thousands of is not frozen: making a frozen one takes four times as long.


# What is shown of headings and of clauses, besides the id of the parent and how deep below its heading a clause is.
SECTION_FIELDS = (
    "section_id",
    "label",
    "title",
    "heading",
    "level",
    "start",
    "body",
    "end",
    "lines",
    "pages",
)
CLAUSE_FIELDS = ("section_id", "label", "marker", "start", "body", "end")


@dataclass(slots=True)
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
    sure: float


@dataclass(slots=True)
class BackReference:
    """A reference elsewhere that leads to this document."""

    from_path: str
    from_section: str
    from_label: str
    text: str
    target_section: str


@dataclass(slots=True)
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
    """A document as a reader needs it. ``pages`` says where each page begins, page 1 first.

    ``borne_out`` says in words how much of what the document says of its own places leads to one, and ``uncertain``
    that it is too little to rely on their labels.

    Terms are looked for when they are asked for: that takes longer than all the rest.
    """

    source_path: str
    title: str
    file_type: str
    language: str
    metadata: dict[str, Any]
    text: str
    body_start: int
    borne_out: str = ""
    uncertain: bool = False
    pages: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    references: list[ReadReference] = field(default_factory=list)
    back_references: list[BackReference] = field(default_factory=list)
    links: list[ReadLink] = field(default_factory=list)
    find_terms: Callable[[], UsedTerms] = field(default=lambda: UsedTerms([], []), repr=False, compare=False)

    @property
    def terms(self) -> UsedTerms:
        """The defined terms that the document uses."""
        return self.find_terms()

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON values, without its terms; its headings are ``sections``."""
        lists = ("references", "back_references", "links")
        left_out = (*lists, "places", "find_terms")
        known = {place.ordinal: place for place in self.places}
        headings = [place for place in self.places if place.is_heading and place.parent is not None]
        clauses = [place for place in self.places if not place.is_heading]
        return {
            **{item.name: getattr(self, item.name) for item in fields(self) if item.name not in left_out},
            "sections": [
                {**shown, "parent": known[place.parent or 0].section_id}
                for place, shown in zip(headings, plain(headings, SECTION_FIELDS), strict=True)
            ],
            "clauses": [
                {**shown, "depth": place.level - known[place.section].level}
                for place, shown in zip(clauses, plain(clauses, CLAUSE_FIELDS), strict=True)
            ],
            **{name: plain(getattr(self, name)) for name in lists},
        }


def read_document(index: SearchIndex, path: str) -> DocumentView:
    """Return the document at a path."""
    lookup = index.reading
    row = lookup.document(path)
    if row is None:
        raise NotFoundError("This document was removed from the library.")
    number, text = int(row["id"]), str(row["text"])
    places = index.lookup.places_of_document(number)
    sections = [place for place in places if place.is_heading]
    # What this document calls its own places is at hand; other documents are asked.
    labels = {path: {place.section_id: place.name for place in places}}
    graph = ReferenceGraph(index)
    references = _references(index, graph.in_span(number, 0, len(text) + 1), labels)
    referred = {item.target_path for item in references}
    terms = partial(used_terms, index, path, text, sections, referred, row["body_start"])
    check = index.lookup.self_checks([number]).get(number, SelfCheck())
    return DocumentView(
        source_path=path,
        title=row["title"],
        file_type=row["file_type"],
        language=row["language"],
        metadata=json.loads(row["metadata"]),
        text=text,
        body_start=row["body_start"],
        borne_out=str(check),
        uncertain=check.doubtful,
        pages=_page_offsets(json.loads(row["pages"])),
        places=places,
        references=references,
        back_references=_back_references(index, graph, number),
        links=_links(index, graph, number, path),
        find_terms=lru_cache(maxsize=1)(terms),
    )


def _references(
    index: SearchIndex, found: Sequence[Reference], labels: dict[str, dict[str, str]]
) -> list[ReadReference]:
    labels = _labels(index, (to for to in found if to.target_path not in labels)) | labels
    return [
        ReadReference(
            to.start,
            to.end,
            to.text,
            to.kind,
            to.target_path,
            to.target_section,
            labels.get(to.target_path, {}).get(to.target_section, ""),
            to.reason,
            to.sure,
        )
        for to in found
    ]


def _labels(index: SearchIndex, references: Iterable[Reference]) -> dict[str, dict[str, str]]:
    wanted: dict[str, set[str]] = {}
    for reference in references:
        if reference.target_path and reference.target_section:
            wanted.setdefault(reference.target_path, set()).add(reference.target_section)
    entries = index.names.at(wanted)
    return {
        path: index.reading.labels(entries[path].id, ids) for path, ids in wanted.items() if path in entries
    }


def _back_references(index: SearchIndex, graph: ReferenceGraph, document: int) -> list[BackReference]:
    leading = sorted(graph.leading_to(document), key=lambda item: (item[0].id, item[1].start))
    places = index.lookup.standing([(entry.id, item.start) for entry, item in leading])
    found = []
    for entry, item in leading:
        at = places.get((entry.id, item.start))
        section, label = (at.section_id, at.name) if at else ("", "")
        found.append(BackReference(entry.source_path, section, label, item.text, item.target_section))
    return found


def _links(index: SearchIndex, graph: ReferenceGraph, document: int, path: str) -> list[ReadLink]:
    found = []
    targets, links = graph.targets, index.reading.links(document)
    targets.preload(("link" if link.kind == "link" else "wiki", link.target, path) for link in links)
    for link in links:
        target = targets.find("link" if link.kind == "link" else "wiki", link.target, path)
        to = target[0].source_path if target else ""
        found.append(ReadLink(link.start, link.end, link.text, link.target, link.kind, to))
    return found


def _page_offsets(pages: list[tuple[int, int]]) -> list[int]:
    """Return where each page begins; a page without text begins where the next one does."""
    offsets: list[int] = []
    for offset, page in pages:
        offsets += [offset] * max(0, page - len(offsets))
    return offsets
