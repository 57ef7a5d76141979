"""Units: a text in pieces of a sentence or two; none cuts a sentence, a table or a block of code."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from pinakes.text.sentences import sentence_ends

# Characters: a sentence or two of formal prose.
_FULL = 200
_ENOUGH = 100
_REST = 80
# How far beyond its full size a unit looks for the end of a sentence, in steps; none so far, and it ends at a word.
_REACH = (80, 200, 400, 800)

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([^\n]*)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+•–]|\(?(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]{2,5})[.)])[ \t])")
_SPACE = re.compile(r"\s*")
_LAST_SPACE = re.compile(r".*\s", re.DOTALL)


# The same chunks answer many queries, and only the long ones are cut.
@lru_cache(maxsize=1024)
def unit_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the units of a text, which follow one another without a gap; none is blank, unless all is.

    >>> unit_spans("One sentence. " * 50)
    ((0, 210), (210, 420), (420, 700))
    """
    blocks = uncut_blocks(text)
    size = len(text.rstrip())
    ends = [0]
    while size - ends[-1] > _FULL + _REST:
        end = _next_end(text, ends[-1])
        for low, high in blocks:
            if low < end < high:
                end = high
        end = _past_space(text, ends[-1], end)
        if size - end < _REST:
            break
        ends.append(end)
    return tuple(pairwise([*ends, len(text)]))


def uncut_blocks(text: str) -> list[tuple[int, int]]:
    """Return where the tables and fenced blocks of a text are, in order."""
    blocks = _fenced(text) if "```" in text or "~~~" in text else []
    return sorted(blocks + _tables(text))


def _fenced(text: str) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif not fence[2] and fence[1].startswith(opening[1]):
            blocks.append((opening.start(), fence.end()))
            opening = None
    if opening is not None:
        # The text is a part: it ends inside a block. Or it begins inside one, and which fences open is anyone's guess.
        first = blocks[0][0] if blocks else opening.start()
        named = _FENCE.search(text, first)
        return [(opening.start(), len(text)), *blocks] if named and named[2] else [(0, len(text))]
    return blocks


def _tables(text: str) -> list[tuple[int, int]]:
    """Lines with bars in them, where two or more follow one another or the bar comes first."""
    tables: list[tuple[int, int]] = []
    at, last, alone = text.find("|"), -1, False
    while at >= 0:
        low, high = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
        if low == last:
            tables[-1] = (tables[-1][0], high)
            alone = False
        else:
            if alone:
                tables.pop()
            tables.append((low, high))
            alone = bool(text[low:at].strip(" \t>"))
        last, at = high, text.find("|", high)
    return tables[:-1] if alone else tables


def _next_end(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    begin = match.end() if match else start
    if paragraph := _PARAGRAPH.search(text, begin + _ENOUGH, begin + _FULL):
        return paragraph.end()
    full = begin + _FULL
    for limit in (min(len(text), full + reach) for reach in _REACH):
        # From a little before, because the space after a sentence belongs to it.
        ends = [at for at in sentence_ends(text, full - 20, limit) if at >= full]
        if item := _ITEM.search(text, full - 1, limit):
            ends.append(item.end())
        if ends:
            return min(ends)
    word = _LAST_SPACE.match(text, full, limit)
    return word.end() if word else limit


def _past_space(text: str, start: int, end: int) -> int:
    """Move an end behind the white space around it, but not into the indentation of the next line."""
    match = _SPACE.match(text, end)
    after = match.end() if match else end
    before = start + len(text[start:end].rstrip())
    line = text.rfind("\n", before, after) + 1
    return line or after
