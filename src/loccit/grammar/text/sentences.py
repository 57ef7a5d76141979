"""Where sentences and clauses end, accurately enough to split long text."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Words whose full stop does not end a sentence. Casefolded, without the stop.
_ABBREVIATIONS = frozenset(
    """
    abs abt al anm approx art aufl bd bsp bzw ca cap cf ch chap cl co corp d dr e ed eds eg etc f ff fig g i ie inc
    jr lit ltd m mr mrs ms n no nr nos o p para pp prof pt r ref s sec sect sen sig sr st tab u v vgl vol vs z zb ziff
    """.split()
)
# One character first, which is fast to search for. The look-behind after it keeps a megabyte of full stops
# from being tried from each of them.
_END = re.compile(
    r"[.!?…。！？\n]"
    r"(?:(?<=[.!?…])(?<![.!?…].)[.!?…]*[\"'”’»)\]]*(?=\s)|(?<=[。！？])[。！？]*[」』”’）]*|(?<=\n)[ \t]*\n)"
)
_CLAUSE_END = re.compile(r"[;:](?=\s)|[；：、，]|,(?=\s)|\n")
_LAST_WORD = re.compile(r"(\w+)\.$")


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the offsets after which a sentence ends inside ``text[start:end]``, white space included.

    >>> sentence_ends("One. See Sec. 4 here. Two!")
    [5, 22]
    """
    limit = len(text) if end is None else min(end, len(text))
    ends = (
        match.end()
        for match in _END.finditer(text, start, limit)
        if match.group()[0] != "." or not _is_abbreviation(text, start, match.start() + 1, match.end(), limit)
    )
    return _after_white_space(text, start, limit, ends)


def _is_abbreviation(text: str, start: int, stop: int, position: int, limit: int) -> bool:
    word = _LAST_WORD.search(text, max(start, stop - 12), stop)
    if not word:
        return False
    if word[1].casefold() in _ABBREVIATIONS and not text[position : position + 2].startswith("\n\n"):
        return True
    # An initial (`J. Smith`), a number in a list or date (`1. First`, `3. Oktober`), or a continuation in
    # lower case.
    if (len(word[1]) == 1 and word[1].isupper()) or (len(word[1]) <= 2 and word[1].isdigit()):
        return True
    after = _skip_space(text, position, limit)
    return after < limit and text[after].islower()


def clause_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the offsets after which a clause ends: at semicolons, colons, commas and line ends."""
    limit = len(text) if end is None else min(end, len(text))
    ends = (match.end() for match in _CLAUSE_END.finditer(text, start, limit))
    return _after_white_space(text, start, limit, ends)


def _after_white_space(text: str, start: int, limit: int, ends: Iterable[int]) -> list[int]:
    """Move each end past the white space that follows it; ends that coincide become one."""
    moved: list[int] = []
    position = start
    for end in ends:
        if end < position:
            continue
        position = _skip_space(text, end, limit)
        if start < position < limit and (not moved or position > moved[-1]):
            moved.append(position)
    return moved


def _skip_space(text: str, position: int, limit: int) -> int:
    while position < limit and text[position].isspace():
        position += 1
    return position
