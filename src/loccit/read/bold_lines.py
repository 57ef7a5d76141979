"""Headings for Markdown that has none, or next to none: lines set off throughout, each with text below it.

Half of all Word files, and most agreements on the web, are written without heading styles; others have one for the
title, or where a statute is quoted. The text keeps its length, so that what is known about its positions stays true.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, pairwise
from typing import NamedTuple

from loccit.grammar.labels import parse_heading

_HEADING = re.compile(r"^(#{1,6}) ", re.M)
_SET_OFF = re.compile(r"(?P<mark>\*{1,3})(?:<u>)?(?P<words>[^*<>|\n]{2,100}?)(?:</u>)?(?P=mark)(?P<colon>:?)")
_BOLD = re.compile(r"\*\*.+\*\*\W*")
# A sentence, a blank to fill in, the name of a field.
_NO_TITLE = re.compile(r"(?:\S+ ){3,}.*[.,;!]$|.*(?:[{}\[\]@]|_{3}|\.{4})|[^\w(“\"']|[a-z]")
_ITALIC = "*"
"""Italic or underlined lines are below bold ones."""
_MOST_WORDS = 12
_LEAST = 3
_DEEPEST = 2
_MOST = 0.4
"""Where more lines than this share are bold, bold is how the text is set."""
_PROSE = re.compile(r"(?=.{120})|(?:\S+ ){9,}\S*[.:;?!]$")
"""A paragraph: what is above the first one is a letterhead or a title."""
_FEW = 0.5
"""A text divided by its bold lines has at most this many marked headings for each of them."""


class _Title(NamedTuple):
    words: str
    mark: str
    introduces: bool
    """It ends with a colon: a name before a speech, the heading of a list."""


def with_headings(text: str) -> str:
    """The text, with its bold lines as headings if it has too few others to be divided by them."""
    lines = text.split("\n")
    written = [number for number, line in enumerate(lines) if line.strip()]
    titles = {number: title for number in written if (title := _title(lines, number))}
    labelled = {number for number, title in titles.items() if parse_heading(title.words)[0]}
    runs = [list(run) for bold, run in groupby(written, key=titles.__contains__) if bold]
    # Numbers are read as they are, and with them the title on the line below.
    below = dict(pairwise(written))
    runs = [
        run
        for run in runs
        if labelled.isdisjoint(run)
        and (following := lines[below[run[-1]]] if run[-1] in below else "")
        and not _BOLD.fullmatch(following)
        and (_PROSE.match(following) or not titles[run[-1]].introduces)
    ]
    begins = next((n for n in written if n not in titles and _PROSE.match(lines[n])), 0)
    front = [run for run in runs if run[-1] < begins]
    usual = Counter(titles[run[-1]].mark for run in runs).most_common(1)
    heads: list[int] = []
    for run in runs[max(len(front) - 1, 0) :]:
        if heads and len(run) <= _DEEPEST:
            heads += [n for n in run if n == run[-1] or not titles[n].introduces]
        else:
            # Of the first ones, the last heads the text: those above are a letterhead, or a title in parts, unless one
            # of them is set as most headings are and it is not.
            heads += [n for n in run if n == run[-1] or titles[n].mark == usual[0][0] != titles[run[-1]].mark]
    if not max(_LEAST, len(labelled)) <= len(heads) <= _MOST * len(written):
        return text
    marked = _HEADING.findall(text)
    if len(marked) > _FEW * len(heads):
        return text
    first = next((number for number, line in enumerate(lines) if _HEADING.match(line)), len(lines))
    outer = 1 if first > heads[0] else len(marked[0]) + 1
    capitals = titles[heads[0]].words.isupper()
    for number in heads:
        words, mark, _ = titles[number]
        level = outer + (capitals and not words.isupper()) + (mark == _ITALIC)
        lines[number] = f"{'#' * level} {words}".ljust(len(lines[number]))
    return "\n".join(lines)


def _title(lines: list[str], number: int) -> _Title | None:
    """The words of a bold line that is a paragraph of its own and could be a title."""
    match = _SET_OFF.fullmatch(lines[number])
    alone = not any(lines[beside].strip() for beside in (number - 1, number + 1) if 0 <= beside < len(lines))
    if not match or not alone:
        return None
    words = match["words"].strip()
    if len(words.split()) > _MOST_WORDS or _NO_TITLE.match(words) or words.count("“") != words.count("”"):
        return None
    return _Title(words, match["mark"], bool(match["colon"]) or words.endswith(":"))
