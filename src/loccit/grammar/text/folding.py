"""Folding: one spelling for the many ways to write a word: case, width, accents, invisible characters."""

from __future__ import annotations

import unicodedata

MAX_TERM = 100
"""The maximum length of a term; longer ones are cut, in documents and queries alike."""

_RAW_LIMIT = 4 * MAX_TERM  # normalising long runs of combining marks is quadratic, so cut before it
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0x0640])
_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ħ": "h", "’": "'"}
)
_KEEP, _STRIP, _CYRILLIC = range(3)


def _marks_of(base: str) -> int:
    """What to do with the marks on a letter: strip accents, but never the vowel signs of Indic scripts."""
    code = ord(base)
    if code < 0x0400:
        return _STRIP  # Latin and Greek
    if code < 0x0530:
        return _CYRILLIC
    if 0x0590 <= code < 0x0780 or 0x08A0 <= code < 0x0900:
        return _STRIP  # Hebrew and Arabic
    if 0x1D00 <= code < 0x2000:
        return _STRIP  # Latin and Greek extensions
    return _KEEP


def lower(text: str) -> str:
    """Compatibility form, case folded, invisible characters removed; accents stay."""
    if text.isascii():
        return text[:MAX_TERM].lower()
    text = text[:_RAW_LIMIT].translate(_INVISIBLE)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return text[:MAX_TERM]


def fold(text: str) -> str:
    """Remove accents from lowered text where they are accents: Latin, Greek, Cyrillic, Hebrew, Arabic."""
    if text.isascii():
        return text
    kept: list[str] = []
    rule, base = _STRIP, ""
    for char in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(char):
            rule, base = _marks_of(char), char
        elif rule == _STRIP:
            continue
        elif rule == _CYRILLIC and (char in "\u0300\u0301" or (char == "\u0308" and base == "е")):
            continue  # stress marks and ё; й and ї are letters of their own
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_LETTERS)[:MAX_TERM]
