"""Cited places: where in the documents a citation beside a quotation leads."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from loccit.answers.verbatim.beside import ADDRESS, AFTER_FILE, FILE, ID, LINES, PAGES
from loccit.answers.verbatim.passages import CitedText
from loccit.grammar.labels import Label
from loccit.grammar.labels.document_keys import path_key, path_parts
from loccit.grammar.labels.places import find_places
from loccit.grammar.text.keys import title_key
from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredPlace
from loccit.model.document import counts_paragraphs
from loccit.search.resolve.numbered_lines import lines_begun
from loccit.search.resolve.places import Resolver
from loccit.search.retrieve.missing import denied
from loccit.search.understand.names import NameIndex
from loccit.search.understand.place_lists import is_range

Span = tuple[int, int]

_ESCAPED = re.compile(r"\\([\\`*_\[\]<>])|[*`]")
_PART = re.compile(r"\s*[,;:>›]\s+|\s+in\s+|\s*[()（）]\s*")
_WORDS = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d\Z")
_RANGE = re.compile(r"(?<![\w.])(?P<first>\d{1,6})\s?[-‑–—]\s?(?P<last>\d{1,6})\Z")
_PARAGRAPHS = re.compile(r"para", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Region:
    """Where a citation leads in one document; ``note`` says what of it could not be followed."""

    spans: list[Span]
    note: str = ""


class Named(NamedTuple):
    """Labels that belong together; ``through`` if they are the ends, or the members, of a range."""

    labels: Sequence[Label]
    through: bool


@dataclass(frozen=True)
class Citation:
    """A citation, read: ``documents`` are those that it names, None if it names none.

    ``missing`` is the name of a file that no document has. ``place`` is one that is given by its id. ``lines`` may be
    ``paragraphs``: then ``besides`` are the places named besides these, and ``names`` has them too. ``parts`` are the
    words between commas that name no document; some may be headings.
    """

    text: str
    documents: frozenset[int] | None = None
    missing: str = ""
    place: StoredPlace | None = None
    lines: Span | None = None
    paragraphs: bool = False
    pages: Span | None = None
    names: Sequence[Named] = ()
    besides: Sequence[Named] = ()
    parts: Sequence[str] = ()


class CitationReader:
    """Reads citations of the documents of a library, and follows them; make one per question."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._names = NameIndex(index.names)
        self._resolver = Resolver(index.lookup)

    # -- reading ---------------------------------------------------------------------------------------------

    def read(self, text: str) -> Citation:
        """Read a citation."""
        rest = _ESCAPED.sub(lambda found: found[1] or " ", text)
        place, rest = self._addressed(rest)
        after, lines, pages = AFTER_FILE.search(rest), LINES.search(rest), PAGES.search(rest)
        # `paragraph 3` is a place, unless the document counts its lines so.
        paragraphs = bool(lines and _PARAGRAPHS.match(lines["word"]))
        for match in filter(None, (after, pages, None if paragraphs else lines)):
            rest = rest.replace(match[0], " ; " if match is not after else " ", 1)
        rest, documents, missing = self._documents(rest)
        if place is not None:
            documents = {place.document}
        return Citation(
            text,
            frozenset(documents) if documents else None,
            "" if documents else missing,
            place,
            _numbers(lines) or (None if after and after["page"] else _numbers(after)),
            paragraphs,
            _numbers(pages) or (_numbers(after) if after and after["page"] else None),
            _named(rest),
            _named(rest.replace(lines[0], " ; ", 1)) if lines and paragraphs else [],
            [part for part in _PART.split(rest) if _WORDS.search(part)],
        )

    def _addressed(self, text: str) -> tuple[StoredPlace | None, str]:
        """Return the place that is given by its id or by a link to the page, and the text without that."""
        address = ADDRESS.search(text)
        ids = parse_qs(urlsplit(address[0]).query).get("place", []) if address else []
        text = text.replace(address[0], " ") if address else text
        ids += [found["id"] for found in ID.finditer(text)]
        found = self._index.lookup.places_with(ids) if ids else {}
        return next((found[one] for one in ids if one in found), None), ID.sub(" ", text)

    def _documents(self, text: str) -> tuple[str, set[int], str]:
        """Return a text without the names of documents, these documents, and the name of a file that there is not."""
        for part in sorted({text, *_PART.split(text), *_heads(text)}, key=len, reverse=True):
            if _WORDS.search(part) and (called := self._called(part.strip())):
                return text.replace(part, " ; ", 1), called, ""
        if file := FILE.search(text):
            rest = text.replace(file[0], " ; ", 1)
            called = self._called(file[0])
            return rest, called, "" if called else file[0]
        found: set[int] = set()
        labels = [(place.start, place.end) for place in find_places(text)]
        for name in self._names.find(text):
            inside = any(start < name.start and name.end <= end for start, end in labels)
            if name.sure and not inside:
                found |= name.documents
                text = text[: name.start] + ";".ljust(name.end - name.start) + text[name.end :]
        return text, found, ""

    def _called(self, name: str) -> set[int]:
        """Return the documents with this path, end of a path, file name or title."""
        names, key, parts = self._index.names, title_key(name), PurePath(name).parts
        if exactly := names.at([name]):
            return {entry.id for entry in exactly.values()}
        end = path_key(path_parts(name))
        ending = names.ending([end], whole=False).get(end, []) if end else []
        found = {
            entry.id
            for entry in ending
            if parts and PurePath(entry.source_path).parts[-len(parts) :] == parts
        }
        return (
            found or {entry.id for entry in names.titled(key) if title_key(entry.title) == key}
            if key
            else found
        )

    # -- following -------------------------------------------------------------------------------------------

    def region(self, citation: Citation, document: int, cited: CitedText) -> Region | None:
        """Return where a citation leads in a document; None if it says nothing of a place that is understood."""
        lines, pages, names, note = citation.lines, citation.pages, citation.names, ""
        unpaged = ""
        if pages and not cited.positions.paged:
            # It may be printed somewhere: neither right nor wrong.
            pages, unpaged = None, f"Nothing is known of pages of {PurePath(cited.source_path).name}."
        if citation.paragraphs and counts_paragraphs(cited.source_path):
            names = citation.besides
        elif citation.paragraphs:
            lines = None
        spans: list[Span] | None = None
        if names:
            spans, note = self._labelled(names, document, cited)
        elif headings := self._headings(citation.parts, document):
            spans = headings
        elif citation.place and not (lines or pages):
            spans = [(citation.place.place.start, citation.place.place.end)]
        if spans is None and not (lines or pages or citation.documents):
            return None
        spans = [(0, len(cited.text) + 1)] if spans is None else spans
        if lines:
            spans = _within(spans, cited.positions.spans_of_lines(lines))
        if pages:
            spans = _within(spans, [cited.positions.span_of_pages(pages)])
        return Region(spans, " ".join(filter(None, (note, unpaged))))

    def _labelled(self, names: Sequence[Named], document: int, cited: CitedText) -> tuple[list[Span], str]:
        """Return where labels lead: to what is innermost, as `chapter 2, section 1` is one place."""
        spans: list[Span] = []
        note = ""
        for named in names:
            groups = [self._resolver.resolve(label, {}, {document}) for label in named.labels]
            if len(groups) == 1 and (not groups[0] or groups[0][0].rest) and (ends := _ends(named.labels[0])):
                named = Named(ends, through=True)
                groups = [self._resolver.resolve(label, {}, {document}) for label in ends]
            for label, group in zip(named.labels, groups, strict=True):
                if not group:
                    begun, note = self._unrecognised(label, document, cited)
                    spans += begun
                elif group[0].rest:
                    note = f"Of {label.text}, only {group[0].place.name} is known."
            if named.through and len(groups) > 1 and groups[0] and groups[-1]:
                spans.append((groups[0][0].place.start, groups[-1][0].place.end))
            else:
                spans += [(one.place.start, one.place.end) for group in groups for one in group]
        held = [
            span
            for span in spans
            if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans)
        ]
        return held, note

    def _unrecognised(self, label: Label, document: int, cited: CitedText) -> tuple[list[Span], str]:
        """Return the paragraphs that begin with the number of a label that leads to no place, and what to say of it."""
        name = PurePath(cited.source_path).name
        lines = [line for line in lines_begun(label, self._index.lookup, {document}) if line.alike]
        if lines:
            offsets = [(line.chunk.start - line.chunk.prefix, line) for line in lines]
            return [(at + line.start, at + line.end) for at, line in offsets], ""
        sure, _ = denied(label, self._index.lookup, {document})
        return [], f"There is no {label.text} in {name}." if sure else f"No {label.text} was found in {name}."

    def _headings(self, parts: Sequence[str], document: int) -> list[Span]:
        """Return the places with a heading that is named, the innermost name last."""
        for part in reversed(parts):
            if key := title_key(part):
                found = self._index.lookup.places_by_title(key, {document})
                if found:
                    return [(one.place.start, one.place.end) for one in found]
        return []


