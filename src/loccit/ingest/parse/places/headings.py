"""Headings without a number: those that the format marks, and titles recognised by their layout.

Headings that the format marks are used with their label, but without text that runs on. By layout, lines with a rule
below them and short centred lines are recognised, in plain texts without headings, contents page and numbers, and only
if several look alike: a single line with dashes below is a table's, and a single centred one an address.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from loccit.ingest.parse import Heading, Parsed
from loccit.ingest.parse.places.lines import NumberedLine, read_line
from loccit.ingest.parse.places.mentions import Contents
from loccit.ingest.parse.places.series import NOTHING, Learnt, label_of
from loccit.ingest.parse.places.titles import CLAUSE, Title, clean, is_title, read_title, titles_below
from loccit.labels import parse_heading
from loccit.text.keys import title_key

_LONGEST_HEADING = 120
_LONGEST_TITLE = 250
_NO_WIDTH = 1_000_000
# The share of lines with a title that makes a series one of headings.
_TITLED = 0.6


def styled_headings(parsed: Parsed, learnt: Learnt = NOTHING) -> list[Heading]:
    """Return the headings of a text, each with its title only; ``learnt`` is how the document numbers its parts."""
    headings = [_with_label(heading, learnt) for heading in parsed.headings]
    return _shorten(_titled_below(_merge_titles(headings, parsed.text), parsed.text), parsed.text)


def _with_label(heading: Heading, learnt: Learnt) -> Heading:
    if not learnt.may_begin(heading.text, heading.start) or parse_heading(heading.text)[0]:
        return heading
    label, title = learnt.split(heading.text, heading.start)
    return replace(heading, label=label, title=title) if label else heading


def _merge_titles(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Join a heading that is only a label with the one below that names it: `Article 1`, then `Subject matter`."""
    merged: list[Heading] = []
    for heading in headings:
        above = merged[-1] if merged else None
        if (
            above is not None
            and above.level == heading.level
            and not text[above.body : heading.start].strip()
            and _only_label(above)
            and heading.label is None
            and parse_heading(heading.text)[0] is None
        ):
            merged[-1] = _titled(above, heading.text, heading.body)
        else:
            merged.append(heading)
    return merged


