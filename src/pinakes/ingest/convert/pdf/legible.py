"""Whether the characters of a page are those that it shows.

A font may draw letters without saying which they are, or say it wrongly. Then its text is full of characters that
nobody prints, or of words without vowels.
"""

from __future__ import annotations

import re
import unicodedata

_NEVER_PRINTED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{4,}")
_VOWELS = frozenset("aeiouy\u0131\u00e6\u00f8\u0153")
_LEAST = 40
_LEAST_LETTERS = 400
_MOST_UNPRINTED = 0.3
_LEAST_VOWELS = 0.23
"""Languages in Latin letters have a third of vowels and more."""


def vowels(text: str) -> float:
    """Which part of the ASCII letters of a text are vowels; 1 of a text without letters."""
    lower = text.lower()
    letters = sum("a" <= letter <= "z" for letter in lower)
    return sum(map(lower.count, "aeiouy")) / letters if letters else 1.0


def is_legible(text: str) -> bool:
    """Whether the text of a page can be read; a page with next to none can."""
    strange = len(_NEVER_PRINTED.findall(text))
    if strange >= _LEAST and strange > _MOST_UNPRINTED * len("".join(text.split())):
        return False
    words = "".join(_LATIN_WORD.findall(text))
    if len(words) < _LEAST_LETTERS:
        return True
    counted = sum(map(words.lower().count, "aeiouy"))
    if counted >= _LEAST_VOWELS * len(words):
        return True
    plain = unicodedata.normalize("NFD", words.lower())
    return sum(letter in _VOWELS for letter in plain) >= _LEAST_VOWELS * len(words)
