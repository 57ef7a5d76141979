"""Named references: ``see Payment Terms``, ``pursuant to the Force Majeure clause``, matched against the headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinakes.ingest.references.places import Places, inside
from pinakes.ingest.references.words import S1
from pinakes.labels.kinds import CONTAINERS
from pinakes.model import Place
from pinakes.text.keys import title_key

_PLACED = (
    rf"(?:defined|described|set{S1}(?:out|forth)|specified|provided|stated|explained|listed|given|contained)"
)
# Words that send the reader to another place, and words that may also stand before a defined term.
_SEE = rf"see(?:{S1}also)?|refer(?:red)?{S1}to|{_PLACED}{S1}(?:for{S1})?(?:in|under|by)|siehe|vgl\.|voir|cf\."
_UNDER = rf"pursuant{S1}to|in{S1}accordance{S1}with|subject{S1}to|according{S1}to|under|gemäß|nach|selon"
_INTRO = re.compile(rf"\b(?:(?P<see>{_SEE})|{_UNDER}){S1}")
_LEAD = re.compile(
    rf"(?P<the>the{S1})?(?P<part>(?:section|clause|chapter|part|heading|article){S1}(?:(?:called|entitled|titled|headed|named|on){S1})?)?"
)
_QUOTED = re.compile(r"[\"“„«‘'*_]{1,3}(?P<name>[^\"”“»’*_\n]{2,120})[\"”“»’*_]{1,3}")
_WORD = re.compile(r"[\w'’&/-]+")
_BREAK = re.compile(r"[.;:()!?\[\]\"“”|]|\n\s*\n")
_ABOVE = re.compile(
    rf",?{S1}(?:above|below|oben|unten|ci-dessus|ci-dessous)\b|{S1}(?:clause|section|article|chapter)\b"
)
_PART_WORD = re.compile(r"\b(?:clause|section|provision|article|chapter|paragraph|schedule|annex|appendix)\b")
_ENDS = re.compile(r"[\"”’*_]{0,3}(?:[.,;:)]|\s*$|\s+(?:for|below|above|at)\b)")
# The title that a text gives with a number: `Section 4 (Payment & Taxes)`.
_IN_BRACKETS = re.compile(r"[*_]{0,3}\s?\(\s?(?P<title>[^\W\d_a-z][^()\n]{2,90}?)\s?\)[*_]{0,3}")
_SMALL_PARTS = frozenset({"clause", "provision", "article", "paragraph"})
_LONGEST = 14


@dataclass(frozen=True, slots=True)
class Named:
    """A heading named in running text."""

    section: Place
    start: int
    end: int
    sure: float = 0.9


class Titles:
    """The titles of a document's sections, by their words."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._sections: dict[str, list[Place]] = {}
        self._first: set[str] = set()
        for section in places.headings:
            key = title_key(section.title)
            # A document's own name is no place in it, and a word of two letters is none either.
            if len(key) > 2 and not key.isdecimal() and section.ordinal > 0:
                self._sections.setdefault(key, []).append(section)
                self._first.add(key.split(" ", 1)[0])

    def find(self, name: str, near: int, word: str = "") -> Place | None:
        """The section of a title; of several, the only one under the headings around ``near``.

        ``word`` is what the text calls it: a *clause* is no chapter.
        """
        found = self._sections.get(title_key(name), [])
        if word in _SMALL_PARTS:
            found = [section for section in found if section.kind not in CONTAINERS]
        if len(found) < 2:
            return found[0] if found else None
        for place in self._places.around(near):
            close = [item for item in inside(found, place) if item is not place]
            if len(close) == 1:
                return close[0]
        return None

    def named(self, text: str, low: str, start: int) -> Iterator[Named]:
        """Yield the headings that a text names, in no particular order; ``low`` is the text in small letters."""
        if not self._sections:
            return
        for intro in _INTRO.finditer(low, start):
            found = self._after(text, intro.end(), bool(intro["see"]))
            if found is not None:
                yield found
        for word in _PART_WORD.finditer(text, start):
            found = self._before(text, word.start(), word.end())
            if found is not None:
                yield found

    def _after(self, text: str, at: int, see: bool) -> Named | None:
        lead = _LEAD.match(text, at)
        begin = lead.end() if lead else at
        quoted = _QUOTED.match(text, begin)
        if quoted:
            section = self.find(quoted["name"], at)
            return Named(section, begin, quoted.end()) if section else None
        if not text[begin : begin + 1].isupper():
            return None
        words = self._words(text, begin)
        if not words or title_key(words[0].group()).split(" ", 1)[0] not in self._first:
            return None
        for count in range(len(words), 0, -1):
            end = words[count - 1].end()
            section = self.find(text[begin:end], at)
            if section is None:
                continue
            goes_on = count < len(words) and words[count].group()[0].isupper()
            dotted = text[end : end + 1] == "." and text[end + 1 : end + 2].isalnum()
            if goes_on or dotted:
                return None
            if not _ABOVE.match(text, end):
                # `refer to the API server` is prose; `see the Payment Terms` is not.
                plain = lead is not None and lead["the"] and not lead["part"]
                capital = _all_capital(words[:count])
                alone = count == 1 and bool(_ENDS.match(text, end))
                if (plain and not capital and not alone) or (not see and not capital):
                    return None
                if not see:
                    # `pursuant to the Purchase Price` may mean the term rather than its clause.
                    return Named(section, begin, end, 0.6)
            return Named(section, begin, end)
        return None

    def _words(self, text: str, begin: int) -> list[re.Match[str]]:
        stop = _BREAK.search(text, begin, begin + 200)
        end = stop.start() if stop else begin + 200
        return list(_WORD.finditer(text, begin, end))[:_LONGEST]

    def _before(self, text: str, at: int, end: int) -> Named | None:
        """A name in capitals right before *clause* or *section*: the longest that is a heading."""
        low = max(0, at - 120)
        words = list(_WORD.finditer(text[low:at]))[-_LONGEST:]
        if (
            not words
            or not words[-1].group()[0].isupper()
            or text[low + words[-1].end() : at].strip(' \n"”’*_')
        ):
            return None
        for index, word in enumerate(words):
            if not word.group()[0].isupper():
                continue
            start = low + word.start()
            name = text[start : low + words[-1].end()]
            before = words[index - 1].group() if index else ""
            if before[:1].isupper() and before.lower() not in ("the", "see"):
                continue
            section = self.find(name, at, text[at:end])
            if section is not None and not _BREAK.search(name):
                quoted = start > 0 and text[start - 1] in '"“„«‘'
                return Named(section, start - quoted, end)
        return None


def title_in_brackets(text: str, at: int) -> re.Match[str] | None:
    """The title in brackets right after a number, if that is what the bracket holds.

    >>> title_in_brackets("Section 4 (Payment & Taxes) applies", 9)["title"]
    'Payment & Taxes'
    """
    match = _IN_BRACKETS.match(text, at)
    if match is None:
        return None
    words = [word.group() for word in _WORD.finditer(match["title"])]
    capital = words and all(word[0].isupper() or len(word) < 4 or "&" in word for word in words)
    return match if capital and not words[0].isupper() and '"' not in match["title"] else None


def titles_agree(said: str, printed: str) -> bool:
    """Whether a title in brackets can be that of a place: most words of the shorter stand in the longer."""
    one, other = set(title_key(said).split()), set(title_key(printed).split())
    small, large = sorted((one, other), key=len)
    return bool(small) and 2 * len(small & large) > len(small)


def _all_capital(words: Sequence[re.Match[str]]) -> bool:
    return len(words) > 1 and all(word.group()[0].isupper() or len(word.group()) < 4 for word in words)