def _titled_below(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Add titles that are paragraphs below headings which are only labels."""
    alone = [heading.body for heading in headings if _only_label(heading)]
    titles = titles_below(text, alone)
    return [
        _titled(heading, title.words, title.body)
        if (title := titles.get(heading.body)) and _only_label(heading)
        else heading
        for heading in headings
    ]


def _titled(heading: Heading, words: str, body: int) -> Heading:
    """Give a heading that is only a label its title."""
    return replace(
        heading, text=f"{heading.text} {words}", title=words if heading.label else heading.title, body=body
    )


def _shorten(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Remove text from headings: a clause in a heading style has a number, perhaps a title, and then text."""
    kept = []
    for heading in headings:
        line = read_line(text, heading.start, heading.body)
        clause = line is not None and CLAUSE.match(text, line.rest) is not None
        if len(heading.text) <= _LONGEST_HEADING and not clause:
            kept.append(heading)
            continue
        title = read_title(text, line.rest, heading.body, _NO_WIDTH) if line else None
        if line is None or (title is None and len(heading.text) <= _LONGEST_TITLE and not clause):
            # A paragraph of prose in a heading style is not a title; a long title still is.
            if line or not heading.text.endswith((".", ";", ":", ",")):
                kept.append(heading)
            continue
        words = f"{line.label.text} {title.words}" if title else line.label.text
        body = title.body if title else line.rest
        kept.append(
            Heading(heading.level, words, heading.start, body, line.label, title.words if title else "")
        )
    return kept


def _only_label(heading: Heading) -> bool:
    label, title = (heading.label, heading.title) if heading.label else parse_heading(heading.text)
    return label is not None and bool(label.kind) and not title


def labelled(headings: Iterable[Heading]) -> list[NumberedLine]:
    """Return the headings with a label, as numbered lines."""
    found = []
    for heading in headings:
        label, title = (heading.label, heading.title) if heading.label else parse_heading(heading.text)
        if label and not label.relative:
            found.append(
                NumberedLine(
                    heading.start, heading.body, heading.body, label, title, True, True, heading=True
                )
            )
    return found


# -- series whose lines have titles -----------------------------------------------------------------------------------


def titled_series(
    learnt: Learnt, accepted: Sequence[NumberedLine], contents: Contents, parsed: Parsed, width: int
) -> tuple[list[NumberedLine], dict[int, Title]]:
    """Return the lines of the series whose lines have titles: these are headings, whatever their type."""
    series: dict[str, list[NumberedLine]] = {}
    titles: dict[int, Title] = {}
    alone: set[int] = set()
    taken = {line.start for line in accepted} | contents.lines
    numbers = {line.number for line in accepted if line.dotted}
    ends = {block.start: block.end for block in parsed.blocks}
    starts = sorted(ends)
    for member in learnt.members.values():
        if member.row or member.start in taken or member.shape in learnt.kinds or member.number in numbers:
            continue
        name = member.shape[0] if member.shape[0] == "code" else ":".join(member.shape)
        end = ends[starts[bisect_right(starts, member.start) - 1]]
        series.setdefault(name, []).append(
            NumberedLine(member.start, member.rest, end, label_of(member), "", True, True, shape=name)
        )
        if title := read_title(parsed.text, member.rest, end, width):
            titles[member.start] = title
        elif member.rest >= member.end:
            alone.add(member.start)
    alone |= titles.keys()
    found = [
        line
        for lines in series.values()
        if sum(line.start in alone for line in lines) >= _TITLED * len(lines)
        for line in lines
        if line.start in alone
    ]
    return found, titles


# -- titles without numbers, by their looks ---------------------------------------------------------------------


_RULE = re.compile(r"([=\-~^_*#\"'+])\1{2,}\Z")
_COLUMNS = re.compile(r"\S(?:\t+| {3,})\S")
_WIDEST = 120
_MAX_LINES = 200_000
_FEWEST_UNDERLINED = 2
_FEWEST_CENTRED = 3
# How far from the centre a title may be, and how far from the margin it must be.
_AMISS, _INSET = 3, 6
_MOST_LINES = 3
# The minimum text below a title; a line of a letterhead has less.
_LEAST_TEXT = 60
# A line that recurs this often is a running head.
_OFTEN = 3


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    words: str
    indent: int

    @property
    def end(self) -> int:
        return self.start + self.indent + len(self.words)


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    body: int
    words: str
    style: str


def unnumbered_titles(text: str, body_start: int, width: int) -> list[Heading]:
    """Return the titles of a text that are recognised by layout alone, with their levels."""
    lines = _lines(text, body_start)
    underlined = [*_underlined(lines)]
    centred = [*_centred(lines, width)] if width <= _WIDEST else []
    found = underlined if len(underlined) >= _FEWEST_UNDERLINED else []
    found += centred if len(centred) >= _FEWEST_CENTRED else []
    levels: dict[str, int] = {}
    headings = []
    for title in sorted(found, key=lambda one: one.start):
        # Centred capitals are never below centred lower case.
        levels.setdefault(title.style, 1 if title.style == "capitals" else len(levels) + 1)
        headings.append(Heading(levels[title.style], title.words, title.start, title.body))
    return headings


def _lines(text: str, body_start: int) -> list[_Line]:
    lines, start = [], body_start
    for line in text[body_start:].split("\n")[:_MAX_LINES]:
        words = line.strip()
        lines.append(_Line(start, words, len(line) - len(line.lstrip())))
        start += len(line) + 1
    return lines


def _underlined(lines: Sequence[_Line]) -> Iterator[_Found]:
    for index in range(len(lines) - 2):
        line, rule = lines[index], lines[index + 1]
        mark = _RULE.match(rule.words)
        if (
            not mark
            or not line.words
            or abs(len(rule.words) - len(line.words)) > max(3, 0.4 * len(line.words))
        ):
            continue
        above = lines[index - 1].words if index else ""
        overlined = above == rule.words
        if (above and not overlined) or not _names(line.words):
            continue
        top = lines[index - 1] if overlined else line
        yield _Found(top.start, rule.end, clean(line.words), mark[1] + ("^" if overlined else ""))


def _centred(lines: Sequence[_Line], width: int) -> Iterator[_Found]:
    indents = Counter(line.indent for line in lines if len(line.words) > width / 2)
    margin = indents.most_common(1)[0][0] if indents else 0
    middle = (margin + width) / 2

    def is_centred(line: _Line) -> bool:
        return (
            0 < len(line.words) <= 0.7 * (width - margin)
            and line.indent >= margin + _INSET
            and abs(line.indent + len(line.words) / 2 - middle) <= _AMISS
        )

    found: list[_Found] = []
    index = 0
    while index < len(lines):
        first = index
        while index < len(lines) and is_centred(lines[index]):
            index += 1
        if index == first:
            index += 1
            continue
        block = lines[first:index]
        words = clean(" ".join(line.words for line in block))
        alone = (first == 0 or not lines[first - 1].words) and index < len(lines) and not lines[index].words
        below = next((line for line in lines[index : index + 4] if line.words), None)
        if (
            alone
            and len(block) <= _MOST_LINES
            and below is not None
            and not is_centred(below)
            and _names(words)
            and _text_below(lines, index)
        ):
            style = "capitals" if words.isupper() else "small"
            found.append(_Found(block[0].start, block[-1].end, words, style))
    often = Counter(title_key(title.words) for title in found)
    return (title for title in found if often[title_key(title.words)] < _OFTEN)


def _names(words: str) -> bool:
    letters = sum(character.isalpha() for character in words)
    return (
        letters >= max(3, 0.6 * len(words.replace(" ", "")))
        and words[0] not in "[(<"
        and not _COLUMNS.search(words)
        and is_title(clean(words), own_line=True)
    )


def _text_below(lines: Sequence[_Line], index: int) -> bool:
    """Whether a paragraph follows, directly or after blank lines."""
    while index < len(lines) and not lines[index].words:
        index += 1
    length = 0
    while index < len(lines) and lines[index].words and length < _LEAST_TEXT:
        length += len(lines[index].words)
        index += 1
    return length >= _LEAST_TEXT
