"""Find all: every place in which a phrase, words or a regular expression stands, read from the documents themselves."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

from pinakes.errors import UsageError
from pinakes.model.document import Pages, line_of
from pinakes.model.verbatim import FoundAll, TextHit
from pinakes.port.index import SearchIndex
from pinakes.port.records import StoredText
from pinakes.search.query.filters import compile_filters
from pinakes.search.verbatim.candidates import SMALL, candidate_documents
from pinakes.search.verbatim.patterns import Pattern, compile_pattern

LIMIT = 100
MOST = 10_000
"""Hits of one answer."""

_COUNTED = 100_000
_SECONDS = 10.0
_BATCH = 32
_LONGEST_LINE = 400


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page ended: what comes from ``offset`` of ``path`` on was not shown; ``total`` is -1 if not known."""

    path: str = ""
    offset: int = 0
    shown: int = 0
    total: int = -1
    documents: int = 0


def find_all(
    index: SearchIndex,
    pattern: str,
    kind: str = "phrase",
    *,
    filters: Mapping[str, object] | None = None,
    limit: int = LIMIT,
    cursor: str | None = None,
    ignore_case: bool = True,
    small: int = SMALL,
) -> FoundAll:
    """Return where a pattern stands, by path and place, from where a cursor says on."""
    if not 0 < limit <= MOST:
        raise UsageError(f"The limit must be between 1 and {MOST:,}.")
    compiled = compile_pattern(pattern, kind, ignore_case=ignore_case)
    asked = json.dumps([pattern, kind, ignore_case, filters], default=str, sort_keys=True)
    stamp = index.stamp
    begin = _read_cursor(cursor, stamp, asked) if cursor else Position()
    wanted = candidate_documents(index, compiled.needs, compiled.reach, small=small)
    allowed = passing_documents(index, filters)
    if allowed is not None:
        wanted = allowed if wanted is None else wanted & allowed
    page = _Page(begin, limit)
    deadline = time.monotonic() + _SECONDS
    for stored in _texts(index, wanted, begin.path):
        if page.stops(stored, late=time.monotonic() > deadline):
            break
        page.add(stored, compiled)
    following = _write_cursor(page.following(), stamp, asked) if page.rest else ""
    note = f"{page.note} Ask on with the cursor." if page.note else ""
    return FoundAll(
        pattern,
        kind,
        _located(index, page.hits),
        page.total,
        page.documents,
        complete=not page.note,
        cursor=following,
        note=note,
    )


class _Page:
    """Takes hits until it is full, and counts those that come after."""

    def __init__(self, begin: Position, limit: int) -> None:
        self._begin = begin
        self._limit = limit
        self._known = begin.total >= 0
        self.hits: list[tuple[StoredText, int, int]] = []
        self.total = begin.total if self._known else begin.shown
        self.documents = begin.documents
        self.rest: tuple[str, int] | None = None
        """The path and the offset of the first hit that was not taken."""
        self.note = ""

    def stops(self, stored: StoredText, *, late: bool) -> bool:
        """Whether a document need not be looked into any more, or there is no time for it."""
        if self._known and self.rest:
            return True
        if late or (self.rest and self.total >= _COUNTED):
            self.note = (
                f"Not all was looked through within {_SECONDS:.0f} seconds."
                if late
                else f"There are more than {_COUNTED:,} hits; no more were counted."
            )
            self.rest = self.rest or (stored.source_path, 0)
            return True
        return False

    def add(self, stored: StoredText, pattern: Pattern) -> None:
        """Take and count the hits of a document."""
        shift = stored.body_start
        first = self._begin.offset if stored.source_path == self._begin.path else 0
        here = 0
        for start, end in pattern.spans(stored.text[shift:]):
            if start + shift < first:
                continue
            here += 1
            if len(self.hits) < self._limit:
                self.hits.append((stored, start + shift, end + shift))
            elif self.rest is None:
                self.rest = (stored.source_path, start + shift)
                if self._known:
                    return
        if not self._known:
            self.total += here
            # One that a page before has shown a part of was counted with it.
            self.documents += bool(here) and not first

    def following(self) -> Position:
        """Return where the next page begins."""
        assert self.rest is not None
        path, offset = self.rest
        shown = list(dict.fromkeys(stored.source_path for stored, _, _ in self.hits))
        if path not in shown and path != self._begin.path:
            offset = 0
        counted = not self.note
        before = self._begin.documents - (self._begin.offset > 0) + len(shown) if not counted else 0
        return Position(
            path,
            offset,
            self._begin.shown + len(self.hits),
            self.total if counted else -1,
            self.documents if counted else before,
        )


