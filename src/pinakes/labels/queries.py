"""Queries: a text that is nothing but a number."""

from __future__ import annotations

import re

from pinakes.labels.grammar import (
    BARE_NUMBER,
    DIGITS,
    PARENS,
    ROMAN,
    is_label_number,
    label_of,
    normalise_parts,
)
from pinakes.labels.model import Label
from pinakes.labels.numbers import CHINESE, roman_value

_WHOLE = re.compile(
    rf"\s*(?P<number>{DIGITS}|{BARE_NUMBER}|(?:{ROMAN}|[a-z])(?=[.)])|{CHINESE}{{1,9}}(?=[、.])|(?=[(（]))(?:\.(?=\())?{PARENS}"
    r"[.)、]?\s*",
    re.IGNORECASE,
)


def parse_whole(text: str) -> Label | None:
    """Read a text that is nothing but a number (``403``, ``(a)``) as a label."""
    if len(text) > 100:
        return None
    match = _WHOLE.fullmatch(text)
    if not match or not (match["number"] or match["parts"]):
        return None
    number = match["number"]
    if number.isalpha() and number.isascii() and len(number) > 1 and roman_value(number) is None:
        return None
    if not is_label_number(number, text, match.end()):
        return None
    if number.islower() and number.isalpha():
        return Label(text.strip(), "", (number, *normalise_parts(match["parts"])))
    return label_of(match, "", match.group())
