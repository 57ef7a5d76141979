"""The grammar of one label, shared by all readers: a kind, its number, and the parts below it.

Every repetition in the patterns below is bounded or unambiguous: they see hostile text too. Patterns ignore case;
exceptions are marked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loccit.expressions import expression
from loccit.grammar.labels.lexicon import Form, load, lowered, one_of
from loccit.grammar.labels.model import APART, CONTAINERS, LEAF_KINDS, Label
from loccit.grammar.labels.numbers import (
    CHINESE,
    NUMBER_WORD,
    ORDINAL,
    RAISED,
    SOLE,
    SPOKEN,
    chinese_value,
    in_digits,
    normalise_number,
    raised_apart,
    roman_value,
    words_end,
    words_value,
)

_LEXICON = load()
FORMS: dict[str, Form] = {word: form for word, form in _LEXICON.forms.items() if not form.only_text}
"""Words that precede a number in headings and queries."""
_SIGNS = frozenset({"§", "§§"})
_LETTER = "a-zα-ωа-яё"

# -- kinds ---------------------------------------------------------------------------------------------------

KIND_WORD = one_of(word for word in FORMS if word not in _SIGNS)
# A line may break here, but not a paragraph.
_BLANKS = r"[^\S\n]{0,3}(?:\n[^\S\n]{0,3})?"
_NUMBER_SIGN = r"(?:no\.?\s{1,2}|nr\.?\s{1,2}|n[º°]\.?\s{0,2})?"
_KIND = (
    rf"(?:(?P<word>{KIND_WORD})(?!(?!{CHINESE})[^\W\d_])(?P<stop>\.)?|(?P<sign>§§?)){_BLANKS}{_NUMBER_SIGN}"
)

# -- numbers -------------------------------------------------------------------------------------------------

_LATIN = "bis|ter|quater|quinquies|sexies|septies|octies|novies|decies"
_SUFFIX = "|".join(letter + "{3,4}" for letter in "abcdefghijklmnopqrstuvwxyz") + rf"|[{_LETTER}]{{1,2}}"
# `12`, `12a`, `300aa`, `410aaa`, `1er`, `12 bis` (but not the German `5 bis 7`, a range), `1º`, `5¹`, `35/A`.
INSERTED = rf"(?:{RAISED}|/(?-i:[A-Z])(?![^\W_]))"
STEP = rf"\d{{1,9}}(?:\s?(?:{_LATIN})(?![^\W\d_]|\s{{0,2}}\d)|{_SUFFIX})?(?:\.?[ºª°]|{INSERTED})?(?![{_LETTER}0-9])"
MORE_STEPS = rf"(?:[.\-‑–](?:{STEP}|[a-z](?![^\W_]))){{0,12}}"
# French codes number their articles `L. 121-1`.
_CODE = (
    r"(?:(?:(?<=article\s)|(?<=articles\s)|(?<=art\.\s))(?:a(?=\d)|(?:lo|[lrd])\*?\.?\s?(?=\d))"
    r"|[lrd]\.?\s?(?=\d{3}))?"
)
# `§ 3 a`, as the Nordic countries write it; the letter is no article before a word.
_APART = (
    r"(?<=§\s)\d{1,5}(?:[-‑–]\d{1,5})?\s(?-i:[a-z])"
    r"(?=\.?\s*\Z|\.\s|[,(]|[.\s](?-i:[A-ZÅÄÖØÆ])|\s(?:of|in|under|i|av|des|der|vom)\s)"
)
# `Art. 1 o`: the ordinal of Portuguese acts, where its sign was lost; from ten on they have none.
_ORDINAL_LETTER = r"(?<=art\.\s)[1-9]\s(?-i:o)(?=\s{1,2}(?-i:[A-ZÀ-Ý\[(]))"
DIGITS = rf"(?:{_APART}|{_ORDINAL_LETTER}|{_CODE}{STEP}{MORE_STEPS})"
# Dutch codes count their articles within books: `artikel 6:162`.
_OF_BOOK = rf"\d{{1,3}}:{STEP}{MORE_STEPS}"
ROMAN = r"[ivxlc]{1,9}"
_LETTERS = rf"(?<=[\s.])(?:{ROMAN}|[a-z])(?![a-z0-9]){MORE_STEPS}"
_NUMBER = rf"(?P<number>{_OF_BOOK}|{DIGITS}|{_LETTERS}|{CHINESE}{{1,9}}|(?<=[(（\s]){NUMBER_WORD})"
# What must not follow a number: it would be a measurement (`50 %`, `1,000`), the name of an act
# (`2016/679`) or a code (`APP.1.2.A3`).
NUMBER_END = r"(?![a-z0-9%]|\s%|[.\-‑–/:][a-z]?\d|,\d{3})"
# The number may be in brackets: `المادة (3)`.
_NUMBERED = expression(rf"{_KIND}(?P<open>[(（]\s{{0,2}})?{_NUMBER}{NUMBER_END}", re.IGNORECASE)
_CLOSE = expression(r"\s{0,2}[)）]")
# `16-статья(3)`: the word has its number already, and the brackets a part.
_NUMBER_BEFORE = expression(r"\d(?:[-‐‑][^\W\d_]{1,4})?[.\s]?[-‐‑\s]?\Z")
_BRACKETED_KINDS = frozenset({"article", "chapter", "part", *APART})

DOTTED = r"\d{1,9}[a-z]?(?:\.\d{1,9}[a-z]{0,2}(?![a-z0-9])){1,12}"
_LETTER_DOTTED = r"(?-i:[A-Z])(?:\.\d{1,2}(?![a-z0-9])){1,12}"
BARE_NUMBER = rf"(?:{DOTTED}|{_LETTER_DOTTED})(?:[\-‑–]\d{{1,9}}){{0,6}}"

# -- the parts of a numbered place: (1), lit. f, paragraph 2 -------------------------------------------------

_DOUBLED = "|".join(letter * 2 for letter in "abcdefghijklmnopqrstuvwxyz")
PART_NUMBER = (
    rf"(?:\d{{1,3}}[a-z]{{0,2}}[º°]?|{_DOUBLED}|[ivx]{{1,6}}|[{_LETTER}])(?:{RAISED})?(?![0-9{_LETTER}])"
)
PAREN = rf"[^\S\n]{{0,2}}[(（]\s{{0,2}}(?:{PART_NUMBER}|{CHINESE}{{1,4}})\s{{0,2}}[)）]"
# One letter is only a word when it is cut short: `c. 2`.
# Several parts are more often parts of what follows: `§§ 3-5, points (a) to (c) of § 9`.
_PART_WORDS = one_of(word for word, form in _LEXICON.parts.items() if len(word) > 1 and not form.plural)
_PART_LETTERS = one_of(word for word in _LEXICON.parts if len(word) == 1)
PART_WORD = rf"(?:{_PART_WORDS}|{_PART_LETTERS}(?=\.))"
_SEPARATOR = r"(?:\.\s{0,2}|\s{1,2}|(?=[\d(]))"
_CONNECTED = (
    rf",?\s{{1,2}}(?:of\s|aanhef\sen\s)?(?:{PART_WORD}{_SEPARATOR}(?:\(?{PART_NUMBER}\)?|{SPOKEN})"
    rf"|{ORDINAL}\s{{1,2}}{_PART_WORDS}(?![^\W_]))"
)
# `Art. 6 (1) f`; an `a` or `i` is as likely a word: `under Article 6(1) a controller must`.
_TRAILING_LETTER = (
    r"(?<=\))\s{0,2}(?:[b-hj-z](?![\w'’])"
    r"|[ai](?=\s{0,2}(?:\Z|[,;.)]|(?-i:[A-Z]{2})|(?:and|or|und|oder|et|ou)\b)))"
)
PARENS = rf"(?P<parts>(?:{PAREN}){{0,12}})"
_PARTS = expression(
    rf"(?:\.(?=\({PART_NUMBER}\)))?(?:{PAREN}|{_CONNECTED}){{0,12}}(?:{_TRAILING_LETTER})?", re.IGNORECASE
)
# `point (f) of Article 6(1)`, `пункт 3 части 2 статьи 5`
_OF = one_of(_LEXICON.prepositions)
_GENITIVE = one_of(word for word in _LEXICON.genitive_parts)
INNER = expression(
    rf"(?:{PART_WORD}\.?\s{{1,2}}\(?{PART_NUMBER}\)?\s{{1,2}}(?:{_OF}\s{{1,2}}(?:the\s)?|dell['’])"
    rf"|{_GENITIVE}\.?\s{{1,2}}{PART_NUMBER}\s{{1,2}}){{0,3}}",
    re.IGNORECASE,
)
PART_STARTS = frozenset(_LEXICON.parts)
_PART = expression(
    rf"(?<![^\W_])(?:{PART_WORD}{_SEPARATOR})?[(（]?\s{{0,2}}(?<![^\W_])"
    rf"(?P<token>{SPOKEN}|{PART_NUMBER}|{CHINESE}{{1,4}})",
    re.IGNORECASE,
)
# Below an article the section sign counts paragraphs: `Art. 5º, § 1º`, `art. 12 § 3`.
_SIGN_PART = expression(r"\s{0,2}(?:,\s{0,2}§\s?\d{1,3}[º°]|§\s?\d{1,3}[a-z]?)(?![\w.])", re.IGNORECASE)

ORDINAL_KIND = expression(rf"(?P<number>{ORDINAL})\s{{1,3}}(?P<word>{KIND_WORD})(?![^\W_])", re.IGNORECASE)
"""``Zweiter Teil``, ``First Schedule``."""

# -- numbers that are enclosed, or stand first -----------------------------------------------------------------

_AROUND: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {}
for _around in _LEXICON.around:
    _again, _kinds, _units = _AROUND.get(_around.before, ("", {}, {}))
    _AROUND[_around.before] = (
        _again + _around.again,
        {**_kinds, **_around.kinds},
        {**_units, **_around.parts},
    )
_COUNT = rf"(?:\d{{1,5}}|{CHINESE}{{1,9}})"


def _enclosed(before: str, again: str, kinds: dict[str, str], units: dict[str, str]) -> str:
    later = rf"(?:[{again}]{_COUNT}){{0,3}}"
    part = rf"\s?{before}?[(（]?{_COUNT}[)）]?{one_of(units)}{later}|\s?[(（]{CHINESE}{{1,3}}[)）](?![)）])"
    return rf"{before}\s?{_COUNT}\s?{one_of(kinds)}{later}(?:{part}){{0,6}}"


AROUND = "|".join(_enclosed(before, *rest) for before, rest in _AROUND.items())
"""``第三十七条第二款``, ``제3조의2``."""
_AROUND_UNIT = {unit: kind for _, kinds, _ in _AROUND.values() for unit, kind in kinds.items()}
_AROUND_STEP = expression(
    rf"(?P<number>{_COUNT})[)）]?\s?(?P<unit>{one_of({u for _, k, p in _AROUND.values() for u in (*k, *p)})})?"
    rf"(?P<later>(?:[{''.join(again for again, _, _ in _AROUND.values())}]{_COUNT}){{0,3}})"
)
_AFTER_WORD = one_of(word for word in _LEXICON.after if word != "§")
AFTER = (
    rf"(?P<number>\d{{1,4}}(?:{INSERTED}|\s?[a-z])?|(?-i:[IVXLC]{{1,7}}))\.?\s?(?P<after>§(?!§|\s?\d)|{_AFTER_WORD})(?![^\W_])\.?"
    rf"{PARENS}"
)
"""``5 §``, ``2 luku``, ``3. cikk``."""
AFTER_WORDS = tuple(_LEXICON.after)

# -- numbers that are no labels ------------------------------------------------------------------------------

_UNIT_NAMES = (
    "percent|per cent|prozent|pct|million|billion|trillion|thousand|mio|mrd|millionen|milliarden|[kmgtp]i?b|bytes?|ms"
    "|am|pm|uhr|kg|mg|km|cm|mm|[kmg]hz|[kmg]wh?|px|euros?|eur|usd|gbp|chf|dollars?|cents?"
)
# A dollar sign before a letter begins a name: `3.13.3 $schema property`.
_UNIT = expression(rf"\s?(?:[%€£¥°‰]|\$(?![^\W\d])|(?:{_UNIT_NAMES})\b)", re.IGNORECASE)
_PARTS_OF_MEASURE = 2
_WITH_UNIT = expression(rf"[\d.]+(?:{_UNIT_NAMES})", re.IGNORECASE)
# Dates (12.05.2021, 2021-05-01) and telephone numbers (800.555.1234, 555-123-4567).
_DATE_OR_PHONE = expression(
    r"\d{1,2}\.\d{1,2}\.(?:19|20)\d\d|(?:19|20)\d\d[-.]\d\d?[-.]\d\d?|(?:\d{1,3}[.-])?\d{3}[.-]\d{3,4}[.-]\d{4}"
)


def normalise_parts(parts: str) -> tuple[str, ...]:
    """The parts of a place, one by one: ``(1) lit. f`` is 1 and f."""
    return tuple(_part(match["token"]) for match in _PART.finditer(parts))


def _part(token: str) -> str:
    value = chinese_value(token)
    if value is not None:
        return str(value)
    return (words_value(token) if len(token) > 2 and token.isalpha() else "") or raised_apart(
        in_digits(token.lower().rstrip("º°"))
    )


@dataclass(frozen=True, slots=True)
class Numbered:
    """A kind and its number: ``Article 6``. ``open``: the number is in brackets."""

    form: Form
    word: str
    number: str
    start: int
    end: int
    stop: bool
    open: bool
    capital: bool

    def label(self, text: str, inner: str = "") -> tuple[Label, int]:
        """The label with its parts, and where it ends; ``inner`` are parts named before it."""
        end = parts_end(text, self.end)
        parts = normalise_parts(text[self.end : end])
        # Below an article the section sign counts paragraphs: `Art. 5º, § 1º`, `art. 12 § 3`.
        sign = _SIGN_PART.match(text, end) if self.form.kind == "article" else None
        if sign:
            end = parts_end(text, sign.end())
            parts = (
                *parts,
                *normalise_parts(sign.group().lstrip(" ,§")),
                *normalise_parts(text[sign.end() : end]),
            )
        number = (*normalise_number(self.number), *parts, *reversed(normalise_parts(inner)))
        return Label(text[self.start - len(inner) : end].strip(), self.form.kind, number), end


def read_numbered(text: str, at: int) -> Numbered | None:
    """Read a kind and its number at a position."""
    match = _NUMBERED.match(text, at)
    if match is None:
        return None
    word = _plain(match["word"] or match["sign"])
    end, number = match.end(), match["number"]
    if number.isalpha() and words_value(number):
        end = words_end(text, end)
        number = text[match.start("number") : end]
    if match["open"]:
        close = _CLOSE.match(text, end)
        if close is None or _NUMBER_BEFORE.search(text[max(0, at - 9) : at]):
            return None
        end = close.end()
    found = Numbered(
        form=kind_word(word),
        word=word,
        number=number,
        start=at,
        end=end,
        stop=bool(match["stop"]),
        open=bool(match["open"]),
        capital=text[at].isupper(),
    )
    return found if _fits(found) else None


def _fits(found: Numbered) -> bool:
    """Whether a kind and its number are written as the name of a place."""
    form = found.form
    if form.stop == "always" and (not found.stop or (len(form.word) < 3 and found.capital)):
        # `S. 821` is a page of a gazette.
        return False
    if found.open and form.kind not in _BRACKETED_KINDS:
        return False
    return normalise_number(found.number) != (SOLE,) or form.kind not in CONTAINERS | {
        "section",
        "clause",
        "rule",
    }


def parts_end(text: str, at: int) -> int:
    """Where the parts after a number end."""
    match = _PARTS.match(text, at)
    return match.end() if match else at


def kind_word(word: str) -> Form:
    """The form of a word that is one."""
    # The fallback is for letters that match case-insensitively, such as a dotless i, but do not fold to what
    # they match.
    return FORMS.get(_plain(word)) or FORMS["section"]


def _plain(word: str) -> str:
    return re.sub(r"\s", " ", lowered(word))


def label_of(match: re.Match[str], kind: str, text: str) -> Label:
    """The label for a match with a number and parts."""
    number = normalise_number(match["number"]) if match["number"] else ()
    return Label(text.strip(), kind, (*number, *normalise_parts(match["parts"])))


def around_label(text: str) -> Label:
    """Read a label whose number is enclosed: ``第二十四条の二第3項`` is article 24-2, paragraph 3."""
    kind, number = "", []
    for step in _AROUND_STEP.finditer(text):
        value = step["number"]
        parts = [str(chinese_value(one) or int(in_digits(one)) if one.isdecimal() else chinese_value(one))
                 for one in (value, *re.findall(_COUNT, step["later"]))]  # fmt: skip
        number.append("-".join(parts))
        kind = kind or _AROUND_UNIT.get(step["unit"] or "", "")
    return Label(text.strip(), kind.removeprefix("^"), tuple(number))


def around_in_text(text: str) -> bool:
    """Whether a kind that encloses its number also counts outside headings."""
    step = _AROUND_STEP.search(text)
    return step is not None and not _AROUND_UNIT.get(step["unit"] or "", "^").startswith("^")


def after_label(match: re.Match[str], text: str) -> Label:
    """Read a label whose kind follows its number."""
    form = _LEXICON.after.get(lowered(match["after"]))
    return label_of(match, form.kind if form else "section", text)


def is_lettered(number: str) -> bool:
    """Whether a number consists of letters, and may be a word."""
    return not any(c.isdigit() for c in number[:4]) and chinese_value(number) is None


def letters_count(kind: str, number: str, *, ends: bool) -> bool:
    """Whether letters after a kind are its number: ``Part IV``, ``Appendix b``, but not ``part a`` or ``item c``."""
    if words_value(number):
        return True
    lead = re.split(r"[.\-‑–]", number, maxsplit=1)[0]
    if len(lead) > 1 and (roman_value(lead) is None or not (lead.isupper() or lead.islower())):
        return False
    if lead.isupper():
        return True
    if kind in LEAF_KINDS:
        return False
    return len(lead) > 1 or (ends and (lead in "ivx" or kind in APART))


def is_label_number(number: str, text: str, end: int) -> bool:
    """Exclude dates, network addresses, telephone numbers and measurements."""
    steps = number.split(".")
    if _DATE_OR_PHONE.fullmatch(number) or _WITH_UNIT.fullmatch(number):
        return False
    # No measurement has three parts: `12.6.1 Percent of games`.
    if len(steps) <= _PARTS_OF_MEASURE and _UNIT.match(text, end):
        return False
    looks_like_address = len(steps) == 4 and all(step.isdigit() and int(step) < 256 for step in steps)
    return not (looks_like_address and any(step == "0" or len(step) == 3 for step in steps))
