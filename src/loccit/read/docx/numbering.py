"""Word's automatic numbering: the ``4.2`` and ``(a)`` that a document prints but does not contain.

A paragraph names a list (``w:num``) and a level. The list takes its levels from an abstract definition, possibly with
overrides; lists with the same abstract definition share their counters, as in Word. The body, the text boxes and the
notes are counted separately.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml.etree import _Element

from loccit.grammar.labels import roman_numeral
from loccit.read.docx.package import StyleLevel, Styles, W, child_value, flag, integer

LEVELS = 9
_LARGEST = 32767
# Word writes no more than this around its numbers.
_LONGEST_TEXT = 255
_PLACEHOLDER = re.compile(r"%([1-9])")
_LEADING = re.compile(r"%([1-9])[^%]*(?=%)")
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = dict(
    zip(
        "one two three five eight nine twelve".split(),
        "first second third fifth eighth ninth twelfth".split(),
        strict=True,
    )
)
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_CHICAGO = "*†‡§"
_FULL_WIDTH = "０１２３４５６７８９"
# Formats that start over after their last letter.
_CYCLES = {
    "aiueo": "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "iroha": "ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽﾝ",
    "irohaFullWidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオク"
    "ヤマケフコエテアサキユメミシヱヒモセスン",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
}
# Formats that continue with two letters, like spreadsheet columns.
_COLUMNS = {
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicAbjad": "ابجدهوزحطيكلمنسعفصقرشتثخذضظغ",
}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
# Formats that end with their last letter; later numbers are written in digits.
_SIGNS = {
    "decimalEnclosedCircle": _CIRCLED,
    "decimalEnclosedCircleChinese": _CIRCLED,
    "ideographEnclosedCircle": _CIRCLED,
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "thaiLetters": "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
}
# Digits from zero on, and the signs of ten, a hundred and a thousand.
_HAN = "零一二三四五六七八九", "十百千"
_SIMPLIFIED = "零壹贰叁肆伍陆柒捌玖", "拾佰仟"
_TRADITIONAL = "零壹貳參肆伍陸柒捌玖", "拾佰仟"
_KOREAN = "영일이삼사오육칠팔구", "십백천"
_COUNTED = {
    **dict.fromkeys(
        (
            *("chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand"),
            *("japaneseCounting", "ideographDigital"),
        ),
        _HAN,
    ),
    "chineseLegalSimplified": _SIMPLIFIED,
    "ideographLegalTraditional": _TRADITIONAL,
}
_KOREAN_ONES = ("", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉")
_KOREAN_TENS = ("", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔")
_HEBREW = ((400, "ת"), (300, "ש"), (200, "ר"), (100, "ק")), "טיכלמנסעפצ", "אבגדהוזחט"
# Word repeats the letter (z, aa, bb); past this many it would be noise rather than a number.
_MOST_REPEATS = 30


class Mark(NamedTuple):
    """What is printed before a paragraph; ``worded`` if it is more than a number (``Article 5``)."""

    label: str
    level: int
    bullet: bool = False
    worded: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list: how it counts and how its number is written."""

    start: int = 0
    format: str = "decimal"
    text: str = ""
    restart: int | None = None
    legal: bool = False
    hidden: bool = False
    picture: bool = False
    style: str | None = None

    def restarts_after(self, level: int, used: int) -> bool:
        """Whether this level, the ``level``-th, restarts after a paragraph of level ``used``."""
        if self.restart is None or self.restart > level:
            return used < level
        return used < self.restart


_ORDINARY = Level()


