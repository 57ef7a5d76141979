"""The front of a document: what stands between its title and its text is authors, addresses and dates, no headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .candidates import Candidate
from .flow import Item
from .page import Heading, Line

_NAMES = re.compile(r"[,;@\d*∗†‡§¶]|\[\^")
_WORDS = 6
_USUAL = 3
"""A look that comes back so often on later pages is that of headings."""


def without_front(found: Sequence[Candidate], flow: Sequence[Item | Heading]) -> list[Candidate]:
    """The candidates without those of the first page that stand between the title and the text.

    The last of them stays if it is a plain word right above the text, as `Abstract` is.
    """
    first = next((item.page for item in flow if isinstance(item, Line)), 0)
    front = [c for c in found if c.page == first and c.label is None]
    if len(front) < 2 or any(isinstance(item, Heading) for item in flow):
        return list(found)
    title = max(front, key=lambda c: c.look.size)
    if not title.big:
        return list(found)
    start = _text(flow, first)
    later = Counter(c.look for c in found if c.page > first and c.label is None)
    gone: set[int] = set()
    for candidate in front:
        line = candidate.lines[-1]
        if (
            candidate is title
            or candidate.look.size > title.look.size - 0.6
            or later[candidate.look] >= _USUAL
        ):
            continue
        if start is None:
            gone.add(candidate.first)
        elif title.lines[-1].base < line.base < start.base:
            above = start.base - line.base <= 2.6 * max(line.size, start.size) and line.x0 < start.right
            if not above or len(candidate.lines) > 1 or _NAMES.search(candidate.text):
                gone.add(candidate.first)
    return [c for c in found if c.first not in gone]


def _text(flow: Sequence[Item | Heading], page: int) -> Line | None:
    """The first line of running text of a page: three full lines one below the other. None on a cover."""
    lines = [i for i in flow if isinstance(i, Line) and i.page == page]
    starts = [
        a
        for a, b, c in zip(lines, lines[1:], lines[2:], strict=False)
        if a.block == b.block == c.block and abs(b.x0 - c.x0) < 2 and _full(a) and _full(b)
    ]
    return min(starts, key=lambda line: line.base, default=None)


def _full(line: Line) -> bool:
    wide = line.x1 - line.x0 > 0.7 * (line.right - line.left)
    return wide and line.text.count(" ") + 1 >= _WORDS
