"""Contents pages: what a document says about its own places, line by line. They say what exists; they are no places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pinakes.ingest.places.chain import Number, number_key
from pinakes.ingest.places.lines import NumberedLine
from pinakes.ingest.places.titles import clean
from pinakes.labels import parse_heading
from pinakes.text.keys import title_key

# `Introduction ........ 3`, `Introduction      3`, `Introduction . . . 3`
_LEADER = re.compile(
    r"^(?P<words>[^\n]{2,160}?)(?:[ \t]*(?:\.{2,}|(?:\. ){2,}|…|·{2,}|_{3,})[ .…·_]*|(?P<short> [ .] ?)|[ \t]{3,}|\t)"
    r"(?P<page>\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}-\d{1,3})\s*$"
)
_DOTS = re.compile(r"\.{3,}|(?:\. ){3,}|…{2,}|·{3,}|_{3,}")
# Lines between two entries: a wrapped title, a page's head and foot.
_NEAR = 9
_FEWEST = 3
# Entries without pages: so many places in a row that have no text of their own, and come again.
_RUN = 5
_OWN_TEXT = 170


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a contents page. ``number`` is empty where a title has none."""

    kind: str
    number: Number
    title: str
    start: int


@dataclass(slots=True)
class Contents:
    """The entries of a document's contents pages, and the starts of the lines that they take up."""

    entries: list[Entry]
    lines: frozenset[int]


def printed_contents(text: str, begin: int) -> Contents:
    """Find the lines that lead to pages."""
    entries: list[tuple[int, int, str, str, bool]] = []
    position, number, before = begin, 0, begin
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        # Most lines end with another sign than a page does.
        line = text[position:end].rstrip() if end - position < 400 else ""
        if line and (line[-1].isdigit() or line[-1] in "ivxlc"):
            match = _LEADER.match(line)
            # A long title leaves no room for dots.
            if match and (not match["short"] or parse_heading(match["words"].strip())[0] is not None):
                dotted = bool(_DOTS.search(match.group()))
                start = _first_of(text, before, position, match["words"])
                words = match["words"] if start == position else f"{text[start:position]} {match['words']}"
                entries.append((number, start, words, match["page"], dotted))
                before = end + 1
        if before < position:
            before = position
        position, number = end + 1, number + 1
    groups: list[list[tuple[int, int, str, str, bool]]] = []
    for entry in entries:
        if groups and entry[0] - groups[-1][-1][0] <= _NEAR:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    kept = [group for group in groups if _is_contents(group)]
    found, lines = [], set()
    for group in kept:
        for _, start, words, _, _ in group:
            found.append(_entry(words, start))
            lines.add(start)
        lines.update(_wrapped(text, group[0][1], group[-1][1]))
    return Contents(found, frozenset(lines))


def lettered(contents: Contents) -> frozenset[str]:
    """The letters that are labels of their own: `A. Scenarios` after section 9, or an appendix that is printed so."""
    return frozenset(
        chr(entry.number[0][1]).upper()
        for entry in contents.entries
        if len(entry.number) == 1 and entry.number[0][0] == 1
    )


def _first_of(text: str, before: int, position: int, words: str) -> int:
    """Where an entry begins: a long title runs over from the line above, which has its label and no page."""
    above = text[before : max(before, position - 1)]
    if "\n" in above or not above.strip() or parse_heading(words.strip())[0] is not None:
        return position
    return before if parse_heading(above.strip())[0] is not None else position


def _is_contents(group: Sequence[tuple[int, int, str, str, bool]]) -> bool:
    """Pages of a contents page do not go back, and its lines begin with words or numbers of places."""
    if len(group) < _FEWEST:
        return False
    pages = [int(page) for _, _, _, page, _ in group if page.isdigit()]
    back = sum(later < earlier for earlier, later in pairwise(pages))
    if back > len(pages) // 5:
        return False
    worded = sum(bool(re.search(r"[^\W\d_]{3}", words)) for _, _, words, _, _ in group)
    dotted = sum(item[4] for item in group)
    labelled = sum(parse_heading(words.strip())[0] is not None for _, _, words, _, _ in group)
    return worded >= 0.7 * len(group) and (dotted >= len(group) // 2 or labelled >= 0.6 * len(group))


def _wrapped(text: str, first: int, last: int) -> set[int]:
    """The lines between the first entry of a contents page and the last belong to it."""
    starts, position = set(), first
    while position < last:
        starts.add(position)
        position = text.find("\n", position, last) + 1
        if not position:
            break
    return starts


def _entry(words: str, start: int) -> Entry:
    words = re.sub(r"[\s.…·_]+\Z", "", words.strip())
    label, title = parse_heading(words)
    if label is None or label.relative:
        return Entry("", (), title_key(words), start)
    return Entry(label.kind, number_key(label.number), title_key(clean(title)), start)


def listed_contents(lines: Sequence[NumberedLine]) -> Contents:
    """Find runs of numbered lines without any text of their own that come again further down."""
    last: dict[tuple[str, Number], dict[str, int]] = {}
    first: dict[tuple[str, Number], int] = {}
    for line in lines:
        first.setdefault((line.label.kind, line.number), line.start)
        last.setdefault((line.label.kind, line.number), {})[_first_word(line)] = line.start
    found: list[Entry] = []
    starts: set[int] = set()
    run: list[NumberedLine] = []
    for index, line in enumerate(lines):
        if not line.heading and _comes_again(line, last[line.label.kind, line.number]):
            run.append(line)
            # The last entry is followed by the text of the document itself.
            if _bare(lines, index):
                continue
        if len(run) >= _RUN and _is_list_of_places(run, first):
            found += [_entry(f"{entry.label.text} {_first_line(entry.words)}", entry.start) for entry in run]
            starts.update(entry.start for entry in run)
        run = []
    return Contents(found, frozenset(starts))


def _is_list_of_places(run: Sequence[NumberedLine], first: dict[tuple[str, Number], int]) -> bool:
    """Contents count from 1, and stand before what they list; a list of parts may well be repeated."""
    if run[0].plain and run[0].number[0][1] > 1:
        return False
    return sum(first[line.label.kind, line.number] == line.start for line in run) >= 0.6 * len(run)


def _first_word(line: NumberedLine) -> str:
    return next(iter(title_key(line.words[:60]).split()), "")


def _comes_again(line: NumberedLine, last: dict[str, int]) -> bool:
    """Whether the same place is named further down: the steps of two lists share their numbers only."""
    word = _first_word(line)
    later = [last.get(word, 0), last.get("", 0)] if word else last.values()
    return max(later) > line.start


def _first_line(words: str) -> str:
    return words.split("\n", 1)[0]


def _bare(lines: Sequence[NumberedLine], index: int) -> bool:
    return index + 1 < len(lines) and lines[index + 1].start - lines[index].start <= _OWN_TEXT
