"""Numbered and labelled lines: `Article 5`, `CHAPTER IV`, `SEC. 203.`, `§ 4.2`, `4.2.1 Title`, `Appendix A`."""

from __future__ import annotations

import re
from typing import NamedTuple

# Outermost first: where both occur, a Part holds Chapters and a Chapter holds Articles.
_RANKS = {
    "book": 0, "volume": 0, "title": 1, "part": 2, "annex": 2, "appendix": 2, "schedule": 2, "exhibit": 2,
    "attachment": 2, "division": 3, "subtitle": 3, "chapter": 4, "subchapter": 5, "subpart": 5, "article": 6,
    "section": 7, "sec": 7, "§": 7, "rule": 7, "clause": 7, "regulation": 7, "subsection": 8,
}  # fmt: skip
_WORDS = "|".join(sorted((w for w in _RANKS if w != "§"), key=len, reverse=True))
_NUMBER = r"(?:\d+[A-Za-z]?(?:[.\-–]\d+[A-Za-z]?)*|[IVXLCDM]+|[A-Z])"
_LABEL = re.compile(
    rf"(?P<word>{_WORDS}|§{{1,2}})\.?\s*(?P<number>{_NUMBER}|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?P<end>(?=[^\w])|$)",
    re.I,
)
_DECIMAL = re.compile(r"(?P<number>(?:\d{1,3}|[A-Z])(?:\s?\.\s?\d{1,4}){1,5}(?:-\d{1,3}){0,3})\s?\.?(?=\s|$)")
_SIMPLE = re.compile(r"(?P<number>\d{1,3}|[IVX]{1,6}|[A-Z])\s?[.)]\s+(?=\S)")
_BARE = re.compile(r"(?P<number>\d{1,2})\s+(?=[A-Z][a-z]|[A-Z]{2})")
_WORDED = re.compile(
    r"(?P<word>(?!(?:This|The|See|In|Under|Of|And|Or|From|To|Per)\b)[A-Z][A-Za-z]{1,14}(?: [A-Z][A-Za-z]{1,14})?)\s+"
    r"(?P<number>(?:\d{1,3}|[A-Z])(?:\s?\.\s?\d{1,3}){1,5})\s?[.:]?(?=\s|$)"
)
_CAPTION = re.compile(
    r"(?:table|figure|fig|exhibit|chart|graph|box|map|photo|plate|equation|listing|image|illustration)s?\.?\s*"
    r"(?:[A-Z]{0,2}[\d]+|[IVX]+\b|[A-Z]\b)",
    re.I,
)


class Label(NamedTuple):
    """A label at the start of a line. ``rank`` orders kinds, ``depth`` counts the parts of its number."""

    kind: str
    number: str
    depth: int
    rank: int
    length: int
    """How many characters of the line it takes."""


def find_label(text: str) -> Label | None:
    """The label that a line starts with."""
    if text[:1].islower():
        return None
    match = _LABEL.match(text)
    if match:
        word = match["word"].lower().rstrip(".")
        number = match["number"]
        if len(number) == 1 and number.islower():
            return None
        kind = "§" if word.startswith("§") else word
        return Label(
            "section" if kind in ("sec", "§") else kind, number, _depth(number), _RANKS[kind], match.end()
        )
    match = _DECIMAL.match(text)
    if match:
        return _numbered("#", match["number"], match.end())
    match = _WORDED.match(text)
    if match:
        return _numbered(match["word"].lower(), match["number"], match.end())
    match = _SIMPLE.match(text) or _BARE.match(text)
    if match:
        return _numbered("#", match["number"], match.end())
    return None


def _numbered(kind: str, number: str, end: int) -> Label:
    number = re.sub(r"\s", "", number)
    return Label(kind, number, _depth(number), 9, end)


def _depth(number: str) -> int:
    return 1 + len(re.findall(r"[.\-–]\d", number))


def is_strong(label: Label | None) -> bool:
    """Whether a label makes a heading in any type: a word of the law and a number."""
    return label is not None and label.rank < 9


def is_caption(text: str) -> bool:
    """Whether a line captions a table or figure."""
    return bool(_CAPTION.match(text))


_LIST = re.compile(
    r"[•●○◦▪■□▫–—‣⁃∙·➢➤►✓✔❖\uf0b7\uf0a7\uf0d8-]\s+\S|o\s+[A-Z\d\"“]|"
    r"\((?:[a-z]{1,3}|[A-Z]|\d{1,3}|[ivx]{1,6})\)\s?|(?:\d{1,3}|[a-z]|[ivx]{2,5})[.)]\s+\S|"
    r"\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+\S|\[\^\w+\]\s"
)


def starts_item(text: str) -> bool:
    """Whether a line starts a list item or a lettered or numbered clause."""
    return bool(_LIST.match(text))