@dataclass(slots=True)
class _List:
    """A ``w:num``: its effective levels, their starts, and the counters it shares."""

    abstract: str
    levels: dict[int, Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    damaged: bool = False


class Numbering:
    """The lists of a document with their counters. ``story`` names the text that is being counted."""

    def __init__(self, root: _Element | None, styles: Styles) -> None:
        self.missing: int = 0
        self.damaged: int = 0
        self.story = "body"
        self._lists = _read_lists(root, styles) if root is not None else {}
        self._counts: dict[tuple[str, str], list[int | None]] = {}
        self._restarted: set[tuple[str, str]] = set()

    def style_level(self, num_id: str, styles: Iterable[StyleLevel]) -> int | None:
        """The level that a style gives its paragraphs: the one its list links to it, or else the one it states.

        A style that says neither inherits it from the style it is based on.
        """
        found = self._lists.get(num_id)
        links = {level.style: index for index, level in found.levels.items()} if found else {}
        levels = (links.get(style.style, style.level) for style in styles)
        return next((level for level in levels if level is not None), None)

    def advance(self, num_id: str, level: int) -> Mark | None:
        """Count another paragraph of a list and level; return what Word prints before it, if anything."""
        found = self._lists.get(num_id)
        if found is None or not found.levels:
            self.missing += 1
            return None
        if found.damaged:
            self.damaged += 1
            return None
        if level not in found.levels:
            return None
        counts = self._counts.setdefault((self.story, found.abstract), [None] * LEVELS)
        previous = counts[level]
        if level in found.starts and (self.story, num_id) not in self._restarted:
            # A list restarts once, with its first paragraph of a level that has its own start.
            self._restarted.add((self.story, num_id))
            previous = None
        counts[level] = self._start(found, level) if previous is None else min(previous + 1, _LARGEST)
        for above in range(level):
            if counts[above] is None:
                # A skipped level has used up its first number: after 1.1 comes 2.
                counts[above] = self._start(found, above)
        for deeper in range(level + 1, LEVELS):
            if found.levels.get(deeper, _ORDINARY).restarts_after(deeper, level):
                counts[deeper] = None
        return self._mark(found, level, counts)

    def _mark(self, found: _List, at: int, counts: list[int | None]) -> Mark | None:
        level = found.levels[at]
        if level.hidden:
            return None
        if level.format == "bullet" or level.picture:
            return Mark(level.text, at, bullet=True) if level.text.strip() or level.picture else None

        def written(match: re.Match[str]) -> str:
            index = int(match[1]) - 1
            definition = found.levels.get(index)
            if definition is None:
                return ""
            count = counts[index]
            value = self._start(found, index) if count is None else count
            plain = level.legal and definition.format not in ("none", "bullet")
            return format_number(value, "decimal" if plain else definition.format)

        text = level.text
        while (first := _LEADING.match(text)) and found.levels.get(int(first[1]) - 1, level).format == "none":
            # A level without a number leaves no dot before the next one.
            text = text[first.end() :]
        label = " ".join(_PLACEHOLDER.sub(written, text).split())
        if not label:
            return None
        around = _PLACEHOLDER.sub("", level.text)
        return Mark(label, at, worded=any(c.isalpha() or c == "§" for c in around))

    @staticmethod
    def _start(found: _List, level: int) -> int:
        definition = found.levels.get(level)
        return found.starts.get(level, definition.start if definition else 0)


def _read_lists(root: _Element, styles: Styles) -> dict[str, _List]:
    abstracts = {
        element.get(W + "abstractNumId", ""): element for element in root.iterchildren(W + "abstractNum")
    }
    numbers = {element.get(W + "numId", ""): element for element in root.iterchildren(W + "num")}
    definitions = {key: _read_levels(element) for key, element in abstracts.items()}
    lists: dict[str, _List] = {}
    for num_id, element in numbers.items():
        key = _follow_links(child_value(element, "abstractNumId") or "", abstracts, numbers, styles)
        levels, damaged = definitions.get(key, ({}, False))
        found = _List(key, dict(levels), damaged=damaged)
        for override in element.iterchildren(W + "lvlOverride"):
            index = integer(override.get(W + "ilvl"), -1)
            if not 0 <= index < LEVELS:
                continue
            replacement = override.find(W + "lvl")
            if replacement is not None:
                found.levels[index] = _read_level(replacement)
            start = child_value(override, "startOverride")
            if start is not None:
                found.starts[index] = _bounded(start)
        lists[num_id] = found
    return lists


def _follow_links(
    key: str, abstracts: dict[str, _Element], numbers: dict[str, _Element], styles: Styles
) -> str:
    """An abstract definition may only name a numbering style; that style's list has the levels."""
    seen: set[str] = set()
    while key in abstracts and key not in seen:
        seen.add(key)
        link = child_value(abstracts[key], "numStyleLink")
        if link is None:
            return key
        target = styles.numbering(link)
        number = numbers.get(target.num_id) if target else None
        if number is None:
            return _owner_of_style(link, abstracts) or key
        key = child_value(number, "abstractNumId") or ""
    return key


def _owner_of_style(link: str, abstracts: dict[str, _Element]) -> str | None:
    return next(
        (key for key, element in abstracts.items() if child_value(element, "styleLink") == link), None
    )


def _read_levels(element: _Element) -> tuple[dict[int, Level], bool]:
    """The levels of an abstract definition, and whether it states one of them twice.

    Some publishing systems write every level as level 0. How Word reads that is unclear, and their paragraphs have
    typed numbers, so no numbers are generated for such a list.
    """
    levels: dict[int, Level] = {}
    damaged = False
    for child in element.iterchildren(W + "lvl"):
        index = integer(child.get(W + "ilvl"), -1)
        damaged = damaged or index in levels
        if 0 <= index < LEVELS:
            levels.setdefault(index, _read_level(child))
    return levels, damaged


def _read_level(element: _Element) -> Level:
    number = element.find(W + "numFmt")
    if number is None:
        # Newer formats are wrapped in alternate content; the first branch is the intended one.
        number = next(element.iter(W + "numFmt"), None)
    style = number.get(W + "val", "decimal") if number is not None else "decimal"
    if style == "custom" and number is not None:
        style = "custom:" + number.get(W + "format", "")
    restart = child_value(element, "lvlRestart")
    return Level(
        start=_bounded(child_value(element, "start")),
        format=style,
        text=(child_value(element, "lvlText") or "")[:_LONGEST_TEXT],
        restart=None if restart is None else integer(restart, LEVELS),
        legal=bool(flag(element, "isLgl")),
        hidden=bool(flag(element.find(W + "rPr"), "vanish")),
        picture=element.find(W + "lvlPicBulletId") is not None,
        style=child_value(element, "pStyle"),
    )


def _bounded(text: str | None) -> int:
    return min(max(integer(text), 0), _LARGEST)


def format_number(value: int, style: str) -> str:
    """A list number in one of Word's number formats; an unknown format gives plain digits."""
    written = _written(value, style)
    return str(value) if written is None else written


def _written(value: int, style: str) -> str | None:
    if style in _FORMATS:
        return _FORMATS[style](value)
    if style in _CYCLES and value > 0:
        return _CYCLES[style][(value - 1) % len(_CYCLES[style])]
    if style in _COLUMNS:
        return _columns(value, _COLUMNS[style])
    if style in _SIGNS and 0 < value <= len(_SIGNS[style]):
        return _SIGNS[style][value - 1]
    if style in _COUNTED:
        return _counted(value, *_COUNTED[style])
    if style.startswith("custom:"):
        # "001, 002, 003, ..." shows the width by its first sample.
        return str(value).zfill(len(style[len("custom:") :].split(",")[0].strip()))
    return None


def _letters(value: int, alphabet: str) -> str:
    if value < 1:
        return ""
    repeats, index = divmod(value - 1, len(alphabet))
    return alphabet[index] * (repeats + 1) if repeats < _MOST_REPEATS else str(value)


def _roman(value: int) -> str:
    if not 0 < value < 4000:
        return "" if value <= 0 else str(value)
    return roman_numeral(value).upper()


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


def _columns(value: int, alphabet: str) -> str:
    letters = ""
    while value > 0:
        value, index = divmod(value - 1, len(alphabet))
        letters = alphabet[index] + letters
    return letters


def _counted(value: int, digits: str, units: str) -> str | None:
    """Chinese numerals: 11 is ten one, 110 one hundred one ten, 101 one hundred zero one."""
    if not 0 < value < 10_000:
        return None
    text = str(value)
    out = ""
    for place, digit in zip(range(len(text) - 1, -1, -1), text, strict=True):
        if digit != "0":
            out += digits[int(digit)] + (units[place - 1] if place else "")
        elif not out.endswith(digits[0]):
            out += digits[0]
    out = out.rstrip(digits[0])
    # Everyday numerals drop the one of a leading ten; those of banks do not.
    return out[1:] if units == _HAN[1] and 10 <= value < 20 else out


def _korean(value: int) -> str | None:
    if not 0 < value < 10_000:
        return None
    digits, units = _KOREAN
    text = str(value)
    return "".join(
        ("" if digit == "1" and place else digits[int(digit)]) + (units[place - 1] if place else "")
        for place, digit in zip(range(len(text) - 1, -1, -1), text, strict=True)
        if digit != "0"
    )


def _hebrew(value: int) -> str | None:
    """Letters by numeric value; 15 and 16 are written nine and six, nine and seven."""
    if not 0 < value < 1000:
        return None
    hundreds, tens, ones = _HEBREW
    out = ""
    for worth, letter in hundreds:
        count, value = divmod(value, worth)
        out += letter * count
    if value in (15, 16):
        return out + ones[8] + ones[value - 10]
    return out + (tens[value // 10] if value > 9 else "") + (ones[value % 10 - 1] if value % 10 else "")


def _korean_legal(value: int) -> str | None:
    return _KOREAN_TENS[value // 10] + _KOREAN_ONES[value % 10] if 0 < value < 100 else _korean(value)


def _digits(value: int, digits: str) -> str:
    return "".join(digits[int(digit)] for digit in str(value))


_FORMATS: dict[str, Callable[[int], str | None]] = {
    **dict.fromkeys(("none", "bullet"), lambda value: ""),
    "decimalZero": "{:02d}".format,
    "lowerLetter": lambda value: _letters(value, _LATIN),
    "upperLetter": lambda value: _letters(value, _LATIN).upper(),
    "lowerRoman": lambda value: _roman(value).lower(),
    "upperRoman": _roman,
    "russianLower": lambda value: _letters(value, _RUSSIAN),
    "russianUpper": lambda value: _letters(value, _RUSSIAN).upper(),
    "ordinal": lambda value: f"{value}{_suffix(value)}",
    "cardinalText": lambda value: _words(value).capitalize(),
    "ordinalText": lambda value: _ordinal_words(value).capitalize(),
    "numberInDash": "- {} -".format,
    "chicago": lambda value: _letters(value, _CHICAGO),
    **dict.fromkeys(("decimalFullWidth", "decimalFullWidth2"), lambda value: _digits(value, _FULL_WIDTH)),
    "koreanCounting": _korean,
    "koreanLegal": _korean_legal,
    "koreanDigital": lambda value: _digits(value, _KOREAN[0]),
    "koreanDigital2": lambda value: _digits(value, _HAN[0]),
    "hebrew1": _hebrew,
}