def passing_documents(index: SearchIndex, filters: Mapping[str, object] | None) -> set[int] | None:
    """Return the documents that pass filters; None for all."""
    if not filters:
        return None
    compiled = compile_filters([filters], spoken=index.lookup.languages)
    allowed = set(index.fields.matching(compiled.documents))
    for test in compiled.code:
        allowed &= index.keyword.documents_with_code(test.languages)
    return allowed


def _texts(index: SearchIndex, wanted: Collection[int] | None, first: str) -> Iterator[StoredText]:
    """Read documents in the order of their paths, from one on."""
    paths = index.reading.paths() if wanted is None else index.lookup.paths(wanted)
    ordered = sorted((path, document) for document, path in paths.items() if path >= first)
    for begin in range(0, len(ordered), _BATCH):
        batch = [document for _, document in ordered[begin : begin + _BATCH]]
        found = {stored.document: stored for stored in index.lookup.texts(batch)}
        yield from (found[document] for document in batch if document in found)


# -- where hits stand ------------------------------------------------------------------------------------------


def _located(index: SearchIndex, hits: Sequence[tuple[StoredText, int, int]]) -> list[TextHit]:
    standing = index.lookup.standing({(stored.document, start) for stored, start, _ in hits})
    lines: dict[int, Positions] = {}
    found = []
    for stored, start, end in hits:
        if stored.document not in lines:
            lines[stored.document] = Positions(index, stored)
        place = standing.get((stored.document, start))
        found.append(
            TextHit(
                source_path=stored.source_path,
                document_title=stored.title,
                section_id=place.section_id if place else "",
                section_label=place.label if place else "",
                heading=place.heading if place else "",
                line=lines[stored.document].line(start),
                text=line_around(stored.text, start, end),
                start=start,
                end=end,
                pages=lines[stored.document].pages(start, end),
            )
        )
    return found


class Positions:
    """Lines and pages of the offsets of one document."""

    def __init__(self, index: SearchIndex, stored: StoredText) -> None:
        self._text = stored.text
        self._starts = index.lookup.line_starts(stored.document)
        self._pages = index.lookup.page_starts(stored.document)
        self._last = (0, 1)

    def line(self, offset: int) -> int:
        """Return the line of the file; cheapest for offsets that ascend."""
        if self._starts:
            return line_of(self._starts, self._text, 0, 1, offset)
        at, line = self._last if self._last[0] <= offset else (0, 1)
        self._last = (offset, line + self._text.count("\n", at, offset))
        return self._last[1]

    def pages(self, start: int, end: int) -> Pages | None:
        """Return the pages of a span; None where there are none."""
        if not self._pages:
            return None
        first, last = (
            max(0, bisect_right(self._pages, at, key=lambda page: page[0]) - 1)
            for at in (start, max(start, end - 1))
        )
        return Pages(self._pages[first][1], self._pages[last][1])


def line_around(text: str, start: int, end: int) -> str:
    """Return the line in which a span begins; of a very long one, what stands around it.

    >>> line_around("one\\n  two words \\nthree", 6, 9)
    'two words'
    """
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", start)
    last = len(text) if last < 0 else last
    if last - first <= _LONGEST_LINE:
        return text[first:last].strip()
    room = max(0, _LONGEST_LINE - min(end - start, _LONGEST_LINE)) // 2
    low, high = max(first, start - room), min(last, start + _LONGEST_LINE - room)
    return ("…" if low > first else "") + text[low:high].strip() + ("…" if high < last else "")


# -- cursors ---------------------------------------------------------------------------------------------------


def _mark(asked: str) -> str:
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


def _write_cursor(position: Position, stamp: int, asked: str) -> str:
    values = [stamp, _mark(asked), *astuple(position)]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _read_cursor(cursor: str, stamp: int, asked: str) -> Position:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        written, mark, path, offset, shown, total, documents = values
        position = Position(str(path), int(offset), int(shown), int(total), int(documents))
    except (ValueError, TypeError, binascii.Error):
        raise UsageError("The cursor is not one of find_all; ask again without it.") from None
    if mark != _mark(asked):
        raise UsageError("The cursor belongs to another question; ask again without it.")
    if written != stamp:
        raise UsageError("The library has changed since the cursor was given; ask again without it.")
    return position
