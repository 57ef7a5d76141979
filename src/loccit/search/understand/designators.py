"""Designators: numbers as documents may print them: ``II``, ``F``, ``AC-2(3)``, ``5^1``, ``D.7``.

The grammar of labels reads what most documents print. What it cannot know, such as codes and single letters, is only
recognised here; whether it names a place is for the documents to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loccit.expressions import expression
from loccit.grammar.labels import normalise_number, roman_value
from loccit.grammar.labels.lexicon import lowered
from loccit.grammar.labels.numbers import LETTER, coded_number

_BRACKETS = r"(?:\s?[(（][^\W_]{1,4}[)）]){0,5}"
_PART = r"(?:[.\-‑–/:_][^\W_]{1,16})"
_MAY_END = r"(?![\w(]|[.\-‑–/^]\w)"
_SUFFIX = r"(?:\s?(?:bis|ter|quater|quinquies|sexies|septies|octies|novies|decies)(?![^\W_]))?"
_NUMBER = (
    r"(?:\d{1,9}[^\W_]{0,8}" + _SUFFIX + rf"(?:\^\d{{1,3}}|[⁰¹²³⁴-⁹]{{1,3}})?{_PART}{{0,8}}"
    # A code has a digit somewhere; what has none is a capital or a Roman numeral.
    rf"|(?=(?:[^\W\d_]{{1,16}}[.\-‑_]){{0,3}}[^\W\d_]{{1,16}}[.\-‑_]?\d)[^\W\d_]{{1,16}}[^\W_]{{0,8}}{_PART}{{0,8}}"
    rf"|(?:[IVXLC]{{1,7}}|[A-Z])(?:{_PART}|\s(?:[A-Z]|\d{{1,4}})(?![^\W_])){{0,8}}"
    rf")(?P<brackets>{_BRACKETS})"
)
_WORD = rf"(?![IVXLC]+\b){LETTER}{{2,24}}"
_TOKEN = expression(rf"(?<![\w.§$€£/-])(?P<number>{_NUMBER}){_MAY_END}")
_BESIDE = expression(
    rf"(?<!\w)(?:(?P<word>{_WORD})[.,:]?-?\s(?P<number>{_NUMBER}){_MAY_END}"
    rf"|(?P<before>\d[\w.^-]{{0,12}}?|[IVXLC]{{1,7}})(?:\.?\s|[-‐‑](?:{LETTER}{{1,4}}\s)?)(?P<after>{_WORD})(?!\w)"
    rf"(?P<behind>{_BRACKETS}))"
)
_STEP = expression(r"[^\W_]+")
_GLUED = expression(
    r"(?:[/‑–-](?=[^\W\d_])|\^(?=\d)|(?=[⁰¹²³⁴-⁹]))[^\W_]{1,8}(?:[/.\-‑–][^\W_]{1,8}){0,4}"
    + _BRACKETS
    + r"(?!\w)"
)
_LETTER_AND_NUMBER = expression(r"([A-Z])(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Designator:
    """A number as it was written, with the word beside it, if any, and the span of both.

    ``leads``: the word stands before the number. ``readings`` are the ways to divide the number into parts: `AC-2` is
    one number or two.
    """

    word: str
    number: str
    readings: tuple[tuple[str, ...], ...]
    start: int
    end: int
    leads: bool = False

    @property
    def is_code(self) -> bool:
        """Whether it is written with letters and digits, or in parts, as hardly anything else is."""
        return any(c.isalpha() for c in self.number) and (
            any(c.isdigit() for c in self.number) or re.search(r"[.(]", self.number) is not None
        )


def find_beside(text: str) -> list[Designator]:
    """Return the numbers of a text that have a word before or after them: ``Goal 4``, ``12 straipsnis (2)``."""
    return [
        Designator(
            lowered(match["word"] or match["after"]),
            number := match["number"] or match["before"] + match["behind"],
            readings(number),
            match.start(),
            match.end(),
            leads=bool(match["word"]),
        )
        for match in _BESIDE.finditer(text)
    ]


def find_alone(text: str) -> list[Designator]:
    """Return the numbers of a text, without the words around them."""
    return [
        Designator("", match["number"], readings(match["number"]), match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def readings(number: str) -> tuple[tuple[str, ...], ...]:
    """Return the ways to read a number, as printed and in parts, the likeliest first.

    >>> readings("AC-2(3)"), readings("220 bis"), readings("II.B")
    ((('ac', '2', '3'), ('ac-2', '3')), (('220bis',),), (('2', 'b'), ('ii.b',)))
    >>> readings("TC-QA-01.02")
    (('tc', 'qa', '01', '02'), ('tc-qa-01.02',), ('tc-qa-01', '02'))
    """
    base, *_ = re.split(r"[(（]", number)
    parts = tuple(part.lower() for part in _STEP.findall(number[len(base) :]))
    base = base.strip()
    found = [
        normalise_number(re.sub(r"(?<=[A-Z])\s(?=[A-Z\d])", ".", base)),
        (re.sub(r"\s", "", base).lower(),),
        coded_number(re.sub(r"\s", "", base)),
    ]
    if match := _LETTER_AND_NUMBER.fullmatch(base):
        found.append((match[1].lower(), match[2]))
    return tuple(dict.fromkeys((*one, *parts) for one in found))


def glued(text: str, end: int) -> str:
    """Return what belongs to a number that was read up to a position: ``/a`` in ``35/a``, ``-bis`` in ``220-bis``."""
    match = _GLUED.match(text, end)
    return match.group() if match else ""


def numeral_style(text: str, value: str) -> str:
    """Return how a text prints a number: ``roman``, ``decimal``, or "" if in words or other signs.

    >>> numeral_style("Section II", "2"), numeral_style("§ 2 Abs. 1", "2"), numeral_style("第二条", "2")
    ('roman', 'decimal', '')
    """
    for step in _STEP.findall(text):
        if step == value:
            return "decimal"
        if step.isascii() and str(roman_value(step)) == value:
            return "roman"
    return ""
