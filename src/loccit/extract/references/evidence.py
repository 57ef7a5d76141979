"""Evidence: how sure it is that a number in the text means the place of this document that has it.

Whatever is numbered here is numbered in other acts too. So what counts is what the document itself shows: whether it
prints that kind of place, whether the other mentions of the kind are found here, and whether the sentence speaks of
another act or amends one. The weights are fitted on references that were read (``benchmarks.reference_calibration``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter, mul

from loccit.model import Place

LEAST = 0.5
"""Below this, a reference leads nowhere and says why."""

# A kind that the document never prints: too little, unless nearly all its mentions are found here.
_VAGUE, _NEARLY_ALL = 0.3, 0.9
# Words that change another act; of such sentences a number is mostly one of that act.
_AMENDS = re.compile(
    r"(?<!\bas )\b(?:amended|inserted|substituted|repealed|replaced|deleted"
    r"|modifié\w*|remplacé\w*|abrogé\w*|inséré\w*|supprimé\w*|complété\w*|rédigé\w*"
    r"|geändert(?!\s+worden)|ersetzt|eingefügt|aufgehoben|gestrichen|gewijzigd|vervangen|vervalt|ingevoegd|gelezen|modific(?:a|ă|an|ase|at[aăo]?|ad[oa]s?)|înlocuie\w+"
    r"|va avea|se introduc\w*|se completează|abrog\w+|sustitu\w+"
    r"|derog(?:a|an|ase|ad[oa]s?)|suprim\w+|añad\w+|sostituit\w+|ændres|endres|ändras|zmieni\w*|uchyla|brzmienie|mění|nahrazuj\w*|vypoušt\w*|zrušuj\w*|doplňuj\w*"
    r"|vkl[aá]dá|vypúšťa\w*|nahrádza\w*|znie|dopĺňa|mení|připojuje|zní|αντικαθ\w+|τροποποι\w+|προστίθε\w+|καταργ\w+|измен\w+|заменя\w*|отменя\w*|исключ\w+|дополн\w+)\b"
)
# The end of a paragraph, or of a line that is none of a wrapped one.
_ENDS = re.compile(r"[^\w\s,]\n|\n\s*\n")
_AROUND = 160
_HEAD = 240


@dataclass(frozen=True, slots=True)
class Grounds:
    """What speaks for a place, each from 0 to 1."""

    here: float
    """It is *this section*, without a number."""
    said: float
    """The text says that it means this document, or this part of it."""
    relative: float
    bare: float
    """It is a number without a word."""
    printed: float
    """The document has places of that kind, in its own words."""
    called: float
    """The place is of the kind that the text calls it."""
    titled: float
    """The place is a heading with a title."""
    long: float
    """The number has several parts."""
    listed: float
    """The place is an item of a list or table with a number that many others have."""
    amends: float
    """The text around it amends another document."""
    amending: float
    """The share of the mentions of which that is true."""
    mixed: float
    """The same for a relative form, which then has no article to go by."""
    found: float
    """The share of the mentions of that kind, those of other documents left out, whose number is here."""
    others: float
    """The share of them that say that they belong to another document."""
    agrees: float
    """The title in brackets is that of the place."""
    quoted: float
    """It stands in what is quoted, mostly from elsewhere."""

    @property
    def sure(self) -> float:
        """The probability that this place is meant."""
        if self.here and not (self.called or self.titled):
            # *This section* in a numbered paragraph of a judgment, which quotes an act.
            return _VAGUE
        vague = not (self.said or self.relative or self.bare or self.called or self.titled or self.long)
        if vague and (self.found < _NEARLY_ALL or self.others > 1 - _NEARLY_ALL):
            # `Section 4` of a form, in notes with a fourth item.
            return _VAGUE
        total = WEIGHTS[0] + sum(map(mul, WEIGHTS[1:], _VALUES(self)))
        return round(1 / (1 + math.exp(-total)), 2)

    @property
    def doubt(self) -> str:
        """What speaks against the place, in words."""
        if self.amends:
            return "inferred: the text around amends another document, whose place it may be"
        if not self.printed and not self.relative:
            return "inferred: this document calls none of its places that"
        return "inferred: nothing says that a place of this document is meant"


_VALUES = attrgetter(*(field.name for field in fields(Grounds)))
WEIGHTS: tuple[float, ...] = (
    *(1.54, -1.17, -0.07, -2.0, 0.1, -0.4, 0.54, 0.15),
    *(-0.4, -1.82, -2.59, -3.25, -1.43, 2.2, -0.46, 0.35, -3.0),
)


_MARKS = re.compile('[“”„«»"]')
_PAIRS = {"“": "”", "„": "“”", "«": "»", '"': '"'}
_LONGEST_QUOTATION = 6000


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield what stands in quotation marks; each paragraph of a quotation may begin with one."""
    opened, depth, closing = 0, 0, ""
    for mark in _MARKS.finditer(text):
        at, sign = mark.start(), mark.group()
        if (
            at > opened + _LONGEST_QUOTATION
            or text.find("\n\n" if closing == '"' else "\n#", opened, at) >= 0
        ):
            depth, closing = 0, ""
        if closing and sign in closing:
            depth -= 1
            if not depth:
                yield opened, at
                closing = ""
        elif not closing and sign in _PAIRS:
            opened, depth, closing = mark.end(), 1, _PAIRS[sign]
        elif sign in _PAIRS and text[max(0, at - 3) : at].strip(" >*_") not in ("", "\n", "\n\n"):
            depth += 1


class Amendments:
    """Whether the text around a place amends another document; ``text`` is in small letters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._heads: dict[int, bool] = {}
        self._said: dict[int, bool] = {}

    def around(self, start: int, end: int, places: Sequence[Place]) -> bool:
        """Whether the sentence does, or what the places that it is in begin with."""
        if start not in self._said:
            self._said[start] = self._says(start, end)
        return self._said[start] or any(map(self._announces, places[:4]))

    def _says(self, start: int, end: int) -> bool:
        text = self._text
        begin = max(0, start - _AROUND)
        begin = max([begin, *(stop.end() for stop in _ENDS.finditer(text, begin, start))])
        stop = _ENDS.search(text, end, end + _AROUND)
        return _AMENDS.search(text, begin, stop.start() if stop else end + _AROUND) is not None

    def _announces(self, place: Place) -> bool:
        known = self._heads.get(place.ordinal)
        if known is None:
            head = self._text[place.body : min(place.end, place.body + _HEAD)].lstrip().partition("\n")[0]
            known = head.rstrip().endswith(":") and _AMENDS.search(head) is not None
            self._heads[place.ordinal] = known
        return known
