"""Mentions: what the text of a document says about its own numbers, and what it calls them.

`Section 4 (Payment & Taxes)`, `see 6.2` and `Article III, "Remedies"` say which numbers there are and how they are
called. `Section 409A of the Code` says nothing about the document it stands in. All of it is read in one pass that
looks for numbers and then at the word before each: numbers are few, words are many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from pinakes.ingest.places.chain import Number, number_key
from pinakes.ingest.places.titles import is_name
from pinakes.labels import normalise_number
from pinakes.labels.lexicon import load, lowered
from pinakes.text.keys import title_key

_NUMBER = re.compile(
    r"[\s§(](?P<number>\d{1,3}(?:\.\d{1,3}){0,5}|[IVXLC]{1,7})(?![\w‑–-]|\.\d|,\d{3}|\s?%)"
    r"(?P<parts>(?:\s?\([0-9A-Za-z]{1,4}\)){0,4})"
)
_WORD = re.compile(r"(?P<word>§|[^\W\d_]+)\.?\s?\Z")
_BEFORE = 24
_JOINED = re.compile(r"\s{0,2},?\s{0,2}(?:(?:and|or|to|through|und|oder|bis|et|y|e|o)\s)?\s{0,2}")
_TITLED = re.compile(
    r"\s{0,2}(?:\((?P<bracketed>[^()]{3,90})\)|(?:,\s{1,2})?(?:(?:entitled|titled|captioned|headed)\s{1,2})?[“\"‘](?P<quoted>[^“”\"‘]{3,90})[”\"’])"
)
# `of the Code`, `under the Exchange Act`, `des Gesetzes`: what follows is numbered by somebody else.
_LAWS = (
    r"(?:Act|Acts|Code|Law|Laws|Statutes?|Rules?|Regulations?|Directive|Constitution|Treaty|Convention|Ordinance|Decree|ERISA"
    r"|Gesetz\w*|Verordnung|Richtlinie|Ley|Código|Loi|Règlement|Legge|Wet)\b"
)
_OF_ANOTHER = re.compile(
    rf"[\s,]{{1,3}}(?:(?:of|under|in|to|from)\s{{1,3}}(?:(?:the|that|such|said|any)\s{{1,3}})?(?:\d{{4}}\s|[\w.&'’-]{{1,20}}\s{{1,2}}){{0,4}}?{_LAWS}"
    r"|(?:of\s{1,3}(?:the\s{1,3})?)?(?:Title\s\d|[A-Z][a-z]{0,5}[A-Z]{1,6}\b|[A-Z]{3,6}\b(?!\s[A-Z])))"
)
_OWN = re.compile(
    r"[\s,]{1,3}(?:of|to|in|under)\s{1,3}(?:this|these)\b|\s{1,3}(?:hereof|above|below|hereto)\b"
)
_LAW_BEFORE = re.compile(
    rf"(?:{_LAWS}\.?|[A-Z]\.\s?[A-Z]\.(?:\s?[A-Z]\.)?|[A-Z]{{3,6}}|Reg\.|Regs\.|Stat\.)\s{{0,2}}\Z"
)
# What carries numbers of its own, and what is measured: `Table 4.2`, `version 2.1`.
_NO_PLACES = frozenset(
    "version release table tables figure figures fig eq page pages item exhibit about approximately least".split()
)


@cache
def _spoken() -> dict[str, str]:
    """The kind that each word means which stands before a number."""
    return {
        "§": "section",
        **{word: form.kind for word, form in load().forms.items() if not form.only_heading},
    }


@dataclass(slots=True)
class Mentions:
    """The numbers that a document speaks of, by kind (a bare `6.2` is of none), and the titles it gives with them."""

    numbers: set[tuple[str, Number]] = field(default_factory=set)
    titles: dict[tuple[str, Number], str] = field(default_factory=dict)
    others: set[Number] = field(default_factory=set)
    """Numbers that are only spoken of as those of other instruments."""

    def has(self, kind: str, number: Number) -> bool:
        """Whether a number is spoken of; for a number without a kind any word will do that means a section."""
        return (kind, number) in self.numbers or (
            kind in _PLAIN and any((k, number) in self.numbers for k in _PLAIN)
        )

    def title(self, kind: str, number: Number) -> str:
        """What a number is called, as a key to compare with, or nothing."""
        kinds = _PLAIN if kind in _PLAIN else (kind,)
        return next((self.titles[k, number] for k in kinds if (k, number) in self.titles), "")


_PLAIN = ("", "section", "clause", "paragraph")


@dataclass(slots=True)
class _Named:
    kind: str
    number: Number
    start: int
    end: int
    title: str


def read_mentions(text: str) -> Mentions:
    """Read what a text says about its own numbers."""
    mentions = Mentions()
    for group in _groups(text):
        last = group[-1]
        if _OF_ANOTHER.match(text, last.end) and not _OWN.match(text, last.end):
            mentions.others.update(named.number for named in group)
            continue
        for named in group:
            mentions.numbers.add((named.kind, named.number))
            if named.title:
                mentions.titles.setdefault((named.kind, named.number), named.title)
    mentions.others -= {number for _, number in mentions.numbers}
    return mentions


def _groups(text: str) -> Iterator[list[_Named]]:
    """Numbers that are named together: `Sections 4, 5 and 6 of the Plan` are one group."""
    group: list[_Named] = []
    for match in _NUMBER.finditer(text):
        if group and match.start("number") - group[-1].end < 8:
            between = _JOINED.fullmatch(text, group[-1].end, match.start("number"))
        else:
            between = None
        kind = group[0].kind if between and group else _kind_before(text, match)
        if kind is None:
            continue
        if not between and group:
            yield group
            group = []
        title = _TITLED.match(text, match.end())
        words = (title["bracketed"] or title["quoted"]).strip(" \n“”\"'.,") if title else ""
        named = is_name(" ".join(words.split()))
        number = number_key(normalise_number(match["number"]))
        end = title.end() if title and named else match.end()
        group.append(_Named(kind, number, match.start("number"), end, title_key(words) if named else ""))
    if group:
        yield group


def _kind_before(text: str, match: re.Match[str]) -> str | None:
    """The kind that the word before a number says; `None` for a number that names no place of this document."""
    at = match.start() + (text[match.start()] == "§")
    before = _WORD.search(text, max(0, at - _BEFORE), at)
    if before is None or text[before.end("word") : match.start("number")].count("\n") > 1:
        return None
    word = lowered(before["word"])
    form = _spoken().get(word)
    if form is None:
        # A number at the start of a line is the place itself.
        inside = "." in match["number"] and "\n" not in text[before.end("word") : match.start("number")]
        return "" if inside and word not in _NO_PLACES and not before["word"][0].isupper() else None
    start = before.start()
    # A line that begins with a number is a place, or a reference that was broken there: it cannot speak for itself.
    line = text.rfind("\n", max(0, start - _BEFORE), start)
    if (line >= 0 or start < _BEFORE) and not text[line + 1 : start].strip(" \t#*_>"):
        return None
    return None if _LAW_BEFORE.search(text, max(0, start - _BEFORE), start) else form
