"""Reading: one document with everything that a reader view shows, in one call."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

from loccit.answers.citations import Citations
from loccit.answers.verbatim.passages import CitedText, Positions
from loccit.errors import NotFoundError
from loccit.grammar.text.keys import loose_word, term_keys
from loccit.index.port.index import SearchIndex
from loccit.model import Definition, Lines, Place, Reference, SelfCheck
from loccit.search.present.enrich import located
from loccit.search.resolve.define import Dictionary, Meaning
from loccit.search.resolve.reference_graph import ReferenceGraph

_WORDS = re.compile(r"([^\W_]+)")
# A term does not extend across a full stop, a table row or the end of a paragraph.
_BREAK = re.compile(r"[.;:!?|]|\n\s*\n")
# Marking more terms than this does not make a document clearer.
_MOST = 5000
# The words of a term, and what it means.
_Term = tuple[tuple[str, ...], Meaning]


@dataclass(slots=True)
class TermPlace:
    """A use of a defined term; ``definition`` is an index into the definitions returned with it."""

    start: int
    end: int
    definition: int


@dataclass(frozen=True, slots=True)
class TermPlaces:
    """The uses of terms in a document, and what the terms mean there, without duplicates."""

    places: list[TermPlace] = field(default_factory=list)
    meanings: list[Meaning] = field(default_factory=list)


def term_places(
    text: str,
    definitions: Dictionary,
    path: str,
    referred: Collection[str],
    sections: Sequence[Place],
    first: int = 0,
) -> TermPlaces:
    """Return the first use of each term in each section.

    A term has the meaning that the document itself gives it, or else a document that it refers to. Headings and the
    words of the definition itself are left out.
    """
    found = TermPlaces()
    known = definitions.by_first_word(path, referred)
    if not known:
        return found
    # Gaps and words alternate. Everything that touches all words of a text is left to C.
    parts = _WORDS.split(text[first:] if first else text)
    words = parts[1::2]
    normal = {word: loose_word(word) for word in set(words)}
    keys = [*map(normal.__getitem__, words), ""]
    beginnings = {word for word, key in normal.items() if key in known}
    starts = list(accumulate(map(len, parts), initial=first))
    holders = [section.start for section in sections]
    by_second = {word: _by_second(terms) for word, terms in known.items()}
    numbers: dict[int, int] = {}
    marked: set[tuple[int, int]] = set()
    past = 0
    for at in [place for place, word in enumerate(words) if word in beginnings]:
        if at < past:
            continue
        begun = by_second[keys[at]]
        terms = begun.get(keys[at + 1]) or begun.get("")
        if terms is None:
            continue
        start = starts[2 * at + 1]
        for term, meaning in terms:
            definition, length = meaning.definition, len(term)
            if length > 1 and not _stands(term, at, keys, parts):
                continue
            if definition.term[:1].isupper() and not words[at][0].isupper():
                # "Term" is defined; "the terms of payment" are something else.
                continue
            past = at + length
            holder = max(0, bisect_right(holders, start) - 1)
            once = (holder, id(definition))
            if once in marked or not _is_use(definition, path, start, sections[holder] if sections else None):
                break
            marked.add(once)
            number = numbers.setdefault(id(definition), len(numbers))
            if number == len(found.meanings):
                found.meanings.append(meaning)
            found.places.append(TermPlace(start, starts[2 * past], number))
            break
        if len(found.places) >= _MOST:
            break
    return found


def _by_second(terms: Sequence[_Term]) -> dict[str, list[_Term]]:
    """Return terms by their second word, each followed by those of one word; "" has only those."""
    found: dict[str, list[_Term]] = {}
    for item in terms:
        if len(item[0]) > 1:
            found.setdefault(item[0][1], []).append(item)
    short = [item for item in terms if len(item[0]) == 1]
    return {second: items + short for second, items in found.items()} | ({"": short} if short else {})


def _stands(term: Sequence[str], at: int, keys: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the words of a term are at a position, with nothing between them that ends a thought."""
    if tuple(keys[at : at + len(term)]) != term:
        return False
    gaps = parts[2 * at + 2 : 2 * (at + len(term)) : 2]
    return not any(gap != " " and _BREAK.search(gap) for gap in gaps)


def _is_use(definition: Definition, path: str, start: int, section: Place | None) -> bool:
    if section is not None and section.ordinal > 0 and section.start <= start < section.body:
        return False
    return definition.source_path != path or not definition.start <= start < definition.end


# -- used terms: the defined terms that a document uses, what each means there, and where that is stated -----


_OTHERS = 100


@dataclass(frozen=True, slots=True)
class UsedDefinition:
    """What a term means here, and where that is stated; ``conflict`` says that documents define it differently."""

    term: str
    definition: str
    source_path: str
    source_section: str
    lines: Lines
    conflict: bool


@dataclass(frozen=True, slots=True)
class UsedTerms:
    """The uses of terms in a document. Each definition occurs once: places refer to it by number."""

    definitions: list[UsedDefinition]
    places: list[TermPlace]

    def to_dict(self) -> dict[str, Any]:
        """Return both as JSON values."""
        return {"definitions": plain(self.definitions), "terms": plain(self.places)}


