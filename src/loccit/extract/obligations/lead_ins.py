"""Lead-ins: the sentence that a list continues, *The CA MUST revoke it within 5 days if:*, and the items below it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from loccit.extract.obligations.amounts import Found as FoundAmount
from loccit.extract.obligations.deadlines import Found as FoundDeadline
from loccit.extract.obligations.duties import Duty
from loccit.model import Place

Stated = tuple[str, Duty | None, list[FoundDeadline], list[FoundAmount], tuple[str, ...]]
"""A row of a sentence: kind, verb, deadlines, amounts and gaps."""

_ITEM = re.compile(
    r"[ \t]*(?:[-*+•–—][ \t]|(?:\*\*)?\(?(?:\d{1,3}|[ivxlcIVXLC]{1,6}|[A-Za-z])[.)](?:\*\*)?[ \t])"
)
_SUBJECT = re.compile(
    r"(?:The|Each|Every|Any|An?)\s+[\w’'-]+(?:\s+[\w’'-]+){0,3}\s*(?:shall|must|may)?\s*[:—–]$"
)
_VERB = re.compile(r"\s*(?:shall|must|may)?\s*[:—–]$")
_MOST_WORDS = 500
_DEEPEST = 6
# A place begins with its mark, and its sentence no further behind.
_NEAR = 12


class LeadIn(NamedTuple):
    """A sentence that leads to a list: the place it is in, its indentation and its last row."""

    start: int
    place: int
    indent: int
    words: str
    stated: Stated
    subject: str


class LeadIns:
    """The lead-ins around the sentences of a text, which are read in order."""

    def __init__(self, text: str, places: Mapping[int, Place]) -> None:
        self._text, self._places = text, places
        self._open: list[LeadIn] = []

    def add(self, start: int, place: Place | None, stated: list[Stated], words: str) -> None:
        """Note a sentence that ends with a colon."""
        subject = _VERB.sub("", words) if _SUBJECT.fullmatch(words) else ""
        last = stated[-1] if stated else ("", None, [], [], ())
        if (last[1] is not None or subject) and len(self._open) < _DEEPEST:
            ordinal = place.ordinal if place else 0
            self._open.append(LeadIn(start, ordinal, self._indent(start), words[:_MOST_WORDS], last, subject))

    def of(self, start: int, place: Place | None) -> LeadIn | None:
        """The lead-in of the sentence at ``start``, if that begins an item of its list."""
        line = self._text.rfind("\n", 0, start) + 1
        item = _ITEM.match(self._text, line) is not None
        own = place is not None and abs(place.start - start) < _NEAR
        begins = own or not self._text[line:start].strip(" \t*_#>-+•–—()")
        while self._open:
            lead = self._open[-1]
            beside = place is not None and place.ordinal == lead.place and item
            if self._is_below(place, lead.place) or (beside and self._indent(start) >= lead.indent):
                return lead if begins and (item or own) else None
            if not begins:
                return None
            self._open.pop()
        return None

    def _is_below(self, place: Place | None, holder: int) -> bool:
        """Whether a place is a numbered part of another; a heading begins something new."""
        while place is not None and not place.is_heading and place.parent is not None:
            if place.parent == holder:
                return True
            place = self._places.get(place.parent)
        return False

    def _indent(self, start: int) -> int:
        line = self._text.rfind("\n", 0, start) + 1
        return len(self._text[line:start]) - len(self._text[line:start].lstrip())
