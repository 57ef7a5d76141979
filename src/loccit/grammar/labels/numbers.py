"""Numbers as people write them: digits of any script, Roman and Chinese numerals, and words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from loccit.expressions import expression
from loccit.grammar.labels.lexicon import load, lowered, one_of

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_LEXICON = load()
_CHINESE = {
    sign: value
    for value, signs in enumerate("〇零 一壹 二两兩贰 三叁 四 五 六 七 八 九".split())
    for sign in signs
}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}

CHINESE = f"[{''.join(_CHINESE)}{''.join(_CHINESE_UNITS)}]"
"""A character of a Chinese numeral."""
SOLE = "sole"
"""What replaces the number in *Artículo único*."""

_GLUED = one_of(word for word in _LEXICON.number_joins if len(word) == 1)
_LOOSE = one_of(word for word in _LEXICON.number_joins if len(word) > 1)
_END = r"(?![^\W_])"
NUMBER_WORD = rf"{one_of([*_LEXICON.numbers, *_LEXICON.sole])}{_END}"
"""A word that is a number, or the first word of one: ``premier``, ``twenty``-one."""
_MORE = expression(
    rf"(?:\s{{1,2}}(?:{_LOOSE}\s{{1,2}})?{_GLUED}?|[-‐]){one_of(_LEXICON.numbers)}{_END}", re.IGNORECASE
)
SPOKEN = rf"{one_of({*_LEXICON.numbers, *_LEXICON.ordinals, *_LEXICON.sole})}{_END}"
ORDINAL = rf"{one_of(_LEXICON.ordinals)}{_END}"
_ONE_WORD = expression(r"[^\W_]+")

LETTER = r"[^\s\d_\x00-@\[-`{-\xbf×÷ʹ-ʾ՚-՟։־،؛؟۔।॥፠-፨\u2000-\u200b\u200e-\u2bff\u3000-\u303f\uff00-\uff20]"
"""A letter of a word, or a vowel sign, which is no letter to the regular expressions of Python."""
RAISED = r"(?:\^\d{1,3}\^?|[⁰¹²³⁴-⁹]{1,3}|<sup>\s?\d{1,3}\s?</sup>)"
"""A raised number: `§ 5¹` is not § 51."""
_RAISED = expression(rf"\.?{RAISED}")
_PREFIX = expression(r"^(lo|[lrd])\*?\.?\s?(?=\d)")
_LETTER_APART = expression(r"(?<=\d)\s(?=[a-z]\Z)")


def roman_value(text: str) -> int | None:
    """Return the value of a well-formed Roman numeral, or None."""
    total = 0
    lower = text.lower()
    if len(lower) > 15:
        return None
    for here, after in zip(lower, lower[1:] + " ", strict=False):
        value = _ROMAN_VALUES.get(here)
        if value is None:
            return None
        total += -value if _ROMAN_VALUES.get(after, 0) > value else value
    return total if total and roman_numeral(total) == lower else None


def roman_numeral(value: int) -> str:
    """Write a number in lower-case Roman numerals."""
    out = []
    for size, sign in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    ):
        count, value = divmod(value, size)
        out.append(sign * count)
    return "".join(out)


def chinese_value(text: str) -> int | None:
    """Return the value of a Chinese numeral, or None.

    >>> chinese_value("三十七"), chinese_value("一百零五"), chinese_value("二〇"), chinese_value("千")
    (37, 105, 20, 1000)
    """
    if not text or len(text) > 9 or not all(sign in _CHINESE or sign in _CHINESE_UNITS for sign in text):
        return None
    if all(sign in _CHINESE for sign in text):
        return int("".join(str(_CHINESE[sign]) for sign in text))
    total, digit = 0, -1
    for sign in text:
        if sign in _CHINESE:
            digit = _CHINESE[sign]
        else:
            total += (1 if digit <= 0 else digit) * _CHINESE_UNITS[sign]
            digit = -1
    return total + max(digit, 0)


def words_value(text: str) -> str:
    """The value of a number in words, or None: ``vigésima primera`` is 21.

    >>> words_value("premier"), words_value("Twenty-One"), words_value("único"), words_value("blue")
    ('1', '21', 'sole', '')
    """
    values = []
    for word in _ONE_WORD.findall(lowered(text)):
        if word in _LEXICON.sole:
            return SOLE
        if value := _value_of(word) or _value_of(word.removeprefix(_GLUED)):
            values.append(value)
        elif word not in _LEXICON.number_joins:
            return ""
    return str(sum(values)) if values else ""


def _value_of(word: str) -> int:
    return _LEXICON.numbers.get(word) or _LEXICON.ordinals.get(word, 0)


def words_end(text: str, end: int) -> int:
    """Where a number in words ends whose first word ends at ``end``: ``vigésima primera``."""
    for _ in range(4):
        more = _MORE.match(text, end)
        if more is None:
            break
        end = more.end()
    return end


def letter_value(letter: str) -> int:
    """The place of a small letter in its alphabet, roughly: what matters is that в comes soon after а.

    >>> letter_value("c"), letter_value("в"), letter_value("β")
    (3, 3, 2)
    """
    return next((ord(letter) - before for before in (0x42F, 0x3B0, 0x60) if ord(letter) > before), 0)


def in_digits(text: str) -> str:
    """The text with digits of any script as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def raised_apart(text: str) -> str:
    """The text with raised numbers behind a mark: ``5¹`` is 5^1."""
    if text.isascii() and "^" not in text and "<" not in text:
        return text
    return _RAISED.sub(
        lambda match: "^" + "".join(str(unicodedata.digit(c)) for c in match.group() if c.isdigit()), text
    )


