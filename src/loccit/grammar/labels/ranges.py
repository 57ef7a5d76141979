"""Ranges: the numbers from one to another, and what the places from one to another are called together."""

from __future__ import annotations

import re

from loccit.grammar.labels.grammar import FORMS
from loccit.grammar.labels.numbers import roman_numeral, roman_value

Number = tuple[str, ...]

DASH = "–"
# What a label begins with, before its number: `Article `, `§ `.
_HEAD = re.compile(r"(?P<word>§|[^\W\d_]{2,}\.?)(?P<blank>\s?)(?=[\dIVXLC])")
_BLANK = re.compile(r"\s")
_LAST_PART = re.compile(r"\([^()]+\)\Z")


def range_label(first: str, last: str) -> str:
    """Return the label of all places from one to another, given theirs.

    >>> range_label("Article 6(1)(e)", "Article 6(1)(f)"), range_label("Article 41", "Article 99")
    ('Article 6(1)(e)–(f)', 'Articles 41–99')
    >>> range_label("§ 3", "§ 5"), range_label("4.2", "4.10"), range_label("Introduction", "Methods and means")
    ('§§ 3–5', '4.2–4.10', 'Introduction – Methods and means')
    """
    if first == last or not (first and last):
        return first if first == last else ""
    part = _LAST_PART.search(last)
    if part and part.start() and _LAST_PART.sub("", first) == last[: part.start()]:
        return first + DASH + part[0]
    heads = _HEAD.match(first), _HEAD.match(last)
    if heads[0] and heads[1] and heads[0][0] == heads[1][0]:
        numbers = first[heads[0].end() :] + DASH + last[heads[0].end() :]
        several = _plural(heads[0]["word"])
        # `§§ 3 Abs. 1–5` would be read as paragraphs 1 to 5.
        if several and not _BLANK.search(numbers):
            return several + heads[0]["blank"] + numbers
    return f"{first} {DASH} {last}" if _BLANK.search(first + last) else first + DASH + last


def _plural(word: str) -> str:
    """Return the plural of a word for a place, if it is known: ``Articles``, ``§§``, ``Kapitel``."""
    if word == "§":
        return "§§"
    form = FORMS.get(word.lower())
    if form is None:
        return ""
    if form.either:
        return word
    more = word + ("S" if word.isupper() else "s")
    plural = FORMS.get(more.lower())
    return more if plural is not None and plural.plural and plural.kind == form.kind else ""


# -- counting ------------------------------------------------------------------------------------------------

_STYLES = "1iIaA"
_LETTERS = re.compile(r"(?P<before>\d*)(?P<letter>[a-z])(?P=letter)*", re.IGNORECASE)


def value_in(token: str, style: str) -> int | None:
    """The value of a token in a numbering style: ``1``, ``a``, ``A``, ``i`` or ``I``; ``5a`` counts like ``a``."""
    if style == "1":
        return int(token) if token.isdecimal() else None
    letters, lower = _LETTERS.fullmatch(token), token.lower()
    if (token.isupper() if style.islower() else not token.isupper()) or not token.isascii():
        return None
    if style in "iI":
        return roman_value(lower) if lower != "l" and set(lower) <= set("ivxl") else None
    return (
        ord(letters["letter"].lower()) - 96 + 26 * (letters.end() - letters.start("letter") - 1)
        if letters
        else None
    )


def through(first: Number, last: Number, most: int) -> list[Number]:
    """The members of a range that counts in its last part; only the ends of a long one; none if it does not rise.

    >>> through(("4", "2"), ("4", "4"), 8), through(("1",), ("99",), 8), through(("5",), ("3",), 8)
    ([('4', '2'), ('4', '3'), ('4', '4')], [('1',), ('99',)], [])
    """
    if len(first) != len(last) or first[:-1] != last[:-1]:
        return []
    for style in _STYLES:
        low, high = value_in(first[-1], style), value_in(last[-1], style)
        before = first[-1].rstrip("abcdefghijklmnopqrstuvwxyz") if style == "a" else ""
        if low and high and last[-1].startswith(before) and low < high:
            if high - low >= most:
                return [first, last]
            return [(*first[:-1], before + _written(value, style)) for value in range(low, high + 1)]
    return []


def _written(value: int, style: str) -> str:
    if style == "1":
        return str(value)
    if style in "iI":
        numeral = roman_numeral(value)
        return numeral.upper() if style == "I" else numeral
    doubled, letter = divmod(value - 1, 26)
    return chr(letter + (97 if style == "a" else 65)) * (doubled + 1)


def level_of(before: Number, token: str) -> int | None:
    """The depth at which a bracket continues a list:

    ``(ii)`` after ``(c)(1)(i)`` at the third, ``(d)`` at the first.
    """
    best, best_score = None, 0
    for level in range(len(before) - 1, -1, -1):
        for style in _STYLES:
            here, there = value_in(before[level], style), value_in(token, style)
            if here is None or there is None:
                continue
            score = 3 if there == here + 1 else 2 if style not in "iI" and len(before[level]) == 1 else 1
            score -= style in "aA" and before[level] in "ivx" and there != here + 1
            if score > best_score:
                best, best_score = level, score
    return best
