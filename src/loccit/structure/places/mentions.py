"""What a document says about its own places: contents pages, mentions in the text, and how much is confirmed.

A contents page says what exists; its lines are not places. `Section 4 (Payment & Taxes)`, `see 6.2` and `Article III,
"Remedies"` tell which numbers exist and their titles. `Section 409A of the Code` says nothing about the document
itself. All of it is read in one pass that looks for numbers and then at the word before each: numbers are few, words
are many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from loccit.grammar.labels import LEAF_KINDS, normalise_number, parse_heading
from loccit.grammar.labels.lexicon import load, lowered
from loccit.grammar.text.keys import title_key
from loccit.model import Place, Reference, SelfCheck
from loccit.structure import Parsed
from loccit.structure.places.chain import Number, number_key
from loccit.structure.places.lines import NumberedLine
from loccit.structure.places.titles import clean
from loccit.structure.places.unexplained import unexplained

# `Introduction ........ 3`, `Introduction      3`, `Introduction . . . 3`
_LEADER = re.compile(
    r"^(?P<words>[^\n]{2,160}?)(?:[ \t]*(?:\.{2,}|(?:\. ){2,}|…|·{2,}|_{3,})[ .…·_]*|(?P<short> [ .] ?)|[ \t]{3,}|\t)"
    r"(?P<page>\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}-\d{1,3})\s*$"
)
_DOTS = re.compile(r"\.{3,}|(?:\. ){3,}|…{2,}|·{3,}|_{3,}")
# Lines between two entries: a wrapped title, a running head or foot.
_NEAR = 9
_FEWEST = 3
# Entries without pages: this many consecutive places without text that occur again later.
_RUN, _SHORT_RUN = 5, 2
_STOP = re.compile(r"[.:—–]\s")
_OWN_TEXT = 170


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a contents page. ``number`` is empty for a title without one."""

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
    """Find the lines that end in page numbers."""
    entries: list[tuple[int, int, str, str, bool]] = []
    position, number, before = begin, 0, begin
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        # Most lines end with a character that page numbers do not.
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
    """The letters that are labels themselves: `A. Scenarios` after section 9, or an appendix printed that way."""
    return frozenset(
        chr(entry.number[0][1]).upper()
        for entry in contents.entries
        if len(entry.number) == 1 and entry.number[0][0] == 1
    )


def _first_of(text: str, before: int, position: int, words: str) -> int:
    """Where an entry begins: a long title continues from the line above, which has its label and no page."""
    above = text[before : max(before, position - 1)]
    if "\n" in above or not above.strip() or parse_heading(words.strip())[0] is not None:
        return position
    return before if parse_heading(above.strip())[0] is not None else position


def _is_contents(group: Sequence[tuple[int, int, str, str, bool]]) -> bool:
    """The pages on a contents page do not decrease, and its lines begin with words or numbers of places."""
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
    """The lines between the first and the last entry of a contents page belong to it."""
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


_STOPS = (".", ";", ",")


def listed_contents(lines: Sequence[NumberedLine], text: str) -> Contents:
    """Find runs of numbered lines without text that occur again further down."""
    last: dict[tuple[str, Number], dict[str, int]] = {}
    first: dict[tuple[str, Number], int] = {}
    for line in lines:
        first.setdefault((line.label.kind, line.number), line.start)
        last.setdefault((line.label.kind, line.number), {})[_first_word(line)] = line.start
    listed: list[NumberedLine] = []
    run: list[NumberedLine] = []
    for index, line in enumerate(lines):
        if not line.heading and _comes_again(line, last[line.label.kind, line.number]):
            run.append(line)
            # The last entry is followed by the text of the document itself.
            if _bare(lines, index):
                continue
        if (len(run) >= _RUN and _is_list_of_places(run, first)) or _is_short_list(run, lines, index, text):
            listed += run
        run = []
    starts = frozenset(entry.start for entry in listed)
    entries = {
        entry.start: _entry(f"{entry.label.text} {_first_line(entry.words)}", entry.start) for entry in listed
    }
    return Contents([entries[start] for start in sorted(starts)], starts)


def _is_list_of_places(run: Sequence[NumberedLine], first: dict[tuple[str, Number], int]) -> bool:
    """Contents count from 1, and precede what they list; a list of parts may well be repeated."""
    if run[0].plain and run[0].number[0][1] > 1:
        return False
    if 2 * sum(line.words.rstrip().endswith(_STOPS) for line in run) > len(run):
        # Sentences that are quoted before they come.
        return False
    return sum(first[line.label.kind, line.number] == line.start for line in run) >= 0.6 * len(run)


