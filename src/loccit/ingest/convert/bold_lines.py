"""Headings for Markdown that has none: lines that are bold throughout, each with text below it.

Half of all Word files, and most agreements on the web, are written without heading styles. The text keeps its length,
so that what is known about its positions stays true.
"""

from __future__ import annotations

import re
from itertools import groupby

from loccit.labels import parse_heading

_HEADING = re.compile(r"^#{1,6} ", re.M)
_BOLD = re.compile(r"(?P<mark>\*{2,3})(?:<u>)?(?P<words>[^*<>|\n]{2,100}?)(?:</u>)?(?P=mark):?")
# A sentence, a blank to fill in, the name of a field.
_NO_TITLE = re.compile(r"(?:\S+ ){3,}.*[.,;!]$|.*(?:[{}\[\]@]|_{3}|\.{4})|[^\w(“\"']|[a-z]")
_MOST_WORDS = 12
_LEAST = 3
_DEEPEST = 2
_MOST = 0.4
"""Where more lines than this share are bold, bold is how the text is set."""


def with_headings(text: str) -> str:
    """The text, with its bold lines as headings if it has no other."""
    if _HEADING.search(text):
        return text
    lines = text.split("\n")
    written = [number for number, line in enumerate(lines) if line.strip()]
    titles = {number: title for number in written if (title := _title(lines, number))}
    labelled = {number for number, title in titles.items() if parse_heading(title)[0]}
    heads: dict[int, str] = {}
    for bold, run in groupby(written, key=titles.__contains__):
        found = list(run)
        # Numbers are read as they are, and with them the title on the line below.
        if not bold or found[-1] == written[-1] or not labelled.isdisjoint(found):
            continue
        # Of the first ones, the last heads the text: those above are a letterhead, or a title in parts.
        kept = found if heads and len(found) <= _DEEPEST else found[-1:]
        heads.update((number, titles[number]) for number in kept)
    if not max(_LEAST, len(labelled)) <= len(heads) <= _MOST * len(written):
        return text
    capitals = next(iter(heads.values())).isupper()
    for number, title in heads.items():
        level = 1 if title.isupper() or not capitals else 2
        lines[number] = f"{'#' * level} {title}".ljust(len(lines[number]))
    return "\n".join(lines)


def _title(lines: list[str], number: int) -> str:
    """The words of a bold line that is a paragraph of its own and could be a title."""
    match = _BOLD.fullmatch(lines[number])
    alone = not any(lines[beside].strip() for beside in (number - 1, number + 1) if 0 <= beside < len(lines))
    if not match or not alone:
        return ""
    words = match["words"].strip()
    return "" if len(words.split()) > _MOST_WORDS or _NO_TITLE.match(words) else words
