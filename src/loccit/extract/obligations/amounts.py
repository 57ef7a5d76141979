"""Amounts: the sums of money and percentages that a sentence states."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from loccit.extract.obligations.bounds import find_bound
from loccit.extract.obligations.lexicon import Lexicon, has_any, load
from loccit.extract.obligations.numbers import number_form, read_number, scale_form
from loccit.model.obligation import Amount

_DOLLARS = {
    "USD": ("", "US", "U.S.", "USD"),
    "CAD": ("C", "CA", "CAD", "CDN"),
    "AUD": ("A", "AU", "AUD"),
    "NZD": ("NZ", "NZD"),
    "SGD": ("S", "SG", "SGD"),
    "HKD": ("HK", "HKD"),
    "TWD": ("NT",),
    "BRL": ("R",),
}
_OTHER_SIGNS = dict(zip("€£¥₹₦₱₩₪₺", "EUR GBP JPY INR NGN PHP KRW ILS TRY".split(), strict=True))
_SIGNS = {f"{prefix}$": code for code, prefixes in _DOLLARS.items() for prefix in prefixes} | _OTHER_SIGNS
# Letters that stand for a currency, in this case only and before figures.
_LETTERS = {"Rs.": "INR", "Rs": "INR", "RM": "MYR", "Fr.": "CHF", "KSh": "KES", "Kshs": "KES", "RMB": "CNY"}
# In capitals only: `dem` is a German article. Codes that are also words, or names of other things, are left out.
_CODES = tuple(
    """
    EUR USD GBP CHF JPY CAD AUD NZD SGD HKD TWD SEK NOK DKK ISK PLN CZK HUF BGN CNY INR PKR LKR BDT NPR MYR IDR THB KRW
    ZAR NGN KES UGX TZS GHS ETB ZMW BWP EGP AED QAR KWD ILS BRL MXN DEM
    """.split()
)
_HINTS = ("$", *_OTHER_SIGNS, *_LETTERS, *_CODES)


def _one_of(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))


_CODE = f"(?-i:{_one_of(_CODES)})"
_SIGN = rf"{_one_of(_SIGNS)}|\b(?-i:{_one_of(_LETTERS)})|\b{_CODE}\b"
# `$1m`, `€2.5 bn`: what follows figures and is no word.
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "mln": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
_SHORT = r"(?:k|mm?|b|\s?(?:mn|mln|bn|tn))(?!\w)"
_SUM = r"\d{1,3}(?:[,.'’]\d{2,3}|[\u00a0\u202f ]\d{3}(?!\d)){1,6}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,]\d{1,4})?(?!\d)"
# A currency sign without a number: an amount still to be filled in.
BLANK = re.compile(rf"(?:{_SIGN})\s?(?:_{{2,}}|\[|•)")
BLANKS = ("__", "[", "•")
# The lower end of a range: `90–200 Franken`, `5 to 10 percent`.
_FROM = re.compile(
    r"(?<![\w.,§(/$€£–-])(?P<number>\d{1,9}(?:[.,]\d{1,3})?)(?:\s?[–—-]\s?|\s(?:to|bis|and|und)\s)$"
)
_AND = re.compile(r"\s+(?:and|und)\s+")
_BEFORE = 80
# The longest that can introduce an amount that is stated again: `(in words: `.
_IN_WORDS = 25


class Found(NamedTuple):
    """An amount and its position in the sentence."""

    start: int
    end: int
    amount: Amount


@cache
def _form(language: str) -> re.Pattern[str]:
    lexicon = load(language)
    if lexicon is None:
        return re.compile("(?!)")
    number, scale = number_form(language), scale_form(language)
    names = "|".join(f"(?P<{code}>{forms})" for code, forms in lexicon.currencies.items())
    return re.compile(
        rf"(?:(?P<sign>{_SIGN})\s?(?P<sum>{_SUM})(?:\s?(?P<scale>{scale})|(?P<short>{_SHORT}))?"
        r"|(?P<share>\d{1,3}/\d{1,4}(?:th)?|one[ -](?:half|quarter|third|eighth))\s+of\s+(?:1|one)\s?"
        rf"(?:%|(?:{lexicon.percent}))"
        rf"|(?P<percent>{number})\s?(?:\(\d{{1,3}}(?:\.\d{{1,3}})?\)\s?)?(?:%|(?:{lexicon.percent})(?!\w))"
        rf"|(?P<number>{number})(?:\s?(?P<scale_after>{scale})|(?P<short_after>{_SHORT}))?(?:\s+and\s+(?:no|\d{{1,2}})/100)?\s?"
        rf"(?:(?P<code>{_CODE}|[€£¥₹])(?!\w)|(?:{names})\b))",
        re.IGNORECASE,
    )


_SHARES = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "eighth": 0.125}


def find_amounts(sentence: str, lexicon: Lexicon) -> list[Found]:
    """Return the sums of money and percentages of a sentence, in order; one in words and figures counts once."""
    found: list[Found] = []
    if not has_any(sentence, _HINTS) and not has_any(sentence.casefold(), lexicon.amount_hints):
        return found
    for match in _form(lexicon.language).finditer(sentence):
        read = _read(match, lexicon)
        if read is None:
            continue
        value, unit = read
        before = sentence[max(0, match.start() - _BEFORE) : match.start()]
        if unit == "%" and (
            lexicon.forms["not_percent"].search(before)
            or lexicon.forms["not_percent_sentence"].search(sentence)
        ):
            continue
        if found and _repeats(sentence, found[-1], match, value, unit):
            # The figures in brackets are easier to read.
            last = found.pop()
            found.append(
                Found(
                    last.start,
                    match.end(),
                    Amount(sentence[last.start : match.end()], value, unit, last.amount.bound),
                )
            )
            continue
        between = lexicon.forms["between_words"]
        lower = None if match["sign"] else _FROM.search(before)
        least = read_number(lower["number"], lexicon) if lower else None
        if lower and least is not None and least < value:
            start = match.start() - len(before) + lower.start()
            ends = bool(between.search(sentence, max(0, start - 12), start))
            bounds = ("at least", "at most") if ends else (_bound(sentence, start, match.end(), lexicon),) * 2
            found.append(
                Found(
                    start, match.end(), Amount(sentence[start : match.end()].strip(), least, unit, bounds[0])
                )
            )
            bound = bounds[1]
        elif (
            found
            and _AND.fullmatch(sentence, found[-1].end, match.start())
            and between.search(sentence, max(0, found[-1].start - 12), found[-1].start)
        ):
            # `between EUR 10 and EUR 50`
            last = found.pop()
            found.append(last._replace(amount=replace(last.amount, bound="at least")))
            bound = "at most"
        else:
            bound = _bound(sentence, match.start(), match.end(), lexicon)
        found.append(Found(match.start(), match.end(), Amount(match.group().strip(), value, unit, bound)))
    return found


def _bound(sentence: str, start: int, end: int, lexicon: Lexicon) -> str:
    return find_bound(sentence, start, end, lexicon, sum_of_money=True).name


def _repeats(sentence: str, last: Found, match: re.Match[str], value: float, unit: str) -> bool:
    """Whether an amount in brackets is the one before them: *ten dollars ($10)*, *EUR 10 (in words: ten euros)*."""
    between = sentence[last.end : match.start()].strip(" \u00ad")
    if (
        last.amount.unit != unit
        or not between.startswith("(")
        or sentence[match.end() : match.end() + 1] != ")"
    ):
        return False
    return between == "(" or (value == last.amount.value and len(between) < _IN_WORDS)


def _read(match: re.Match[str], lexicon: Lexicon) -> tuple[float, str] | None:
    if match["share"]:
        above, slash, below = match["share"].casefold().removesuffix("th").partition("/")
        return (int(above) / max(1, int(below)), "%") if slash else (_SHARES[re.split("[ -]", above)[1]], "%")
    if match["percent"]:
        value = read_number(match["percent"], lexicon)
        return None if value is None else (value, "%")
    text, scale = (match["sum"], match["scale"]) if match["sign"] else (match["number"], match["scale_after"])
    value = read_number(text, lexicon)
    if value is None:
        return None
    value *= lexicon.scales[scale.casefold().rstrip(".")] if scale else 1
    short = match["short"] or match["short_after"]
    value *= _SHORT_SCALES[short.casefold().strip()] if short else 1
    sign = match["sign"] or match["code"] or ""
    unit = _LETTERS.get(sign) or _SIGNS.get(sign.upper(), sign.upper())
    return value, unit or next(code for code in lexicon.currencies if match[code])