def used_terms(
    index: SearchIndex,
    path: str,
    text: str,
    sections: Sequence[Place],
    referred: Collection[str],
    body_start: int,
) -> UsedTerms:
    """Return the terms that a document uses; ``referred`` are documents whose definitions may apply."""
    terms = index.terms
    own = terms.in_documents([path, *referred])
    keys = {" ".join(words) for row in own for words in term_keys(row.definition.term)}
    # Other definitions of the same terms only show whether they differ.
    others = set(terms.by_keys(keys, limit=_OTHERS)).difference(own)
    rows = sorted([*own, *others], key=lambda row: (row.source_path, row.definition.start))
    found = term_places(text, Dictionary(rows), path, referred, sections, body_start)
    definitions = located([meaning.definition for meaning in found.meanings], index)
    return UsedTerms(
        [
            _definition(said, meaning.conflict)
            for said, meaning in zip(definitions, found.meanings, strict=True)
        ],
        found.places,
    )


def _definition(said: Definition, conflict: bool) -> UsedDefinition:
    lines = said.lines or Lines(1, 1)
    return UsedDefinition(
        said.term, said.definition_text, said.source_path, said.source_section, lines, conflict
    )


def plain(items: Sequence[Any], names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return results of one kind as JSON values; ``asdict`` would copy thousands of values again."""
    names = names or (items[0].__slots__ if items else ())
    return [{name: getattr(item, name) for name in names} for item in items]


# -- reading: one document with everything that a reader view shows ------------------------------------------


# Types that a document has thousands of are not frozen: creating a frozen instance takes four times as long.


# What is shown of headings and clauses, besides the parent's id and a clause's depth below its heading.
SECTION_FIELDS = (
    "section_id",
    "place_id",
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
CLAUSE_FIELDS = ("section_id", "place_id", "label", "marker", "start", "body", "end")


@dataclass(slots=True)
class ReadReference:
    """A reference with its position and the place it refers to; ``target_path`` is empty if unknown."""

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
    """A citation of a place of this document; ``cites`` are the ids of all places that it is a citation of.

    Of the document as a whole, it has none, and no target.
    """

    from_path: str
    from_title: str
    from_section: str
    from_label: str
    text: str
    target_section: str
    cites: list[str]


@dataclass(slots=True)
class ReadLink:
    """A link as written, and the document of the library that it points to, if any."""

    start: int
    end: int
    text: str
    target: str
    kind: str
    target_path: str


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as a reader view needs it. ``pages`` has the start of each page, page 1 first.

    ``line_starts`` has the offsets at which the numbering of lines, or paragraphs, restarts, with the numbers; empty if
    the text is the file's own.

    ``borne_out`` states in words how much of what the document says about its own places is confirmed, and
    ``uncertain`` that it is too little to rely on their labels.

    Terms are computed on demand: that takes longer than all the rest.
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
    line_starts: list[tuple[int, int]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    references: list[ReadReference] = field(default_factory=list)
    back_references: list[BackReference] = field(default_factory=list)
    links: list[ReadLink] = field(default_factory=list)
    find_terms: Callable[[], UsedTerms] = field(default=lambda: UsedTerms([], []), repr=False, compare=False)

    @property
    def terms(self) -> UsedTerms:
        """The defined terms that the document uses."""
        return self.find_terms()

    @property
    def cited(self) -> CitedText:
        """The document as it is cited from."""
        pages = [(offset, number) for number, offset in enumerate(self.pages, 1)]
        positions = Positions(self.text, self.line_starts, pages)
        return CitedText(self.source_path, self.title, self.text, self.places, positions)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON values, without its terms; its headings are ``sections``."""
        lists = ("references", "back_references", "links")
        left_out = (*lists, "places", "find_terms")
        known = {place.ordinal: place for place in self.places}
        headings = [place for place in self.places if place.is_heading and place.parent is not None]
        clauses = [place for place in self.places if not place.is_heading]
        return {
            **{item.name: getattr(self, item.name) for item in fields(self) if item.name not in left_out},
            "place_id": self.places[0].place_id if self.places else "",
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


def read_document(index: SearchIndex, path: str, *, within: Collection[int] | None = None) -> DocumentView:
    """Return the document at a path; what refers to it is only looked for ``within`` some documents, if given."""
    lookup = index.reading
    row = lookup.document(path)
    if row is None:
        raise NotFoundError("This document was removed from the library.")
    number, text = int(row["id"]), str(row["text"])
    places = index.lookup.places_of_document(number)
    sections = [place for place in places if place.is_heading]
    # The names of this document's places are at hand; other documents are looked up.
    labels = {path: {place.section_id: place.name for place in places}}
    graph = ReferenceGraph(index)
    inside = graph.in_span(number, 0, len(text) + 1)
    references = _references(index, inside, labels)
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
        line_starts=list(index.lookup.line_starts(number)),
        places=places,
        references=references,
        back_references=_back_references(
            index, Citations(graph, number, places, within=within, inside=inside), places
        ),
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


def _back_references(
    index: SearchIndex, citations: Citations, places: Sequence[Place]
) -> list[BackReference]:
    ids = {place.ordinal: place.section_id for place in places}
    leading = [*citations.of_places, *((entry, item, ()) for entry, item in citations.of_document)]
    leading.sort(key=lambda cited: (cited[0].id, cited[1].start))
    standing = index.lookup.standing([(entry.id, item.start) for entry, item, _ in leading])
    found = []
    for entry, item, cited in leading:
        at = standing.get((entry.id, item.start))
        section, label = (at.section_id, at.name) if at else ("", "")
        names = [name for ordinal in cited if (name := ids[ordinal])]
        found.append(
            BackReference(
                entry.source_path, entry.title, section, label, item.text, item.target_section, names
            )
        )
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
    """Return where each page begins; an empty page begins where the next one does."""
    offsets: list[int] = []
    for offset, page in pages:
        offsets += [offset] * max(0, page - len(offsets))
    return offsets
