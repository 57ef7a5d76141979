"""Where sentences and clauses end, well enough to cut long text without hurting it."""

from __future__ import annotations

import re

# Words whose full stop does not end a sentence. Casefolded, without the stop.
_ABBREVIATIONS = frozenset(
    """
    abs abt al anm approx art aufl bd bsp bzw ca cap cf ch chap cl co corp d dr e ed eds eg etc f ff fig g i ie inc
    jr lit ltd m mr mrs ms n no nr nos o p para pp prof pt r ref s sec sect sen sig sr st tab u v vgl vol vs z zb ziff
    """.split()
)
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”’）]*|\n[ \t]*\n\s*")
_CLAUSE_END = re.compile(r"[;:](?=\s)|[；：、，]|,(?=\s)|\n")
_LAST_WORD = re.compile(r"(\w+)\.$")


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the offsets after which a sentence ends inside ``text[start:end]``, white space included.

    >>> sentence_ends("One. See Sec. 4 here. Two!")
    [5, 22]
    """
    limit = len(text) if end is None else end
    ends: list[int] = []
    for match in _END.finditer(text, start, limit):
        position = match.end()
        if match.group()[0] == "." and _is_abbreviation(text, start, match.start() + 1, position, limit):
            continue
        while position < limit and text[position].isspace():
            position += 1
        if start < position < limit and (not ends or position > ends[-1]):
            ends.append(position)
    return ends


def _is_abbreviation(text: str, start: int, stop: int, position: int, limit: int) -> bool:
    word = _LAST_WORD.search(text, max(start, stop - 12), stop)
    if not word:
        return False
    if word[1].casefold() in _ABBREVIATIONS and not text[position : position + 2].startswith("\n\n"):
        return True
    # An initial (`J. Smith`) or a list number (`1. First`), and anything that goes on in lower case.
    after = position
    while after < limit and text[after].isspace():
        after += 1
    return (word[1].isdigit() and len(word[1]) <= 2) or (after < limit and text[after].islower())


def clause_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the offsets after which a clause ends: at semicolons, colons, commas and line ends."""
    limit = len(text) if end is None else end
    ends: list[int] = []
    for match in _CLAUSE_END.finditer(text, start, limit):
        position = match.end()
        while position < limit and text[position].isspace():
            position += 1
        if start < position < limit and (not ends or position > ends[-1]):
            ends.append(position)
    return ends
