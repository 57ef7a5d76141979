"""Unexplained: how much of what looks numbered in a text is no place of it.

The finder of places is not asked here: lines that begin alike, with a word, a sign or letters and a number, or with a
number in several parts, and whose numbers follow each other, number something. If most of them are no places, or the
places that were found have gaps, the numbering of the document was not understood.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from loccit.grammar.labels import normalise_number
from loccit.grammar.labels.lexicon import lowered
from loccit.model import Place
from loccit.structure import Parsed
from loccit.structure.places.chain import Number, closeness, is_first, number_key
from loccit.structure.places.view import only_lists, text_lines
from loccit.structure.quotations import is_quoted

_Form: TypeAlias = tuple[str, str]

_MARKUP = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\n]*\))?|</?[a-z][^<>\n]{0,80}>|[*_`\\]")
_MAY_BEGIN = re.compile(
    r"[^\w\n]{0,40}(?:[^\W\d_]{2,24}\.?[ \t]{0,3})?[^\w\n]{0,3}[A-Z]{0,6}-?(?:\d|[IVXLC])"
)
_BEGINS = re.compile(
    r"[^\w§]{0,24}(?:(?P<word>§{1,2}|[^\W\d_]{2,24})\.?\s{0,3})?"
    r"(?P<letters>[A-Z]{1,6}-(?=\d)|[A-Z]{1,6}(?=\d))?(?P<number>\d{1,3}(?:[.\-]\d{1,3}){0,5}|[IVXLC]{1,7})[a-z]?"
    r"(?P<mark>\s?[.):\]]{1,2}(?=\s|\Z)|(?=\s|\Z))"
)
# Numbered, but beside the text; and words that begin sentences.
_NO_PLACES = frozenset(
    "table tables figure figures fig image photo map chart box note notes page pages line lines step example listing "
    "equation version vol volume issue no nr number tabelle abbildung tableau figura tabla class and or in on at by to "
    "for from of january february march april may june july august september october november december".split()
)
_VIEW, _MOST_LINES = 240, 60_000
_FEWEST, _PARAGRAPHS = 4, 8
_IN_ORDER = 0.6
_RARE, _MOST_OF_IT = 0.1, 0.5
_GAP = 3  # numbers that may be missing between two: more are another series


class Unexplained(NamedTuple):
    """How many places and lines of a text are numbered, and how many of these lines, and of the numbers in between,
    are no place; ``missing`` are the latter.
    """

    numbered: int
    unexplained: int
    missing: frozenset[tuple[str, ...]]

    @property
    def whole(self) -> bool:
        """Whether there are numbered places, and next to nothing is left that they do not explain."""
        return self.numbered >= _PARAGRAPHS and self.unexplained <= _RARE * self.numbered


class _Line(NamedTuple):
    start: int
    end: int
    number: Number
    heading: bool


def unexplained(parsed: Parsed, places: Sequence[Place]) -> Unexplained:
    """Count the numbered lines of a document, and those that are no place of it."""
    starts = sorted(place.start for place in places if place.number)
    listed = {entry.start for entry in parsed.contents}
    known = {number_key(place.number) for place in places}
    left: set[int] = set()
    for (form, _), series in _series(_beginnings(parsed), len(parsed.text)):
        for line in series:
            at = bisect_left(starts, line.start)
            # Elsewhere the same number is a place: this line only mentions it, as contents do.
            again = form != "number" and not line.heading and line.number in known
            if not (again or line.start in listed or (at < len(starts) and starts[at] < line.end)):
                left.add(line.start)
    missing = frozenset(_missing(places))
    lost = len(left) + len(missing)
    return Unexplained(sum(bool(place.number) for place in places) + lost, lost, missing)


def _beginnings(parsed: Parsed) -> dict[_Form, list[_Line]]:
    found: dict[_Form, list[_Line]] = defaultdict(list)
    text, count = parsed.text, 0
    for block, start, end in text_lines(text, parsed.blocks, ("text", "heading", "table")):
        if count >= _MOST_LINES or not _MAY_BEGIN.match(text, start, end):
            continue
        if only_lists(text[start:end]) or is_quoted(parsed.quoted, start):
            continue
        count += 1
        bare = _MARKUP.sub(lambda match: match[1] or "", text[start : min(end, start + _VIEW)])
        if (match := _BEGINS.match(bare)) and (form := _form(match)):
            number = number_key(normalise_number(match["number"]))
            found[form].append(_Line(start, end, number, block.kind == "heading"))
    return found


def _form(match: re.Match[str]) -> _Form | None:
    word, mark, dotted = (
        lowered(match["word"] or ""),
        match["mark"].strip(),
        re.search(r"[.\-]", match["number"]),
    )
    roman = not match["number"][0].isdecimal()
    if word:
        return None if word in _NO_PLACES or (roman and not mark) else ("word", word + "~" * roman)
    if match["letters"]:
        return ("letters", match["letters"])
    if dotted:
        return ("dotted", "")
    return ("number", mark + "~" * roman) if mark else None


def _series(found: dict[_Form, list[_Line]], end: int) -> Iterator[tuple[_Form, list[_Line]]]:
    """Yield the forms whose numbers follow each other; plain numbers only where they count the paragraphs of a text."""
    for form, lines in found.items():
        if form[0] == "number":
            runs = [[lines[0]]]
            for line, later in pairwise(lines):
                if closeness(line.number, later.number) == 1:
                    runs[-1].append(later)
                else:
                    runs.append([later])
            longest = max(runs, key=len)
            if len(longest) >= _PARAGRAPHS and longest[-1].start - longest[0].start > _MOST_OF_IT * end:
                yield form, longest
            continue
        follow = sum(closeness(line.number, later.number) == 1 for line, later in pairwise(lines))
        anew = sum(is_first(later.number[-1]) for _, later in pairwise(lines))
        if follow >= _FEWEST and follow + anew >= _IN_ORDER * (len(lines) - 1) and 2 * follow >= anew:
            yield form, lines


def _missing(places: Sequence[Place]) -> Iterator[tuple[str, ...]]:
    """Yield the numbers between those of places of one kind that no place has."""
    siblings: dict[tuple[str, tuple[str, ...], bool], set[int]] = defaultdict(set)
    for place in places:
        if place.number and place.number[-1].isdecimal():
            siblings[place.kind, place.number[:-1], place.is_heading].add(int(place.number[-1]))
    have = {place.number for place in places}
    for (_, outer, _), values in siblings.items():
        for value, later in pairwise(sorted(values) if len(values) > 2 else ()):
            if later - value <= _GAP:
                yield from (
                    (*outer, str(number))
                    for number in range(value + 1, later)
                    if (*outer, str(number)) not in have
                )