def _is_short_list(run: Sequence[NumberedLine], lines: Sequence[NumberedLine], index: int, text: str) -> bool:
    """Whether a few titles with nothing between them follow at once, most of them with text."""
    if not _SHORT_RUN <= len(run) < _RUN or any(_has_text(text, *pair) for pair in pairwise(run)):
        return False
    named = {_named(line) for line in run}
    after = lines[index + (lines[index] is run[-1]) :][: _RUN * len(run)]
    told = {_named(line) for line, later in pairwise([*after, None]) if line and _has_text(text, line, later)}
    return named <= {_named(line) for line in after} and 2 * len(named & told) > len(named)


def _has_text(text: str, line: NumberedLine, later: NumberedLine | None) -> bool:
    """Whether more than its first line stands between a line and the next."""
    return bool(text[text.find("\n", line.rest - 1) : later.start if later else None].strip())


def _named(line: NumberedLine) -> tuple[str, Number, str]:
    return line.label.kind, line.number, title_key(_STOP.split(line.words.split("\n", 1)[0], maxsplit=1)[0])


def _first_word(line: NumberedLine) -> str:
    return next(iter(title_key(line.words[:60]).split()), "")


def _comes_again(line: NumberedLine, last: dict[str, int]) -> bool:
    """Whether the same place is named further down: the steps of two lists share only their numbers."""
    word = _first_word(line)
    later = [last.get(word, 0), last.get("", 0)] if word else last.values()
    return max(later) > line.start


def _first_line(words: str) -> str:
    return words.split("\n", 1)[0]


def _bare(lines: Sequence[NumberedLine], index: int) -> bool:
    return index + 1 < len(lines) and lines[index + 1].start - lines[index].start <= _OWN_TEXT


# -- what the text calls them --------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"[\s§(](?P<number>\d{1,3}(?:\.\d{1,3}){0,5}|[IVXLC]{1,7})(?![\w‑–-]|\.\d|,\d{3}|\s?%)"
    r"(?P<parts>(?:\s?\([0-9A-Za-z]{1,4}\)){0,4})"
)
_WORD = re.compile(r"(?P<word>§|[^\W\d_]+)\.?\s?\Z")
_BEFORE = 24
_JOINED = re.compile(r"\s{0,2},?\s{0,2}(?:(?:and|or|to|through|und|oder|bis|et|y|e|o)\s)?\s{0,2}")
# `of the Code`, `under the Exchange Act`, `des Gesetzes`: the number belongs to another document.
_LAWS = (
    r"(?:Act|Acts|Code|Law|Laws|Statutes?|Rules?|Regulations?|Directive|Constitution|Treaty|Convention|Ordinance|Decree|ERISA"
    r"|Gesetz\w*|Verordnung|Richtlinie|Ley|Código|Loi|Règlement|Legge|Wet)\b"
)
_OF_ANOTHER = re.compile(
    rf"[\s,]{{1,3}}(?:(?:of|under|in|to|from)\s{{1,3}}(?:(?:the|that|such|said|any)\s{{1,3}})?(?:\d{{4}}\s|[\w.&'’-]{{1,20}}\s{{1,2}}){{0,4}}?{_LAWS}"
    r"|(?:of\s{1,3}(?:the\s{1,3})?)?(?:Title\s\d|[A-Z][a-z]{0,5}[A-Z]{1,6}\b|[A-Z]{3,6}\b(?!\s[A-Z])))"
)
_OWN = re.compile(
    r"[\s,]{1,3}(?:of|to|in|under)\s{1,3}(?:this|these)\b|\s{1,3}(?:hereof|above|below|hereto)\b"
)
_LAW_BEFORE = re.compile(
    rf"(?:{_LAWS}\.?|[A-Z]\.\s?[A-Z]\.(?:\s?[A-Z]\.)?|[A-Z]{{3,6}}|Reg\.|Regs\.|Stat\.)\s{{0,2}}\Z"
)
# Things with numbers of their own, and measurements: `Table 4.2`, `version 2.1`.
_NO_PLACES = frozenset(
    "version release table tables figure figures fig eq page pages item exhibit about approximately least".split()
)


@cache
def _spoken() -> dict[str, str]:
    """The kind that each word before a number means."""
    return {
        "§": "section",
        **{word: form.kind for word, form in load().forms.items() if not form.only_heading},
    }


@dataclass(slots=True)
class Mentions:
    """The numbers that a document mentions, by kind (a bare `6.2` has none)."""

    numbers: set[tuple[str, Number]] = field(default_factory=set)
    others: set[Number] = field(default_factory=set)
    """Numbers that are only mentioned as those of other documents."""


