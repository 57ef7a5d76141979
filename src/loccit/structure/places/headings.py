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
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from loccit.grammar.labels import parse_heading
from loccit.grammar.text.keys import title_key
from loccit.structure import Heading, Parsed
from loccit.structure.places.lines import NumberedLine, read_line
from loccit.structure.places.mentions import Contents
from loccit.structure.places.series import NOTHING, Learnt, label_of
from loccit.structure.places.titles import CLAUSE, Title, clean, is_title, read_title, titles_below

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


_UNDERLINED = re.compile(
    r"(?<![^\n])(?:(?P<over>([=\-~^_*#\"'+])\2{2,})[ \t]*\n)?"
    r"(?P<words>[ \t]*\S[^\n]*)\n(?P<rule>[ \t]*([=\-~^_*#\"'+])\5{2,})[ \t]*(?=\n|\Z)"
)
_BLOCK = re.compile(r"(?<![^\n])(?:[ \t]*\S[^\n]*(?:\n|\Z))+")
_COLUMNS = re.compile(r"\S(?:\t+| {3,})\S")
_WIDEST = 120
_FEWEST_UNDERLINED, _FEWEST_CENTRED = 2, 3
# How far from the centre a title may be, and how far from the margin it must be.
_AMISS, _INSET = 3, 6
_MOST_LINES = 3
# The minimum text below a title; a line of a letterhead has less.
_LEAST_TEXT = 60
# A line that recurs this often is a running head.
_OFTEN = 3

_Found: TypeAlias = tuple[int, int, str, str]
"""Where a title begins, where its text begins, its words, and what it looks like."""


def unnumbered_titles(text: str, body_start: int, width: int) -> list[Heading]:
    """Return the titles of a text that are recognised by layout alone, with their levels."""
    underlined = [*_underlined(text, body_start)]
    centred = [*_centred(text, body_start, width)] if width <= _WIDEST else []
    found = underlined if len(underlined) >= _FEWEST_UNDERLINED else []
    found += centred if len(centred) >= _FEWEST_CENTRED else []
    levels: dict[str, int] = {}
    headings = []
    for start, body, words, style in sorted(found):
        # Centred capitals are never below centred lower case.
        levels.setdefault(style, 1 if style == "capitals" else len(levels) + 1)
        headings.append(Heading(levels[style], words, start, body))
    return headings


def _underlined(text: str, begin: int) -> Iterator[_Found]:
    for match in _UNDERLINED.finditer(text, begin):
        words, rule, start = match["words"].strip(), match["rule"].strip(), match.start()
        above = match["over"] or text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].strip()
        alike = abs(len(rule) - len(words)) <= max(3, 0.4 * len(words))
        if alike and above == (rule if match["over"] else "") and _names(words):
            yield start, match.end(), clean(words), rule[0] + "^" * bool(match["over"])


def _centred(text: str, begin: int, width: int) -> Iterator[_Found]:
    """Titles of a few lines in the middle, each between blank lines and above a paragraph."""
    blocks = [*_BLOCK.finditer(text, begin)]
    lines = [[line.expandtabs(1) for line in block.group().splitlines()] for block in blocks]
    indents = Counter(_indent(line) for block in lines for line in block if len(line.strip()) > width / 2)
    margin = indents.most_common(1)[0][0] if indents else 0
    middle = (margin + width) / 2

    def is_centred(line: str) -> bool:
        words, indent = line.strip(), _indent(line)
        return (
            len(words) <= 0.7 * (width - margin)
            and indent >= margin + _INSET
            and abs(indent + len(words) / 2 - middle) <= _AMISS
        )

    found = []
    for index, (block, below) in enumerate(pairwise(lines)):
        words = clean(" ".join(block))
        if (
            len(block) <= _MOST_LINES
            and all(map(is_centred, block))
            and not is_centred(below[0])
            and _names(words)
            and sum(len(line.strip()) for line in below) >= _LEAST_TEXT
        ):
            at = blocks[index]
            end = at.start() + len(at.group().rstrip())
            found.append((at.start(), end, words, "capitals" if words.isupper() else "small"))
    often = Counter(title_key(words) for _, _, words, _ in found)
    return (title for title in found if often[title_key(title[2])] < _OFTEN)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _names(words: str) -> bool:
    letters = sum(character.isalpha() for character in words)
    return (
        letters >= max(3, 0.6 * len(words.replace(" ", "")))
        and words[0] not in "[(<"
        and not _COLUMNS.search(words)
        and is_title(clean(words), own_line=True)
    )
