"""Fingerprints of text, with which a link finds its words again in a document that has changed.

A fingerprint has the number of words and two hashes of them, in order: ``12-1k2x9af0z81kdm``. Spaces, line breaks,
markup and punctuation do not count, so that a text is found again if its lines are broken elsewhere. The page computes
the same ones (``fingerprints.js``): words and hashes are defined by code points alone.
"""

from __future__ import annotations

import re
from array import array

# Everything beyond ASCII is part of a word: what counts as a letter depends on the Unicode version.
_WORD = re.compile("[0-9A-Za-z\u0080-\U0010ffff]+")
_BASES = (0x9E3779B1, 0x85EBCA77)
_MASK = 0xFFFFFFFF
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_WIDTH = 7
PATTERN = rf"^[1-9][0-9]{{0,6}}-[0-9a-z]{{{2 * _WIDTH}}}$"
BEGINNING = 32
"""The number of words that represent a section."""


def fingerprint(text: str, most: int | None = None) -> str:
    """Return the fingerprint of a text, or of its first words; "" if it has none.

    >>> fingerprint("The **master** shall\\n  report.") == fingerprint("The master shall report")
    True
    """
    words = _WORD.findall(text)[:most]
    return _written(len(words), _hashes(words)) if words else ""


def find_text(text: str, mark: str) -> list[tuple[int, int]]:
    """Return where the words of a fingerprint are in a text."""
    count = int(mark.partition("-")[0])
    places = [match.span() for match in _WORD.finditer(text)]
    if count > len(places):
        return []
    hashes = _WordHashes()
    sums, powers = [array("Q", [0]), array("Q", [0])], [pow(base, count, _MASK + 1) for base in _BASES]
    for start, end in places:
        value = hashes[text[start:end]]
        for sum_, base in zip(sums, _BASES, strict=True):
            sum_.append((sum_[-1] * base + value) & _MASK)
    digits = mark.partition("-")[2]
    first, second = (int(part, 36) for part in (digits[:_WIDTH], digits[_WIDTH:]))
    return [
        (places[at][0], places[at + count - 1][1])
        for at in range(len(places) - count + 1)
        if (sums[0][at + count] - sums[0][at] * powers[0]) & _MASK == first
        and (sums[1][at + count] - sums[1][at] * powers[1]) & _MASK == second
    ]


class _WordHashes(dict[str, int]):
    """FNV-1a hashes of words, over their UTF-16 code units."""

    def __missing__(self, word: str) -> int:
        value = 0x811C9DC5
        for unit in array("H", word.encode("utf-16", "surrogatepass")[2:]):
            value = (value ^ unit) * 0x01000193 & _MASK
        self[word] = value
        return value


def _hashes(words: list[str]) -> list[int]:
    hashes, sums = _WordHashes(), [0, 0]
    for word in words:
        sums = [(value * base + hashes[word]) & _MASK for value, base in zip(sums, _BASES, strict=True)]
    return sums


def _written(count: int, hashes: list[int]) -> str:
    return f"{count}-{''.join(map(_base36, hashes))}"


def _base36(value: int) -> str:
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return digits.rjust(_WIDTH, "0")
