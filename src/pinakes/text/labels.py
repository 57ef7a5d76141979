"""How people number the parts of documents, and how they write those numbers down.

One grammar serves both sides: the labels printed in headings (``Article 6``, ``SEC. 203.``, ``32.706-2``) and
the references in queries and running text (``Art. 6 (1) f``, ``§ 4.2``, ``chapter IV``). Both become a
:class:`Label` with a normalised number, so that they can be compared.

Every repetition in the patterns below is bounded or cannot match in two ways: they see hostile text too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Written form -> canonical kind. Keys are casefolded, without a trailing full stop or plural s.
_KINDS = {
    "section": "section sec sect § §§ sektion sección seccion sezione secção paragraf",
    "article": "article art artikel artículo articulo articolo artigo artykuł статья статьи ст",
    "clause": "clause cl klausel cláusula clausula",
    "paragraph": "paragraph para paragraphe пункт",
    "rule": "rule",
    "regulation": "regulation reg",
    "item": "item",
    "chapter": "chapter ch chap kapitel kap chapitre capítulo capitulo capo hoofdstuk rozdział глава главы",
    "part": "part pt teil partie parte deel часть",
    "subpart": "subpart",
    "title": "title titel titre título titulo titolo",
    "subtitle": "subtitle",
    "subchapter": "subchapter",
    "division": "division div abschnitt раздел",
    "book": "book buch livre libro",
    "annex": "annex anhang anlage annexe anexo allegato bijlage załącznik приложение",
    "appendix": "appendix app appendice",
    "schedule": "schedule sched",
    "exhibit": "exhibit",
    "recital": "recital erwägungsgrund considérant considerando",
}
_CANONICAL = {word: kind for kind, words in _KINDS.items() for word in words.split()}
# Kinds whose numbers run through a document and which people use for one another.
LEAF_KINDS = frozenset({"", "section", "article", "clause", "paragraph", "rule", "regulation", "item"})
# Kinds that are lettered as often as numbered.
_LETTERED_KINDS = frozenset({"appendix", "annex", "schedule", "exhibit"})
# Abbreviations that are words of their own unless a full stop follows: `the app 3 times`.
_DOTTED_ONLY = frozenset({"app", "div"})
# Words whose plural looks like the singular.
_SAME_IN_PLURAL = frozenset({"artikel", "kapitel"})

_WORDS = "|".join(
    re.escape(word) + (r"(?=\.)" if word in _DOTTED_ONLY else "")
    for word in sorted(_CANONICAL, key=len, reverse=True)
    if word[0].isalpha()
)
_KIND = rf"(?:(?P<word>{_WORDS})(?P<plural>(?<=[a-z])s)?\.?|(?P<sign>§§?))\s{{0,3}}(?:no\.?\s{{1,2}})?"

# -- numbers -------------------------------------------------------------------------------------------------

# `12`, `12a`, `300aa`, `1er`, `12 bis` (but not the German `5 bis 7`, a range), `1º`.
_STEP = r"\d{1,9}(?:\s?(?:bis|ter|quater)(?!\s{0,2}\d)|[a-z]{1,2})?[ºª°]?(?![a-z0-9])"
_MORE_STEPS = rf"(?:[.\-‑–](?:{_STEP}|[a-z](?![a-z0-9])))*"
# French codes number their articles `L. 121-1`.
_DIGITS = rf"(?:[lrd]\.?\s?(?=\d{{3}}))?{_STEP}{_MORE_STEPS}"
_ROMAN = r"[ivxlc]{1,9}"
_LETTERS = rf"(?<=[\s.])(?:{_ROMAN}|[a-z])(?![a-z0-9]){_MORE_STEPS}"
_NUMBER = rf"(?P<number>{_DIGITS}|{_LETTERS})"
# What must not follow a number: it would be a measure (`50 %`, `1,000`) or the name of an act (`2016/679`).
_NUMBER_END = r"(?![a-z0-9%]|\s%|[.\-‑–/:]\d|,\d{3})"

# -- the parts of a numbered place: (1), lit. f, paragraph 2 -------------------------------------------------

_DOUBLED = "|".join(letter * 2 for letter in "abcdefghijklmnopqrstuvwxyz")
_PART_NUMBER = rf"(?:\d{{1,3}}[a-z]{{0,2}}|{_DOUBLED}|[ivx]{{1,6}}|[a-z])(?![0-9a-z])"
_PAREN = rf"\s{{0,2}}\(\s{{0,2}}{_PART_NUMBER}\s{{0,2}}\)"
_PART_WORD = (
    r"(?:para(?:graphe?)?|u?abs(?:atz)?|sub-?section|sub-?paragraph|sub-?clause|point|lit(?:era)?|letter|buchstabe"
    r"|no|nr|nummer|satz|apartado|letra|alin[ée]a|comma|lettera|lid|ust|pkt)"
)
_CONNECTED = rf",?\s{{1,2}}(?:of\s)?{_PART_WORD}(?:\.\s{{0,2}}|\s{{1,2}}|(?=[\d(]))\(?{_PART_NUMBER}\)?"
# `Art. 6 (1) f`; an `a` or `i` is as likely a word: `under Article 6(1) a controller must`.
_TRAILING_LETTER = (
    r"(?<=\))\s{0,2}(?:[b-hj-z](?![\w'’])"
    r"|[ai](?=\s{0,2}(?:\Z|[,;.)]|(?-i:[A-Z]{2})|(?:and|or|und|oder|et|ou)\b)))"
)
_PARENS = rf"(?P<parts>(?:{_PAREN}){{0,12}})"
_PARTS = rf"(?P<parts>(?:{_PAREN}|{_CONNECTED}){{0,12}}(?:{_TRAILING_LETTER})?)"
# `point (f) of Article 6(1)`
_INNER = rf"(?P<inner>(?:{_PART_WORD}\.?\s{{1,2}}\(?{_PART_NUMBER}\)?\s{{1,2}}of\s{{1,2}}){{0,3}})"

# -- references ----------------------------------------------------------------------------------------------

_REFERENCE = re.compile(rf"(?<![\w§]){_INNER}{_KIND}{_NUMBER}{_NUMBER_END}{_PARTS}", re.IGNORECASE)
_ENUMERATED = re.compile(
    rf"\s?(?:[,;]\s?)?(?:(?<=[,;\s])(?:and|or|to|und|oder|bis|et|ou|à|y|o|e|&)\s)?"
    rf"(?<=[,;\s])(?P<number>{_DIGITS}){_NUMBER_END}{_PARTS}",
    re.IGNORECASE,
)
_DOTTED = r"\d{1,9}[a-z]?(?:\.\d{1,9}[a-z]{0,2}(?![a-z0-9]))+"
_LETTER_DOTTED = r"(?-i:[A-Z])(?:\.\d{1,2}(?![a-z0-9]))+"
_BARE_NUMBER = rf"(?:{_DOTTED}|{_LETTER_DOTTED})(?:[\-‑–]\d{{1,9}})*"
_BARE = re.compile(
    rf"(?<![\w.§$€£¥+/:\-‑–])(?<!\d,)"
    rf"(?P<number>{_BARE_NUMBER}|\d{{1,9}}[a-z]?(?:[\-‑–]\d{{1,9}}[a-z]?){{0,3}}(?={_PAREN}))"
    rf"{_NUMBER_END}{_PARENS}(?!\w)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    rf"\s*(?P<number>{_DIGITS}|{_BARE_NUMBER}|(?:{_ROMAN}|[a-z])(?=[.)])|(?=\()){_PARENS}[.)]?\s*",
    re.IGNORECASE,
)

# -- headings ------------------------------------------------------------------------------------------------

_MARK = r"[.:)]?\s{0,9}(?:[-‑–—:|]\s{0,9})?"
_HEADING_KIND = re.compile(
    rf"\s{{0,9}}(?P<label>{_KIND}{_NUMBER}{_NUMBER_END}{_PARTS})\s{{0,9}}(?P<mark>{_MARK})", re.IGNORECASE
)
_HEADING_BARE = re.compile(
    rf"\s{{0,9}}(?P<label>(?P<number>{_BARE_NUMBER}|\d{{1,6}}[a-z]?(?:[\-‑–]\d{{1,6}}[a-z]?)*){_PARENS})"
    r"(?P<mark>[.)]?(?:\s{0,9}[-–—:]\s{1,9}|\s{1,9}|\Z))",
    re.IGNORECASE,
)
_HEADING_LETTER = re.compile(r"\s{0,9}(?P<label>[A-Z]|[IVXLC]{2,9})(?P<mark>[.)])\s{1,9}(?=\S)")
# A number that counts from the heading above: `(a) Payment`, `iv) Costs`.
_HEADING_RELATIVE = re.compile(
    rf"\s{{0,9}}(?P<label>\({_PART_NUMBER}\)|(?-i:[a-z]|[ivx]{{2,6}})\))(?:\s{{1,9}}|\Z)", re.IGNORECASE
)

_PART = re.compile(r"[0-9a-z]+", re.IGNORECASE)
_PART_WORDS = re.compile(rf"\b(?:of|{_PART_WORD})\b\.?", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}

# -- numbers that are no labels ------------------------------------------------------------------------------

_UNIT_NAMES = (
    "percent|per cent|prozent|pct|million|billion|trillion|thousand|mio|mrd|millionen|milliarden|[kmgtp]i?b|bytes?|ms"
    "|am|pm|uhr|kg|mg|km|cm|mm|[kmg]hz|[kmg]wh?|px|euros?|eur|usd|gbp|chf|dollars?|cents?"
)
_UNIT = re.compile(rf"\s?(?:[%€$£¥°‰]|(?:{_UNIT_NAMES})\b)", re.IGNORECASE)
_WITH_UNIT = re.compile(rf"[\d.]+(?:{_UNIT_NAMES})", re.IGNORECASE)
# Dates (12.05.2021, 2021-05-01) and telephone numbers (800.555.1234, 555-123-4567).
_DATE_OR_PHONE = re.compile(
    r"\d{1,2}\.\d{1,2}\.(?:19|20)\d\d|(?:19|20)\d\d[-.]\d\d?[-.]\d\d?|(?:\d{1,3}[.-])?\d{3}[.-]\d{3,4}[.-]\d{4}"
)
_YEAR = re.compile(r"(?:1[89]|2[01])\d\d")
# What carries numbers of its own: `Table 4.2` is not section 4.2.
_OTHER_NUMBERING = re.compile(
    r"(?:version|release|table|tabelle|tableau|figure|abbildung|abb|fig|eq)s?\.?\s{0,2}\Z", re.IGNORECASE
)
_DIMENSION = re.compile(r"[1-9][dgk]", re.IGNORECASE)
_PRONOUN = re.compile(r"\s{1,2}(?!(?:of|and|or|to|in|is|on|for|under|through|shall|und|oder)\b)[a-z]")
_BLANK_END = re.compile(r"\s*\Z")


@dataclass(frozen=True, slots=True)
class Label:
    """A number that names a place: ``text`` as written, the rest normalised.

    A ``relative`` label counts from the heading above it: ``(a)`` below ``4.2`` is 4.2(a).
    """

    text: str
    kind: str
    number: tuple[str, ...]
    relative: bool = False

    @property
    def key(self) -> str:
        """The number in one word: ``403_b_2``."""
        return "_".join(self.number)

    @property
    def section_id(self) -> str:
        """Normalised id: ``sec_403_b_2``, ``chapter_4``."""
        return f"{'sec' if self.kind in LEAF_KINDS else self.kind}_{self.key}"

    def shortened(self) -> Label | None:
        """The same reference one part less deep, or None when there is nothing to leave off."""
        return Label(self.text, self.kind, self.number[:-1]) if len(self.number) > 1 else None

    def below(self, text: str, kind: str, number: tuple[str, ...]) -> Label:
        """A relative label made whole: what it says below the place of the given text, kind and number."""
        return Label(f"{text}({self.text.strip('()')})", kind, (*number, *self.number))


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """A reference in running text, with its place."""

    label: Label
    start: int
    end: int


def roman_value(text: str) -> int | None:
    """Return the value of a well-formed Roman numeral, or None."""
    total = 0
    lower = text.lower()
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


def normalise_number(number: str) -> tuple[str, ...]:
    """Split a number at its dots and hyphens; a leading Roman numeral becomes decimal.

    A single C or L is more often a letter (Appendix C) than a hundred, and stays one.

    >>> normalise_number("IV"), normalise_number("32.0706-2"), normalise_number("L. 121-1"), normalise_number("1er")
    (('4',), ('32', '0706', '2'), ('l121', '1'), ('1',))
    """
    lower = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in number.lower())
    lower = re.sub(r"^([lrd])\.?\s?(?=\d{3})", r"\1", lower)
    first, *others = (part for part in re.split(r"[.\-‑–]", re.sub(r"[\sºª°]", "", lower)) if part)
    if first.isalpha() and (len(first) > 1 or first in "ivx"):
        first = str(roman_value(first) or first)
    # Only at the front are zeros idle: 32.001 and 32.1 are two sections.
    first = re.sub(r"^0+(?=\d)", "", first)
    return tuple(re.sub(r"(?<=\d)(?:er|re|st|nd|rd|th)$", "", part) for part in (first, *others))


def _normalise_parts(parts: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PART.findall(_PART_WORDS.sub(" ", parts)))


def _kind(match: re.Match[str]) -> str:
    # The fallback is for letters that match without case, such as a dotless i, and do not fold to what they match.
    return _CANONICAL.get(match["word"].casefold(), "section") if match["word"] else "section"


def _label(match: re.Match[str], kind: str, text: str, inner: str = "") -> Label:
    number = normalise_number(match["number"]) if match["number"] else ()
    return Label(
        text.strip(), kind, (*number, *_normalise_parts(match["parts"]), *reversed(_normalise_parts(inner)))
    )


# -- headings ------------------------------------------------------------------------------------------------


def parse_heading(heading: str) -> tuple[Label | None, str]:
    """Split a heading into its printed label and its title.

    >>> label, title = parse_heading("Article 6 Lawfulness of processing")
    >>> label.text, label.section_id, title
    ('Article 6', 'sec_6', 'Lawfulness of processing')
    """
    label: Label | None = None
    if (match := _HEADING_KIND.match(heading)) and _is_kind_heading(match, heading[match.end() :]):
        label = _label(match, _kind(match), match["label"])
    elif (match := _HEADING_BARE.match(heading)) and _is_bare_heading(match, heading[match.end() :]):
        label = _label(match, "", match["label"])
    elif (match := _HEADING_LETTER.match(heading)) and _is_letter_heading(match, heading[match.end() :]):
        label = Label(match["label"], "", normalise_number(match["label"]))
    elif match := _HEADING_RELATIVE.match(heading):
        label = Label(match["label"], "", _normalise_parts(match["label"]), relative=True)
    return label, heading[match.end() if label and match else 0 :].strip()


def _is_kind_heading(match: re.Match[str], rest: str) -> bool:
    """Keep ``Part of the work``, ``Part I think`` and ``Title a ship`` from reading as labels."""
    number = match["number"]
    if any(c.isdigit() for c in number[:4]):
        return True
    ends = not rest or bool(match["mark"].strip())
    # A label stands before punctuation or a capital.
    return (ends or (number[0].isupper() and not rest[0].islower())) and _letters_count(
        _kind(match), number, ends=ends
    )


def _is_bare_heading(match: re.Match[str], rest: str) -> bool:
    """Tell ``4 Payment`` and ``4.2 payment`` from ``2021 results``, ``10 things to know`` and ``1.5 GB``."""
    number, marked = match["number"], match["mark"][:1] in {".", ")"}
    if _YEAR.fullmatch(number) or not _is_label_number(number, match.string, match.end("label")):
        return False
    if "." in number or match["parts"]:
        return True
    if not number.isalnum():
        return not rest
    if marked:
        return True
    if len(number) > 3 or _DIMENSION.fullmatch(number):
        return False
    return not rest or rest[0] in "([" or (rest[0].isalpha() and not rest[0].islower())


def _is_letter_heading(match: re.Match[str], rest: str) -> bool:
    """Tell ``C. Costs`` from ``C. elegans`` and from the initials of a name."""
    letters = match["label"]
    if len(letters) > 1 and roman_value(letters) is None:
        return False
    return match["mark"] == ")" or (not rest[0].islower() and not re.match(r"[A-Z]\.", rest))


# -- references ----------------------------------------------------------------------------------------------


def find_labels(text: str) -> list[FoundLabel]:
    """Return the references in a text, in order, without overlaps.

    >>> [found.label.section_id for found in find_labels("see Art. 6 (1) f and FAR 32.706-2")]
    ['sec_6_1_f', 'sec_32_706_2']
    """
    found: list[FoundLabel] = []
    position = 0
    for named in _named_references(text):
        found += _bare_references(text, position, named.start)
        found.append(named)
        position = named.end
    found += _bare_references(text, position, len(text))
    return found


def _bare_references(text: str, start: int, end: int) -> Iterator[FoundLabel]:
    """Numbers that stand for themselves: ``32.706-2``, ``4.2(a)``."""
    for match in _BARE.finditer(text, start, end):
        before = max(start, match.start() - 14)
        if _is_label_number(match["number"], text, match.end()) and not _OTHER_NUMBERING.search(
            text, before, match.start()
        ):
            yield FoundLabel(_label(match, "", match.group()), match.start(), match.end())


def _named_references(text: str) -> Iterator[FoundLabel]:
    """References that say what they mean (``Article 6``), and those counted up after them (``Articles 6 and 7``)."""
    position = 0
    while match := _REFERENCE.search(text, position):
        position = match.end()
        if not _is_reference(match):
            # What was read as a number may begin a reference of its own.
            position = match.start("number")
            continue
        kind = _kind(match)
        yield FoundLabel(_label(match, kind, match.group(), match["inner"]), match.start(), match.end())
        if match["plural"] or match["sign"] == "§§" or (match["word"] or "").casefold() in _SAME_IN_PLURAL:
            while more := _ENUMERATED.match(text, position):
                number = text[more.start("number") : more.end()]
                yield FoundLabel(_label(more, kind, number), more.start("number"), more.end())
                position = more.end()


def _is_reference(match: re.Match[str]) -> bool:
    number = match["number"]
    if any(c.isdigit() for c in number[:4]):
        return True
    if number in {"A", "I"} and _PRONOUN.match(match.string, match.end()):
        return False
    ends = _BLANK_END.match(match.string, match.end()) is not None
    return _letters_count(_kind(match), number, ends=ends)


def _letters_count(kind: str, number: str, *, ends: bool) -> bool:
    """Whether letters after a kind are its number: ``Part IV``, ``Appendix b``, but not ``part a`` or ``item c``."""
    lead = re.split(r"[.\-‑–]", number, maxsplit=1)[0]
    if len(lead) > 1 and (roman_value(lead) is None or not (lead.isupper() or lead.islower())):
        return False
    if lead.isupper():
        return True
    if kind in LEAF_KINDS:
        return False
    return len(lead) > 1 or (ends and (lead in "ivx" or kind in _LETTERED_KINDS))


def _is_label_number(number: str, text: str, end: int) -> bool:
    """Keep dates, network addresses, telephone numbers and measures from reading as labels."""
    if _DATE_OR_PHONE.fullmatch(number) or _WITH_UNIT.fullmatch(number) or _UNIT.match(text, end):
        return False
    steps = number.split(".")
    looks_like_address = len(steps) == 4 and all(step.isdigit() and int(step) < 256 for step in steps)
    return not (looks_like_address and any(step == "0" or len(step) == 3 for step in steps))


def parse_whole(text: str) -> Label | None:
    """Read a text that is nothing but a number (``403``, ``(a)``) as a label."""
    if len(text) > 100:
        return None
    match = _WHOLE.fullmatch(text)
    if not match or not (match["number"] or match["parts"]):
        return None
    number = match["number"]
    if number.isalpha() and len(number) > 1 and roman_value(number) is None:
        return None
    if not _is_label_number(number, text, match.end()):
        return None
    if number.islower() and number.isalpha():
        return Label(text.strip(), "", (number, *_normalise_parts(match["parts"])))
    return _label(match, "", match.group())


def slug(text: str, limit: int = 60) -> str:
    """Make an id of words: ``Payment Terms`` becomes ``payment_terms``."""
    words = re.findall(r"\w+", text.casefold())
    return "_".join(words)[:limit].strip("_")
