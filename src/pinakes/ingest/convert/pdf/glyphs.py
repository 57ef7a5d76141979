"""Fonts that give the numbers of their glyphs where characters are asked for.

Most TrueType fonts have their glyphs in one order, that of the Macintosh: three for no character, then those of ASCII.
A font that was put into a document by its glyphs, without saying which characters they draw, then reads as text whose
letters are moved by 29 places: `7KLV` for `This`. Moved back, they are legible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

from .legible import is_legible, vowels

_MOVED = 29
_LAST = 0x7E
_QUOTES = {177: "–", 178: "—", 179: "“", 180: "”", 181: "‘", 182: "’"}
# Spaces and line ends are pdfium's own.
_BACK = {c: chr(c + _MOVED) for c in range(3, _LAST - _MOVED + 1) if c not in (10, 13, 32)} | _QUOTES
_LEAST_LETTERS = 30
_LIKE_A_LANGUAGE = (0.27, 0.55)
"""Which part of the letters are vowels."""
_SHORT, _LONG = 3.0, 16.0
"""How many characters words have, with the space."""
_MOST_ALIKE = 0.08
_SIGNS = "$%&'(*+/"
_MANY_SIGNS = 0.2


class Glyphs:
    """Puts the text of the pages of a document right, remembering which of its fonts are such."""

    def __init__(self) -> None:
        self._moved: set[int] = set()

    def mend(self, text: str, font_at: Callable[[int], int]) -> tuple[str, bool]:
        """The text of a page, put right, and whether it is legible now.

        ``font_at`` gives the number of the font at an index, 0 for none.
        """
        if not self._moved and is_legible(text):
            return text, True
        by_font: dict[int, list[int]] = defaultdict(list)
        for index in range(len(text)):
            if font := font_at(index):
                by_font[font].append(index)
        letters = list(text)
        texts = {font: "".join([text[index] for index in places]) for font, places in by_font.items()}
        self._moved.update(font for font, written in texts.items() if _is_moved(written))
        if self._moved:
            self._moved.update(font for font, written in texts.items() if _are_capitals(written))
        for font in self._moved & by_font.keys():
            for index, letter in zip(by_font[font], texts[font].translate(_BACK), strict=True):
                letters[index] = letter
        mended = "".join(letters)
        return mended, is_legible(mended)


def _is_moved(written: str) -> bool:
    """Whether the text of a font is unlike any language as it is, and like one when it is moved back."""
    return vowels(written) < _LIKE_A_LANGUAGE[0] and _is_language(written.translate(_BACK))


def _are_capitals(written: str) -> bool:
    """Whether a font has words in capitals, moved: these are mostly signs, as figures are not."""
    signs = sum(map(written.count, _SIGNS))
    return signs > _MANY_SIGNS * len(written) and _is_language(written.translate(_BACK))


def _is_language(text: str) -> bool:
    count = sum(letter.isascii() and letter.isalpha() for letter in text)
    words = text.split()
    if count < _LEAST_LETTERS or 2 * count < len(text) or not _SHORT <= len(text) / len(words) <= _LONG:
        return False
    # The signs of a pattern come in long runs of the same.
    alike = sum(a == b for a, b in pairwise(text.lower()))
    least, most = _LIKE_A_LANGUAGE
    return least <= vowels(text) <= most and alike < _MOST_ALIKE * len(text)