@lru_cache(maxsize=1 << 13)
def normalise_number(number: str) -> tuple[str, ...]:
    """Split a number at its dots and hyphens; a leading Roman numeral becomes decimal, and so do words.

    A single C or L is more often a letter (Appendix C) than a number, and is kept as one.

    >>> normalise_number("IV"), normalise_number("32.0706-2"), normalise_number("L. 121-1"), normalise_number("1er")
    (('4',), ('32', '0706', '2'), ('l121', '1'), ('1',))
    >>> normalise_number("三十七"), normalise_number("٣"), normalise_number("twenty-one"), normalise_number("12 bis")
    (('37',), ('3',), ('21',), ('12bis',))
    >>> normalise_number("1o"), normalise_number("12o")
    (('1',), ('12o',))
    >>> normalise_number("5¹"), normalise_number("19<sup>1</sup>"), normalise_number("35/A")
    (('5^1',), ('19^1',), ('35/a',))
    """
    value = chinese_value(number)
    if value is not None:
        return (str(value),)
    lower = raised_apart(in_digits(number.lower()))
    if not any(c.isdigit() for c in lower) and (said := words_value(number)):
        return (said,)
    lower = _LETTER_APART.sub("", _PREFIX.sub(_code_prefix, lower))
    first, *others = (part for part in re.split(r"[.:\-‑–]", re.sub(r"[\sºª°*]", "", lower)) if part)
    if first.isalpha() and (len(first) > 1 or first in "ivx"):
        first = str(roman_value(first) or first)
    # Zeros are insignificant only at the front: 32.001 and 32.1 are two sections.
    first = re.sub(r"(?<=^[1-9])o$", "", re.sub(r"^0+(?=\d)", "", first))
    return tuple(re.sub(r"(?<=\d)(?:er|re|st|nd|rd|th)$", "", part) for part in (first, *others))


def coded_number(written: str) -> tuple[str, ...]:
    """Read a label as printed; letters and digits that stand together are one part, and so is what is in brackets.

    >>> coded_number("AC-2(3)"), coded_number("A3b3"), coded_number("4.1.2"), coded_number("V2.1"), coded_number("35/A")
    (('ac-2', '3'), ('a3b3',), ('4', '1', '2'), ('v2', '1'), ('35/a',))
    """
    parts = [part for part in re.split(r"[().]+", written.lower()) if part]
    if parts[0][0].isalpha() and any(c.isdigit() for c in parts[0]):
        return tuple(parts)
    return (*normalise_number(parts[0]), *parts[1:])


def _code_prefix(match: re.Match[str]) -> str:
    """French codes number their articles ``L. 121-1``; the ``D.1`` of an Appendix D is two numbers."""
    written, after = match.group(), match.string[match.end() :]
    lone = written.endswith(".") and not re.match(r"\d{3}|\d+-", after)
    return written if lone else match[1]