def _named(text: str) -> list[Named]:
    return [Named(found.labels, is_range(text[found.start : found.end])) for found in find_places(text)]


def _ends(label: Label) -> list[Label]:
    """Return the ends of a long range, which may also be read as one number: ``Articles 41–99``."""
    ends = _RANGE.search(label.text)
    if ends is None or not label.kind or int(ends["first"]) >= int(ends["last"]):
        return []
    return [Label(label.text, label.kind, (ends[name],)) for name in ("first", "last")]


def _within(spans: Sequence[Span], bounds: Sequence[Span]) -> list[Span]:
    common = [(max(one[0], other[0]), min(one[1], other[1])) for one in spans for other in bounds]
    return [span for span in common if span[1] > span[0]]


def _heads(text: str) -> list[str]:
    """Return what a citation may begin with: a title with commas, perhaps after its author and before its year."""
    parts = re.split(r"(?=,\s)", text)
    return [
        re.sub(r"\s\(\d{4}\)\Z", "", "".join(parts[first:end])).strip(" ,")
        for first in range(min(3, len(parts)))
        for end in range(first + 1, min(len(parts), first + 8) + 1)
    ]


def _numbers(match: re.Match[str] | None) -> Span | None:
    if match is None:
        return None
    first = int(match["first"])
    return first, max(first, int(match["last"] or first))


def says_name(citation: str, name: str) -> bool:
    """Whether a citation has the name of a place or a range as our own citations write it.

    >>> says_name("Act, Article 6(1)(e)–(f), line 3", "Article 6(1)(e)–(f)"), says_name("Act, Section 21", "Section 2")
    (True, False)
    """
    flat = " ".join(_ESCAPED.sub(lambda found: found[1] or "", citation).split())
    return bool(name) and bool(re.search(rf"(?<!\w){re.escape(name)}(?![\w(]|[.–-]\w)", flat))


def unknown_words(citation: Citation, known: Collection[str]) -> str:
    """Return capitalised words of a citation that are in no name of what it led to; they may be another document."""
    words = set().union(*(title_key(name).split() for name in known)) if known else set()
    for part in citation.parts:
        left = part
        for found in find_places(part):
            left = left.replace(part[found.start : found.end], " ")
        for word in _WORDS.findall(left):
            if len(word) > 1 and word[0].isupper() and not _YEAR.match(word) and title_key(word) not in words:
                return str(word)
    return ""
