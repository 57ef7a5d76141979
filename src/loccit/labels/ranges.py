"""Ranges: what the places from one to another are called together."""

from __future__ import annotations

import re

from loccit.labels.grammar import FORMS

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
