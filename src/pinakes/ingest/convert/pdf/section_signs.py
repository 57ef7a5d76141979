"""Section signs that Tesseract took for something else.

In German text it often reads `§` as `8`, `$` or `&`: `8 12 Abs. 1`, and `$ 1` where a section begins. One such place
may be a number or a price. So the whole document is asked: only words that follow in a citation (`Abs.`, `Satz`), or
section after section that begins in this way, tell that the sign is one; then other places where it can hardly be
anything else are mended too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .scan_type import RawLine, RawPage, RawWord

_MISREAD = frozenset("8$&")
_MISREAD_TWICE = re.compile(r"[8$&§]{2}")
_NUMBER = re.compile(r"(\d{1,4})[a-z]?[.,;:)]?")
_GLUED = re.compile(r"[$&](\d{1,4}[a-z]?[.,;:)]?)")
_CITED = re.compile(r"(?:Abs(?:\.|atz|ätze)|Satz|S\.|Nr\.|Nummer|Buchst\.|Buchstabe)\W*")
_RANGE = re.compile(r"bis|und|oder|sowie|ff\.?")
_WORD = re.compile(r"\(?[^\W\d_]{2,}[.,]?")
_LEAST_SECTIONS = 3
_LEAST_RISING = 0.8
_LONGEST_STEP = 3


def mend_section_signs(pages: Sequence[RawPage], german: bool) -> None:
    """Put section signs right, in place, if the document shows that it has such. ``german``: the text is said to be."""
    lines = [line for raw in pages for line in raw.lines]
    for line in lines:
        for word, following in pairwise(line.words):
            if (glued := _GLUED.fullmatch(word.text)) and _CITED.fullmatch(following.text):
                word.text = f"§ {glued[1]}"
    cited = sum(_is_cited(words, n) for words, n in _pairs(lines))
    known = german or cited > 0 or any("§" in word.text for line in lines for word in line.words)
    begun = [line for line in lines if _begins(line)]
    rising = known and _rise(begun)
    if not cited and not rising:
        return
    initial = {id(line.words) for line in begun} if rising else set()
    for words, n in _pairs(lines):
        sign = "§§" if len(words[n].text) == 2 else "§"
        if _is_cited(words, n) or (n == 0 and id(words) in initial) or (n and _stands_in_text(words, n)):
            words[n].text = sign


def _pairs(lines: Sequence[RawLine]) -> Iterator[tuple[list[RawWord], int]]:
    """Words that a section sign may have been taken for, with a number after them."""
    for line in lines:
        words = line.words
        for n, (word, following) in enumerate(pairwise(words)):
            if (word.text in _MISREAD or _MISREAD_TWICE.fullmatch(word.text)) and _NUMBER.fullmatch(
                following.text
            ):
                yield words, n


def _is_cited(words: Sequence[RawWord], n: int) -> bool:
    """Whether a citation goes on after the number: with a part of the section, or after two signs with another one."""
    if n + 2 >= len(words):
        return False
    following = words[n + 2].text
    if len(words[n].text) == 2 and words[n].text != "88":
        return True
    if len(words[n].text) == 2:
        return (
            bool(_RANGE.fullmatch(following))
            and n + 3 < len(words)
            and bool(_NUMBER.fullmatch(words[n + 3].text))
        )
    return bool(_CITED.fullmatch(following))


def _stands_in_text(words: Sequence[RawWord], n: int) -> bool:
    """Whether it stands between a word and a number that no further number follows."""
    after = words[n + 2].text if n + 2 < len(words) else ""
    return bool(_WORD.fullmatch(words[n - 1].text)) and not after[:1].isdigit()


def _begins(line: RawLine) -> bool:
    """Whether a line begins with what may be a section sign, and a number."""
    words = line.words
    return len(words) > 1 and words[0].text in _MISREAD and _NUMBER.fullmatch(words[1].text) is not None


def _rise(lines: Sequence[RawLine]) -> bool:
    """Whether the numbers at the beginnings of lines are those of sections: several, one after the other."""
    found = [_NUMBER.fullmatch(line.words[1].text) for line in lines]
    numbers = [int(match[1]) for match in found if match]
    if len(set(numbers)) < _LEAST_SECTIONS:
        return False
    steps = [0 <= b - a <= _LONGEST_STEP for a, b in pairwise(numbers)]
    return sum(steps) >= _LEAST_RISING * len(steps)
