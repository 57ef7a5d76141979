"""How Word writes a number: ``3`` as ``3``, ``03``, ``c``, ``III``, ``3rd``, ``Three`` and the like."""

from __future__ import annotations

_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"
_HAN = "〇一二三四五六七八九"
_CHICAGO = "*†‡§"
# Word repeats the letter (z, aa, bb); past this many it would be noise rather than a number.
_MOST_REPEATS = 30


def format_number(value: int, style: str) -> str:
    """A list number in one of Word's number formats; an unknown format gives plain digits."""
    if style in ("none", "bullet"):
        return ""
    written = _written(value, style)
    return str(value) if written is None else written


def _written(value: int, style: str) -> str | None:
    match style:
        case "decimalZero":
            return f"{value:02d}"
        case "lowerLetter" | "upperLetter":
            return _cased(_letters(value, _LATIN), style)
        case "lowerRoman" | "upperRoman":
            return _cased(_roman(value), style)
        case "russianLower":
            return _letters(value, _RUSSIAN)
        case "russianUpper":
            return _letters(value, _RUSSIAN).upper()
        case "ordinal":
            return f"{value}{_suffix(value)}"
        case "cardinalText":
            return _words(value).capitalize()
        case "ordinalText":
            return _ordinal_words(value).capitalize()
        case "numberInDash":
            return f"- {value} -"
        case "chicago":
            return _letters(value, _CHICAGO)
        case "decimalFullWidth" | "decimalFullWidth2":
            return "".join(chr(0xFF10 + int(digit)) for digit in str(value))
        case "chineseCounting" | "chineseCountingThousand" | "japaneseCounting" | "taiwaneseCountingThousand":
            return _han(value)
        case _ if style.startswith("custom:"):
            # "001, 002, 003, ..." shows the width by its first sample.
            return str(value).zfill(len(style[len("custom:") :].split(",")[0].strip()))
    return None


def _cased(text: str, style: str) -> str:
    return text.lower() if style.startswith("lower") else text.upper()


def _letters(value: int, alphabet: str) -> str:
    if value < 1:
        return ""
    repeats, index = divmod(value - 1, len(alphabet))
    return alphabet[index] * (repeats + 1) if repeats < _MOST_REPEATS else str(value)


def _roman(value: int) -> str:
    if not 0 < value < 4000:
        return "" if value <= 0 else str(value)
    out = []
    for worth, letters in _ROMAN:
        count, value = divmod(value, worth)
        out.append(letters * count)
    return "".join(out)


def _suffix(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _words(value: int) -> str:
    if value < 20:
        return _ONES[max(value, 0)]
    if value < 100:
        tens, ones = divmod(value, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if value < 1000:
        hundreds, rest = divmod(value, 100)
        return f"{_ONES[hundreds]} hundred" + (f" {_words(rest)}" if rest else "")
    return str(value)


def _ordinal_words(value: int) -> str:
    words = _words(value)
    head, last = words[: -len(words.split("-")[-1].split(" ")[-1])], words.split("-")[-1].split(" ")[-1]
    if last.isdigit():
        return f"{value}{_suffix(value)}"
    if last in _ORDINALS:
        return head + _ORDINALS[last]
    return head + (last[:-1] + "ieth" if last.endswith("y") else last + "th")


def _han(value: int) -> str | None:
    if not 0 < value < 100:
        return None
    tens, ones = divmod(value, 10)
    return ("" if tens == 0 else "十" if tens == 1 else _HAN[tens] + "十") + (_HAN[ones] if ones else "")
