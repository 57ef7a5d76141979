"""How people number the parts of documents, and how they write those numbers down.

One grammar serves both sides: the labels printed in headings (``Article 6``, ``SEC. 203.``, ``32.706-2``) and
the references in queries and running text (``Art. 6 (1) f``, ``§ 4.2``, ``chapter IV``). Both become a
:class:`Label` with a normalised number, so that they can be compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Written form -> canonical kind. Keys are casefolded, without a trailing full stop or plural s.
_KINDS = {
    "section": "section sec sect § §§ sektion sección seccion sezione secção",
    "article": "article art artikel artículo articulo articolo artigo",
    "clause": "clause cl klausel cláusula clausula",
    "paragraph": "paragraph para paragraphe",
    "rule": "rule",
    "regulation": "regulation reg",
    "item": "item",
    "chapter": "chapter ch chap kapitel chapitre capítulo capitulo capo hoofdstuk",
    "part": "part pt teil partie parte deel",
    "subpart": "subpart",
    "title": "title titel titre título titulo titolo",
    "subtitle": "subtitle",
    "subchapter": "subchapter",
    "division": "division div abschnitt",
    "book": "book buch livre libro",
    "annex": "annex anhang anlage annexe anexo allegato bijlage",
    "appendix": "appendix app",
    "schedule": "schedule sched",
    "exhibit": "exhibit",
}
_CANONICAL = {word: kind for kind, words in _KINDS.items() for word in words.split()}
# Kinds whose numbers run through a document and which people use for one another.
LEAF_KINDS = frozenset({"", "section", "article", "clause", "paragraph", "rule", "regulation", "item"})

_WORDS = "|".join(
    sorted((re.escape(word) for word in _CANONICAL if word[0].isalpha()), key=len, reverse=True)
)
_KIND = rf"(?:(?P<word>{_WORDS})(?:(?<=[a-zA-Z])s)?\.?|(?P<sign>§§?))"
_DIGITS = r"\d{1,9}[a-z]{0,2}(?:[.\-‑–]\d{1,9}[a-z]{0,2})*"
_ROMAN = r"[ivxlcdm]{1,9}"
_NUMBER = rf"(?P<number>{_DIGITS}|{_ROMAN}|[a-z])"
_PAREN = r"\s{0,2}\(\s{0,2}[0-9a-z]{1,5}\s{0,2}\)"
_CONNECTED = (
    r",?\s{1,2}(?:of\s)?(?:para(?:graph)?|abs(?:atz)?|sub-?section|sub-?paragraph|sub-?clause|point|lit(?:era)?|letter"
    r"|no|nr|nummer|satz|apartado|letra|alinéa)\.?\s{0,2}\(?[0-9a-z]{1,4}\)?(?![0-9a-z])"
)
_TRAILING_LETTER = r"(?<=\))\s{0,2}[a-z](?![\w'’])"
_PARTS = rf"(?P<parts>(?:{_PAREN}|{_CONNECTED})*(?:{_TRAILING_LETTER})?)"

_REFERENCE = re.compile(
    rf"(?<![\w§]){_KIND}\s{{0,3}}(?:no\.?\s{{1,2}})?{_NUMBER}(?![a-z0-9]){_PARTS}", re.IGNORECASE
)
_BARE = re.compile(
    rf"(?<![\w.§])(?P<number>\d{{1,9}}[a-z]?(?:\.\d{{1,9}}[a-z]?)+(?:[\-‑–]\d{{1,9}})*|\d{{1,9}}[a-z]?(?=\())(?![a-z0-9])"
    rf"(?P<parts>(?:{_PAREN})*)(?![\w%])",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    rf"\s*(?P<number>{_DIGITS}|\({_DIGITS}\)|{_ROMAN}(?=[.)])|[a-z](?=[.)]))(?P<parts>(?:{_PAREN})*)[.)]?\s*",
    re.IGNORECASE,
)

_SEPARATOR = r"(?:\s*[.:)]?\s*(?:[-‑–—:|]\s*)?|\s+)"
_HEADING_KIND = re.compile(
    rf"\s*(?P<label>{_KIND}\s{{0,3}}{_NUMBER}(?![a-z0-9])(?P<parts>(?:{_PAREN})*))(?P<after>{_SEPARATOR})",
    re.IGNORECASE,
)
_HEADING_BARE = re.compile(
    rf"\s*(?P<label>(?P<number>\d{{1,6}}[a-z]?(?:[.\-‑–]\d{{1,6}}[a-z]?)*)(?P<parts>(?:{_PAREN})*))"
    r"(?P<after>[.)]?(?:\s*[-–—:]\s+|\s+|$))",
    re.IGNORECASE,
)
_HEADING_LETTER = re.compile(r"\s*(?P<label>(?P<number>[A-Z]|[IVXL]{1,7}))(?P<after>[.)]\s+)(?=\S)")
_PART = re.compile(r"[0-9a-z]+", re.IGNORECASE)
_CONNECTOR_WORDS = re.compile(
    r"\b(?:of|para(?:graph)?|abs(?:atz)?|sub-?section|sub-?paragraph|sub-?clause|point|lit(?:era)?|letter|no|nr|nummer|satz"
    r"|apartado|letra|alinéa)\b\.?",
    re.IGNORECASE,
)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


@dataclass(frozen=True, slots=True)
class Label:
    """A number that names a place: ``text`` as written, the rest normalised."""

    text: str
    kind: str
    number: tuple[str, ...]

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


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """A reference in running text, with its place."""

    label: Label
    start: int
    end: int


def roman_value(text: str) -> int | None:
    """Return the value of a well-formed Roman numeral, or None."""
    total = 0
    for here, after in zip(text.lower(), [*text.lower()[1:], ""], strict=True):
        value = _ROMAN_VALUES.get(here)
        if value is None:
            return None
        total += -value if _ROMAN_VALUES.get(after, 0) > value else value
    return total if roman_numeral(total) == text.lower() else None


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


def _normalise_number(number: str) -> tuple[str, ...]:
    """Split a number at its dots and hyphens; a leading Roman numeral becomes decimal.

    A single C, D, L or M is more often a letter (Appendix C) than a hundred, and stays one.
    """
    lower = number.lower()
    value = roman_value(lower) if lower.isalpha() and (len(lower) > 1 or lower in "ivx") else None
    if value is not None:
        return (str(value),)
    return tuple(part.lstrip("0") or "0" for part in re.split(r"[.\-‑–()]", lower) if part)


def _normalise_parts(parts: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PART.findall(_CONNECTOR_WORDS.sub(" ", parts)))


def _kind(match: re.Match[str]) -> str:
    word = match.groupdict().get("word")
    if not word:
        return "section"
    return _CANONICAL[word.casefold()]


def _label(match: re.Match[str], kind: str, text: str) -> Label:
    return Label(text.strip(), kind, (*_normalise_number(match["number"]), *_normalise_parts(match["parts"])))


def parse_heading(heading: str) -> tuple[Label | None, str]:
    """Split a heading into its printed label and its title.

    >>> label, title = parse_heading("Article 6 Lawfulness of processing")
    >>> label.text, label.section_id, title
    ('Article 6', 'sec_6', 'Lawfulness of processing')
    """
    match = _HEADING_KIND.match(heading)
    if match and _plausible_kind_heading(match, heading):
        return _label(match, _kind(match), match["label"]), heading[match.end() :].strip()
    match = _HEADING_BARE.match(heading)
    if match and _plausible_bare_heading(match, heading):
        return _label(match, "", match["label"]), heading[match.end() :].strip()
    match = _HEADING_LETTER.match(heading)
    if match:
        number = _normalise_number(match["number"])
        return Label(match["label"], "", number), heading[match.end() :].strip()
    return None, heading.strip()


def _plausible_kind_heading(match: re.Match[str], heading: str) -> bool:
    """Keep ``Part of the work`` and ``Title a ship`` from reading as Part O and Title A."""
    rest = heading[match.end() :]
    if match["number"][0].isdigit() or not rest:
        return True
    if match["number"].isupper():
        # `Part I think` is prose; a label stands before punctuation or a capital.
        return not rest[0].islower() or bool(re.search(r"[.:—–-]", match["after"]))
    return bool(re.search(r"[.:—–-]", match["after"])) and roman_value(match["number"]) is not None


def _plausible_bare_heading(match: re.Match[str], heading: str) -> bool:
    """Tell ``4 Payment`` and ``4.2 payment`` from ``2021 results`` and ``10 things to know``."""
    number, rest = match["number"], heading[match.end() :]
    if "." in number or match["parts"] or match["after"][:1] in ".)":
        return bool(rest) or "." in number or bool(match["parts"])
    if "-" in number and not rest:
        return True
    is_year = len(number) == 4 and number[:2] in {"18", "19", "20", "21"}
    return not is_year and len(number) <= 3 and bool(rest) and (rest[0].isupper() or not rest[0].isascii())


def find_labels(text: str) -> list[FoundLabel]:
    """Return the references in a text, in order, without overlaps.

    >>> [found.label.section_id for found in find_labels("see Art. 6 (1) f and FAR 32.706-2")]
    ['sec_6_1_f', 'sec_32_706_2']
    """
    found = [
        FoundLabel(_label(match, _kind(match), match.group()), match.start(), match.end())
        for match in _REFERENCE.finditer(text)
        if _plausible_reference(match)
    ]
    for match in _BARE.finditer(text):
        if all(match.end() <= other.start or match.start() >= other.end for other in found):
            found.append(FoundLabel(_label(match, "", match.group()), match.start(), match.end()))
    return sorted(found, key=lambda item: item.start)


def _plausible_reference(match: re.Match[str]) -> bool:
    """A kind and a lone small letter is a reference only where letters number things: ``Appendix b``."""
    number = match["number"]
    if number[0].isdigit():
        return True
    if not match["word"]:
        return False
    kind = _kind(match)
    if kind in LEAF_KINDS:
        # Articles may carry capital Roman numerals; `section i` and `item c` in prose mean nothing.
        return number.isupper() and roman_value(number) is not None
    if number.isupper() or (len(number) > 1 and roman_value(number) is not None):
        return True
    ends_text = not match.string[match.end() :].strip()
    return ends_text and (number in "ivx" or kind in {"appendix", "annex", "schedule", "exhibit"})


def parse_whole(text: str) -> Label | None:
    """Read a text that is nothing but a number (``403``, ``(a)``) as a label."""
    match = _WHOLE.fullmatch(text)
    return _label(match, "", match.group()) if match else None


def slug(text: str, limit: int = 60) -> str:
    """Make an id of words: ``Payment Terms`` becomes ``payment_terms``."""
    words = re.findall(r"\w+", text.casefold())
    return "_".join(words)[:limit].strip("_")