@dataclass(slots=True)
class _Named:
    kind: str
    number: Number
    start: int
    end: int


def read_mentions(text: str) -> Mentions:
    """Read what a text says about its own numbers."""
    mentions = Mentions()
    for group in _groups(text):
        last = group[-1]
        if _OF_ANOTHER.match(text, last.end) and not _OWN.match(text, last.end):
            mentions.others.update(named.number for named in group)
            continue
        mentions.numbers.update((named.kind, named.number) for named in group)
    mentions.others -= {number for _, number in mentions.numbers}
    return mentions


def _groups(text: str) -> Iterator[list[_Named]]:
    """Numbers that are named together: `Sections 4, 5 and 6 of the Plan` are one group."""
    group: list[_Named] = []
    for match in _NUMBER.finditer(text):
        if group and match.start("number") - group[-1].end < 8:
            between = _JOINED.fullmatch(text, group[-1].end, match.start("number"))
        else:
            between = None
        kind = group[0].kind if between and group else _kind_before(text, match)
        if kind is None:
            continue
        if not between and group:
            yield group
            group = []
        number = number_key(normalise_number(match["number"]))
        group.append(_Named(kind, number, match.start("number"), match.end()))
    if group:
        yield group


def _kind_before(text: str, match: re.Match[str]) -> str | None:
    """The kind stated by the word before a number; `None` for a number that names no place of this document."""
    at = match.start() + (text[match.start()] == "§")
    before = _WORD.search(text, max(0, at - _BEFORE), at)
    if before is None or text[before.end("word") : match.start("number")].count("\n") > 1:
        return None
    word = lowered(before["word"])
    form = _spoken().get(word)
    if form is None:
        # A number at the start of a line is the place itself.
        inside = "." in match["number"] and "\n" not in text[before.end("word") : match.start("number")]
        return "" if inside and word not in _NO_PLACES and not before["word"][0].isupper() else None
    start = before.start()
    # A line that begins with a number is a place, or a reference broken there: it is not evidence for itself.
    line = text.rfind("\n", max(0, start - _BEFORE), start)
    if (line >= 0 or start < _BEFORE) and not text[line + 1 : start].strip(" \t#*_>"):
        return None
    return None if _LAW_BEFORE.search(text, max(0, start - _BEFORE), start) else form


# -- how much of it the tree confirms ---------------------------------------------------------------------------


# Numbers up to this many times the last one found may be places that were missed.
_BEYOND = 1.5


def self_check(parsed: Parsed, places: Sequence[Place], references: Iterable[Reference]) -> SelfCheck:
    """Count what a document says about its own places: references, lines of contents pages, numbered lines."""
    numbers = {number_key(place.number) for place in places if place.number}
    titles = {title_key(place.title) for place in places}
    listed = [entry for entry in parsed.contents if entry.number or entry.title]
    found = sum(entry.number in numbers if entry.number else entry.title in titles for entry in listed)
    lines = unexplained(parsed, places)
    reach = _reach(places)
    mentions = parsed.mentions or Mentions()
    own = {}
    for item in references:
        number = number_key(item.number_key.split("_")) if item.number_key else ()
        if _is_own(item, reach) and number not in mentions.others:
            met = bool(item.target_section) and not item.reason
            # If its own numbers are whole, a number that they lack belongs to another document.
            lacking = tuple(item.number_key.split("_")) in lines.missing
            if met or lacking or not lines.whole:
                own[item.number_kind, item.number_key] = met
    return SelfCheck(len(own), sum(own.values()), len(listed), found, lines.numbered, lines.unexplained)


def _reach(places: Iterable[Place]) -> dict[str, int]:
    """The highest numbers of each kind."""
    reach: dict[str, int] = {}
    for place in places:
        if place.number and place.number[0].isdecimal():
            kind = _group(place.kind)
            reach[kind] = max(reach.get(kind, 0), int(place.number[0]))
    return reach


def _group(kind: str) -> str:
    return "" if kind in LEAF_KINDS else kind


def _is_own(reference: Reference, reach: dict[str, int]) -> bool:
    """Whether a reference names a number of this document.

    References to another act do not count, and a number far beyond the document's own belongs to another act.
    """
    if reference.kind != "number" or not reference.number_key or reference.document:
        return False
    first = reference.number_key.split("_", 1)[0]
    last = reach.get(_group(reference.number_kind), 0)
    return last > 0 and (not first.isdecimal() or int(first) <= _BEYOND * last)
