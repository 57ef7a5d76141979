"""Passages: what a stretch of a document says, and where it stands: its places, lines and pages.

Whatever is cited by offsets gets its name and its lines here, so that all answers cite the same text in the same way.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import pyromark

from loccit.answers.verbatim.words import words_of
from loccit.errors import UsageError
from loccit.grammar.labels.ranges import range_label
from loccit.grammar.text.markdown import OPTIONS, char_offsets
from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredText
from loccit.model import Place
from loccit.model.document import Lines, Pages, line_of
from loccit.model.quotes import Excerpt, TextPlace

_PLAIN_TYPES = frozenset({".txt", ".text", ".log"})
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
_BREAK = re.compile(r"<(?:br|/?(?:p|div|tr|li|h[1-6]|blockquote|pre|dd|dt|table))\b", re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)
_RAISED = re.compile(r"<sup\b", re.IGNORECASE)
_NUMBER = re.compile(r"[ \t]*(\d{1,9}[.)])")
_HYPHEN = re.compile(r"(?<=\w)[-‐‑–\u00ad]\Z")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"[^\S\n]*\n\s*")
_SPAN_TAGS = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})


class _Piece(NamedTuple):
    """What is read between two offsets of the source: the same text, or another."""

    start: int
    end: int
    text: str


def is_markdown(path: str) -> bool:
    """Whether the text of a document, given its path, has markup."""
    return PurePath(path).suffix.lower() not in _PLAIN_TYPES


def plain_text(text: str, start: int, end: int, *, body_start: int = 0, markdown: bool = True) -> str:
    """Return what a stretch of a document says, without markup: a block on a line, the cells of a row with tabs.

    >>> plain_text("# A\\n\\n1. *Pay* the [fee](fee.md)\\n   of 5&nbsp;%\\n", 0, 99)
    'A\\n1. Pay the fee of 5\\xa0%'
    """
    if not markdown:
        return _tidy(text[start:end])
    said: list[str] = []
    for piece in _pieces(text, body_start):
        if piece.start >= end:
            break
        if piece.start == piece.end:  # a break
            if start < piece.start:
                said.append(_after(said, piece.text))
        elif piece.end > start:
            whole = piece.text != text[piece.start : piece.end]
            said.append(piece.text if whole else text[max(start, piece.start) : min(end, piece.end)])
    return _tidy("".join(said))


def _after(said: list[str], gap: str) -> str:
    """Return a gap; there is none after the number of an item, or in a word that goes on in the next line."""
    before = said[-1] if said else ""
    return "" if before == " " or (gap == " " and _HYPHEN.search(before)) else gap


def _tidy(text: str) -> str:
    blanks = _BLANKS.sub(lambda found: "\t" if "\t" in found[0] else found[0][0], text)
    return _LINE_BREAKS.sub("\n", blanks).strip()


@lru_cache(maxsize=2)
def _pieces(text: str, begin: int) -> list[_Piece]:
    return list(_Reader(text, begin).pieces())


class _Reader:
    """One pass over a text: what is read, in order, with the gaps between blocks, lines and cells."""

    def __init__(self, text: str, begin: int) -> None:
        self._text = text
        self._begin = begin

    def pieces(self) -> Iterator[_Piece]:
        body = self._text[self._begin :]
        offset = char_offsets(body)
        for event, span in pyromark.events_with_range(body, options=OPTIONS):
            start, end = (self._begin + offset(span[name]) for name in ("start", "end"))
            if isinstance(event, str):
                gap = {"SoftBreak": " ", "HardBreak": "\n", "Rule": "\n"}.get(event)
                if gap:
                    yield _Piece(start, start, gap)
                continue
            kind, value = next(iter(event.items()))
            yield from self._read(kind, value, start, end)

    def _read(self, kind: str, value: Any, start: int, end: int) -> Iterator[_Piece]:
        if kind in ("Text", "Code"):
            yield self._exactly(value, start, end)
        elif kind in ("Html", "InlineHtml"):
            yield from self._untagged(start, end)
        elif kind == "FootnoteReference":
            yield _Piece(start, end, f"[{value}]")
        elif kind == "TaskListMarker":
            yield _Piece(start, end, self._text[start:end])
            yield _Piece(end, end, " ")
        elif kind in ("Start", "End"):
            name = value if isinstance(value, str) else next(iter(value))
            if name not in _SPAN_TAGS:
                at = start if kind == "Start" else end
                yield _Piece(at, at, "\t" if name == "TableCell" else "\n")
            if kind == "Start" and name == "Item" and (number := _NUMBER.match(self._text, start)):
                yield _Piece(number.start(1), number.end(1), number[1])
                yield _Piece(number.end(), number.end(), " ")
            elif kind == "Start" and name == "FootnoteDefinition":
                yield _Piece(start, start + 1, f"[{value[name]}]")
                yield _Piece(start + 1, start + 1, " ")

    def _exactly(self, said: str, start: int, end: int) -> _Piece:
        """Return the words of an event with the span that they have in the source, without the marks around them."""
        at = self._text.find(said, start, end)
        return _Piece(start, end, said) if at < 0 else _Piece(at, at + len(said), said)

    def _untagged(self, start: int, end: int) -> Iterator[_Piece]:
        """Return the text between the tags of HTML."""
        at = start
        for tag in _TAG.finditer(self._text, start, end):
            if tag.start() > at:
                yield _Piece(at, tag.start(), self._text[at : tag.start()])
            at = tag.end()
            if _RAISED.match(tag[0]):
                yield _Piece(at - 1, at, "^")
            elif gap := "\t" if _CELL.match(tag[0]) else "\n" if _BREAK.match(tag[0]) else "":
                yield _Piece(at, at, gap)
        if at < end:
            yield _Piece(at, end, self._text[at:end])


_WORD = re.compile(r"\w")
# What of the signs at the ends of a selection belongs to its first and last word.
_OPENING = re.compile(r"[^\s\w]{1,4}\Z")
_CLOSING = re.compile(r"[^\s\w]{1,4}")
_MOST_SIGNS = 4


class Positions:
    """Lines and pages of the offsets of one document; ``pages`` are offsets with the pages that begin there."""

    def __init__(
        self, text: str, line_starts: Sequence[tuple[int, int]], pages: Sequence[tuple[int, int]]
    ) -> None:
        self._text = text
        self._starts = line_starts
        self._pages = pages
        self._last = (0, 1)

    @classmethod
    def of(cls, index: SearchIndex, stored: StoredText) -> Positions:
        """Return those of a document of an index."""
        lookup = index.lookup
        return cls(stored.text, lookup.line_starts(stored.document), lookup.page_starts(stored.document))

    def line(self, offset: int) -> int:
        """Return the line in the file; cheapest for ascending offsets."""
        if self._starts:
            return line_of(self._starts, self._text, 0, 1, offset)
        at, line = self._last if self._last[0] <= offset else (0, 1)
        self._last = (offset, line + self._text.count("\n", at, offset))
        return self._last[1]

    def lines(self, start: int, end: int) -> Lines:
        """Return the first and last line of a span."""
        return Lines(self.line(start), self.line(max(start, end - 1)))

    def pages(self, start: int, end: int) -> Pages | None:
        """Return the pages of a span; None if there are none."""
        if not self._pages:
            return None
        first, last = (
            max(0, bisect_right(self._pages, at, key=lambda page: page[0]) - 1)
            for at in (start, max(start, end - 1))
        )
        return Pages(self._pages[first][1], self._pages[last][1])

    def spans_of_lines(self, lines: tuple[int, int]) -> list[tuple[int, int]]:
        """Return the stretches of the text that stand on lines of the file, or in paragraphs.

        Numbers begin anew now and then in a text that was converted; what has no words parts no stretches.
        """
        spans: list[tuple[int, int]] = []
        worded = False
        for (start, number), (end, _) in pairwise([*self._numbered, (len(self._text), 0)]):
            if lines[0] <= number <= lines[1]:
                if spans and not worded:
                    spans[-1] = spans[-1][0], end
                else:
                    spans.append((start, end))
                worded = False
            else:
                worded = worded or bool(_WORD.search(self._text, start, end))
        return spans

    @cached_property
    def _numbered(self) -> list[tuple[int, int]]:
        """Where lines begin, with their numbers."""
        begins = {
            0,
            *(found.end() for found in re.finditer("\n", self._text)),
            *(at for at, _ in self._starts),
        }
        return [(at, self.line(at)) for at in sorted(begins) if at < len(self._text)]

    @property
    def paged(self) -> bool:
        """Whether anything is known of pages."""
        return bool(self._pages)

    def span_of_pages(self, pages: tuple[int, int]) -> tuple[int, int]:
        """Return where pages begin and end in the text; an empty span if there are no such pages."""
        starts = [offset for offset, page in self._pages if page >= pages[0]]
        if not starts or pages[0] > self._pages[-1][1]:
            return 0, 0
        ends = [offset for offset, page in self._pages if page > pages[1]]
        return starts[0], ends[0] if ends else len(self._text)


@dataclass(frozen=True)
class CitedText:
    """A document to cite from; ``places`` are all of it, headings and clauses."""

    source_path: str
    title: str
    text: str
    places: Sequence[Place]
    positions: Positions

    @classmethod
    def of(cls, index: SearchIndex, stored: StoredText) -> CitedText:
        """Return a document of an index."""
        places = index.lookup.places_of_document(stored.document)
        return cls(stored.source_path, stored.title, stored.text, places, Positions.of(index, stored))

    def cite(self, start: int, end: int) -> TextPlace:
        """Return a span with its place, or its range of places, and its lines and pages."""
        place = self._innermost(start)
        return TextPlace(
            source_path=self.source_path,
            document_title=self.title,
            section_id=place.section_id if place else "",
            section_label=place.label if place else "",
            heading=self._by_ordinal[place.section].heading if place else "",
            lines=self.positions.lines(start, end),
            text=self.text[start:end],
            start=start,
            end=end,
            pages=self.positions.pages(start, end),
            place_id=place.place_id if place else "",
            name=self.name(start, end),
        )

    def excerpt(self, start: int, end: int, body_start: int = 0) -> Excerpt:
        """Return the words that a stretch touches, whole and without markup, with their place."""
        words = words_of(self.text, body_start)
        first = bisect_right(words, start, key=lambda word: word.end)
        last = bisect_left(words, end, key=lambda word: word.start)
        if last <= first:
            raise UsageError("There are no words in this selection.")
        begin, stop = words[first].start, words[last - 1].end
        place = self.cite(begin, stop)
        opening = (
            _OPENING.search(self.text, max(start, begin - _MOST_SIGNS), begin) if start < begin else None
        )
        closing = _CLOSING.match(self.text, stop, end) if stop < end else None
        begin, stop = opening.start() if opening else begin, closing.end() if closing else stop
        markdown = is_markdown(self.source_path)
        said = plain_text(self.text, begin, stop, body_start=body_start, markdown=markdown)
        keys = [word.key for word in words[first:last]]
        if [word.key for word in words_of(" ".join(said.split()))] != keys:
            # Better with its markup than with other words.
            said = " ".join(self.text[begin:stop].split())
        return Excerpt(said, place)

    def name(self, start: int, end: int) -> str:
        """Return what a span is called in a citation: its place, or the range from its first to its last one.

        It is empty where nothing but the document contains all of it, and one of its ends stands under no heading.
        """
        first, last = self._innermost(start), self._innermost(max(start, end - 1))
        if first is None or last is None:
            return ""
        if end <= first.end:
            return self._called(first)
        if last.start <= start:
            return self._called(last)
        firsts, lasts = self._chain(first, start, end), self._chain(last, start, end)
        alike = ((one, other) for one in firsts for other in lasts if _level(one) == _level(other))
        one, other = next(alike, (first, last))
        return range_label(self._called(one), self._called(other))

    def _called(self, place: Place) -> str:
        return place.name or self._by_ordinal[place.section].heading

    def _chain(self, place: Place, start: int, end: int) -> list[Place]:
        """Return a place at one end of a span, and those around it that the span covers from or to that end."""
        chain = [place]
        at_start = place.start <= start
        while place.parent is not None:
            place = self._by_ordinal[place.parent]
            if place.start <= start and end <= place.end:
                break
            missed = self.text[place.start : start] if at_start else self.text[end : place.end]
            if _WORD.search(missed):
                break
            chain.append(place)
        return chain

    @cached_property
    def _by_ordinal(self) -> dict[int, Place]:
        return {place.ordinal: place for place in self.places}

    @cached_property
    def _in_order(self) -> list[Place]:
        return sorted(self.places, key=lambda place: (place.start, place.ordinal))

    def _innermost(self, offset: int) -> Place | None:
        """Return the innermost place around an offset; a clause begins after the heading that it is under."""
        number = bisect_right(self._in_order, offset, key=lambda place: place.start) - 1
        place = self._in_order[number] if number >= 0 else None
        while place is not None and place.end <= offset:
            place = None if place.parent is None else self._by_ordinal[place.parent]
        return place


def _level(place: Place) -> tuple[object, ...]:
    """Return what places have in common that are counted together."""
    return (place.kind, len(place.number)) if place.number else (place.is_heading, place.level)
