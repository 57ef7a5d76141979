"""Numbers in figures and in words: their position and value."""

from __future__ import annotations

import re
from functools import cache

from loccit.extract.obligations.lexicon import Lexicon, load

# The maximum number of words, or parts of a German word, in a number.
_PARTS = 12
# Thousands are separated by commas, stops, blanks or apostrophes. The look-arounds require whole numbers: not
# the 4 of 33.104 or of 4(b).
_FIGURES = (
    r"(?<![\w.,/§-])\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3}){1,5}(?:[.,]\d{1,2})?(?!\w)"
    r"|(?<![\w.,/§])\d{1,15}(?:[.,]\d{1,6})?(?!\d)"
)
# `one and three-fourths`, `two and a half`
_AND_PART = r"[\s-]{1,2}and[\s-]{1,2}(?:one|two|three|a)[\s-](?:half|thirds?|quarters?|fourths?|eighths?)\b"
_PARTS_OF_ONE = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fourth": 1 / 4, "eighth": 1 / 8}
_FRACTION = r"\d{1,3}[ -]\d{1,2}/\d{1,3}|\d{1,3}/\d{1,4}"


@cache
def number_form(language: str) -> str:
    """Return the pattern of a number in a language, without groups."""
    lexicon = load(language)
    if lexicon is None:
        return _FIGURES
    if language == "de":
        # One word, and a separate scale: `fünfundzwanzigtausend`, `dreieinhalb`, `250 Millionen`.
        spelled = rf"\b{joined_words(language)}\b"
    else:
        words = _number_words(lexicon)
        spelled = rf"\b(?:{words})(?:[\s-]{{1,3}}(?:and\s+)?(?:{words})){{0,{_PARTS}}}\b(?:{_AND_PART})?"
    return rf"(?:{_FRACTION}|{_FIGURES}|{spelled})"


@cache
def joined_words(language: str) -> str:
    """Return the pattern of a number that is written as one word: ``fünfundzwanzig``."""
    lexicon = load(language)
    return rf"(?:{_number_words(lexicon)}|und|einhalb){{1,{_PARTS}}}" if lexicon else "(?!)"


def _number_words(lexicon: Lexicon) -> str:
    return "|".join(sorted({*lexicon.digits, *lexicon.hundreds, *lexicon.scales}, key=len, reverse=True))


@cache
def scale_form(language: str) -> str:
    """Return the pattern of a scale after a number in figures: ``million``, ``Mio.``."""
    lexicon = load(language)
    return r"(?:" + "|".join(sorted(lexicon.scales, key=len, reverse=True)) + r")\b\.?" if lexicon else "(?!)"


def read_number(text: str, lexicon: Lexicon) -> float | None:
    """Return the value of a number in figures or words.

    >>> [read_number(text, load("en")) for text in ("20 000 000", "3.5", "66-2/3", "twenty-five million")]
    [20000000.0, 3.5, 66.66666666666667, 25000000.0]
    >>> [read_number(text, load("de")) for text in ("1.000,50", "dreieinhalb", "einhundertachtzig")]
    [1000.5, 3.5, 180.0]
    """
    text = " ".join(text.casefold().split())
    if text[:1].isdigit():
        return _figures(text, lexicon.language)
    return _words(text, lexicon)


def _figures(text: str, language: str) -> float | None:
    whole, _, fraction = text.replace("-", " ").rpartition(" ") if "/" in text else (text, "", "")
    if fraction:
        above, _, below = fraction.partition("/")
        if not int(below):
            return None
        return float(whole or 0) + int(above) / int(below)
    text = re.sub(r"['’\u00a0\u202f ]", "", text)
    point, thousands = (",", ".") if language == "de" else (".", ",")
    if re.fullmatch(rf"\d{{1,3}}(?:\{thousands}\d{{3}})+(?:\{point}\d+)?", text):
        text = text.replace(thousands, "")
    elif text.count(",") + text.count(".") > 1:
        # `13,332,000,00.00`: the last separator is the decimal point.
        at = max(text.rfind(","), text.rfind("."))
        text = re.sub(r"[.,]", "", text[:at]) + "." + text[at + 1 :]
    return float(text.replace(",", "."))


def _words(text: str, lexicon: Lexicon) -> float | None:
    rest = 0.0
    if text.endswith("einhalb"):
        text, rest = text.removesuffix("einhalb"), 0.5
    elif part := re.search(rf"{_AND_PART}$", text):
        count, name = re.split(r"[\s-]", part.group())[-2:]
        rest = lexicon.digits.get(count, 1) * _PARTS_OF_ONE[name.rstrip("s")]
        text = text[: part.start()]
    parts = _parts(text, lexicon) if lexicon.language == "de" else re.findall(r"[a-z]+", text)
    total = run = 0.0
    for word in parts:
        if word in ("and", "und", ""):
            continue
        if word in lexicon.digits:
            run += lexicon.digits[word]
        elif word in lexicon.hundreds:
            run = (run or 1) * 100
        elif word in lexicon.scales:
            total, run = total + (run or 1) * lexicon.scales[word], 0
        else:
            return None
    return total + run + rest if parts else None


@cache
def _part_form(language: str) -> re.Pattern[str]:
    lexicon = load(language)
    known = {*lexicon.digits, *lexicon.hundreds, *lexicon.scales} if lexicon else set()
    return re.compile("|".join(sorted({*known, "und"}, key=len, reverse=True)))


def _parts(text: str, lexicon: Lexicon) -> list[str]:
    """The parts of a compound; empty if something is left over."""
    parts = _part_form(lexicon.language).findall(text)
    return parts if "".join(parts) == text.replace(" ", "") else []
