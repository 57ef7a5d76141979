"""Quotations: what a text quotes at length has numbers of its own, which are not those of the text.

A quotation begins a paragraph with its mark and ends where that is closed: after inner quotations, and after the marks
that every further paragraph of it may begin with.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Spans: TypeAlias = Sequence[tuple[int, int]]
"""Starts and ends, in order."""

# Apostrophes and straight marks are those of single words too: they quote at length what begins with a number.
_OPENS = re.compile(r"^[ \t>]*(?:[-•][ \t]+)?[*_]{0,3}(?P<mark>[“„«]|[\"‘'](?=[*_]{0,3}[(\d]))", re.MULTILINE)
_CLOSES = {"“": "”", "„": "“”", "«": "»", '"': '"”', "‘": "’", "'": "'’"}
_SIGNS = {mark: re.compile(f"[{mark}{closing}]") for mark, closing in _CLOSES.items()}
_LINE_ENDS = re.compile(r"[*_]{0,3}[.;,:)\]]{0,4}[ \t]*\w{0,4}[ \t]*(?:\n|\Z)")
# Where each paragraph of a quotation begins with its mark, all do.
_UNMARKED = re.compile(r"\n[ \t>]*\n.+\n")
# One mark without another would quote all that follows.
_LONGEST, _MOST_OPEN = 20_000, 100


def quotations(text: str, begin: int, limits: Sequence[int]) -> list[tuple[int, int]]:
    """Return the quotations of several lines; none contains one of the ``limits``, in order."""
    return list(_quotations(text, begin, limits))


def _quotations(text: str, begin: int, limits: Sequence[int]) -> Iterator[tuple[int, int]]:
    end, left_open = begin, 0
    for opening in _OPENS.finditer(text, begin):
        start = opening.start()
        if start < end or left_open > _MOST_OPEN:
            continue
        later = bisect_left(limits, start)
        close = _close(text, opening, min(start + _LONGEST, *limits[later : later + 1], len(text)))
        if close < 0:
            left_open += 1
        elif "\n" in text[start:close] and 10 * (close - start) < 9 * (len(text) - begin):
            # What is nearly all of the text is what one looks for in it: an act that words another anew.
            yield start, close
            end = close


def _close(text: str, opening: re.Match[str], limit: int) -> int:
    """Where a quotation ends; negative if it does not."""
    mark, depth, last = opening["mark"], 1, opening.end()
    curved = mark in "“„«"
    for sign in _SIGNS[mark].finditer(text, opening.end(), limit):
        at = sign.start()
        begins = not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t>*_-•") and not _is_term(text, at, mark)
        if sign[0] in _CLOSES[mark] and (curved or _LINE_ENDS.match(text, at + 1)):
            depth -= 1
        elif begins and (not curved or _UNMARKED.search(text, last, at)):
            # Another one: this was left open.
            return -1
        elif sign[0] not in _CLOSES[mark]:
            depth += not begins
            last = at + 1 if begins else last
        if not depth:
            return at
    return -1


def _is_term(text: str, start: int, mark: str) -> bool:
    """Whether the line goes on behind what is in marks at its beginning: `“employer” means …` inside a quotation."""
    line_end = text.find("\n", start)
    sign = _SIGNS[mark].search(text, start + 1, len(text) if line_end < 0 else line_end)
    return bool(sign and sign[0] in _CLOSES[mark] and not _LINE_ENDS.match(text, sign.end()))


def is_quoted(spans: Spans, position: int) -> bool:
    """Whether a position is in one of the spans."""
    at = bisect_left(spans, (position + 1,)) - 1
    return at >= 0 and position < spans[at][1]
