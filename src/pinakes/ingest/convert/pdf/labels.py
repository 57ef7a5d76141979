"""Numbered and labelled lines: `Article 5`, `CHAPTER IV`, `SEC. 203.`, `§ 4.2`, `4.2.1 Title`, `Appendix A`."""

from __future__ import annotations

import re
from typing import NamedTuple

from pinakes.labels.kinds import CONTAINERS, LEAF_KINDS, depth, rank
from pinakes.labels.lexicon import load, lowered, one_of

# Full words of what stands on its own: a short form, or a paragraph, may begin any line.
_KINDS = {
    word: form.kind
    for word, form in load().forms.items()
    if (form.kind in CONTAINERS or (form.kind in LEAF_KINDS and depth(form.kind) < 2))
    and (word == "sec" or (not form.stop and (len(word) > 3 or not word.isascii())))
    and not (form.plural or form.only_text)
} | {"subsection": "subsection"}
_WORDS = one_of(word for word in _KINDS if word[0] != "§")
# A number without a word comes after all kinds.
_BARE_RANK = rank("")
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
        word = " ".join(lowered(match["word"]).split())
        number = match["number"]
        if len(number) == 1 and number.islower():
            return None
        kind = "section" if word[0] == "§" else _KINDS[word]
        return Label(kind, number, _depth(number), rank(kind), match.end())
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
    return Label(kind, number, _depth(number), _BARE_RANK, end)


def _depth(number: str) -> int:
    return 1 + len(re.findall(r"[.\-–]\d", number))


def is_strong(label: Label | None) -> bool:
    """Whether a label makes a heading in any type: a word of the law and a number."""
    return label is not None and label.rank < _BARE_RANK


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
