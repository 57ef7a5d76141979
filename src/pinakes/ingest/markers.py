"""Markers: how clauses are numbered, and what number a marker may stand for.

``(i)`` is the ninth letter or the first Roman numeral; which one it is depends on its neighbours. A marker has
therefore several readings, and :class:`Sequence` picks the one that continues what came before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pinakes.labels import roman_value

_INNER = r"(?:\d{1,3}[a-z]?|[a-z]{1,2}|[A-Z]{1,2}|[ivxlc]{2,7}|[IVXLC]{2,7})"
_EMPHASIS = r"[*_]{0,3}"
_PAREN = rf"{_EMPHASIS}\({_EMPHASIS}{_INNER}{_EMPHASIS}\){_EMPHASIS}"
_DOTTED = r"\d{1,4}(?:[.‑-]\d{1,4})+\.?"
_PLAIN = r"(?:\d{1,3}[.)]|[a-zA-Z][.)]|[ivxIVX]{2,5}[.)])"
MARKED_LINE = re.compile(
    rf"(?P<lead>[ \t>]*(?:[-*•]\s+)?)"
    rf"(?P<markers>{_EMPHASIS}(?:{_DOTTED}|{_PLAIN}){_EMPHASIS}(?:\s?{_PAREN})*|{_PAREN}(?:\s?{_PAREN})*)"
    r"(?:\s+(?=\S)|\s*$|(?=[^\s\w.,;:)(]))"
)
_ONE = re.compile(rf"{_PAREN}|{_EMPHASIS}(?:{_DOTTED}|{_PLAIN}){_EMPHASIS}")


_LOOK_AHEAD = 100
# From (c) no list goes on with (v) or (aa), which are other numbers too, though clauses between may have been repealed.
_GAP = 6
_ALPHABET = 26
# Nobody numbers deeper; what seems to is a list that begins anew.
_DEEPEST = 8


class Reading(NamedTuple):
    """One way to read a marker: its style, such as ``(a)`` or ``1.``, and its place in the sequence."""

    style: str
    value: int


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker as written, without emphasis, and what it may mean."""

    text: str
    token: str
    readings: tuple[Reading, ...]
    offset: int = 0

    @property
    def dotted(self) -> tuple[str, ...]:
        """The parts of a decimal marker (``4.2.1``), empty for any other."""
        return (
            tuple(re.split(r"[.‑-]", self.token)) if self.readings and self.readings[0].style == "1.1" else ()
        )

    @property
    def bare(self) -> bool:
        """Whether it is a plain ``1.`` or ``a)``, which also numbers the steps of a manual."""
        return not self.text.startswith("(") and not self.dotted


def read_markers(text: str) -> list[Marker]:
    """Split ``(b)(2)`` into its markers."""
    found = []
    for match in _ONE.finditer(text):
        plain = re.sub(r"[*_]", "", match.group())
        token = plain.strip("().")
        found.append(Marker(plain, token, _readings(plain, token), match.start()))
    return found


def _readings(plain: str, token: str) -> tuple[Reading, ...]:
    shape = "(%s)" if plain.startswith("(") else "%s)" if plain.endswith(")") else "%s."
    if re.search(r"[.‑-]", token):
        return (Reading("1.1", int(re.split(r"[.‑-]", token)[-1])),)
    digits = re.fullmatch(r"(\d+)([a-z]?)", token)
    if digits:
        return (Reading(shape % "1", int(digits[1])),)
    case = "a" if token.islower() else "A"
    readings = []
    if len(set(token.lower())) == 1:
        # After z come aa, bb, cc; they are also a list of their own, below (I), (II).
        value = ord(token[0].lower()) - 96
        readings.append(Reading(shape % case, value + _ALPHABET * (len(token) - 1)))
        if len(token) > 1:
            readings.append(Reading(shape % (case * len(token)), value))
    roman = roman_value(token)
    if roman is not None and roman < 60:
        readings.append(Reading(shape % ("i" if case == "a" else "I"), roman))
    return tuple(readings)


@dataclass(slots=True)
class _Level:
    style: str
    value: int
    node: int


@dataclass(slots=True)
class Sequence:
    """The open levels of numbering below one heading.

    ``interrupted``: words without a marker came since the last clause, so a list may begin anew.
    """

    levels: list[_Level] = field(default_factory=list)
    interrupted: bool = False

    def place(self, marker: Marker, following: Iterable[Marker], node: int) -> int | None:
        """Return the depth (0 at the top) at which a marker belongs, and open it; None when it fits nowhere."""
        later = list(islice(following, _LOOK_AHEAD))
        choice = self._continuing(marker, later) or self._opening(marker, later) or self._skipping(marker)
        if choice is None:
            return None
        depth, reading = choice
        self.interrupted = False
        del self.levels[depth:]
        self.levels.append(_Level(reading.style, reading.value, node))
        return depth

    def parent(self) -> int | None:
        """Return the node one level above the one that was opened last."""
        return self.levels[-2].node if len(self.levels) > 1 else None

    def _continuing(self, marker: Marker, following: Iterable[Marker]) -> tuple[int, Reading] | None:
        for depth in reversed(range(len(self.levels))):
            level = self.levels[depth]
            for reading in marker.readings:
                if reading == (level.style, level.value + 1) and not self._rather_opens(
                    marker, depth, following
                ):
                    return depth, reading
        return None

    def _rather_opens(self, marker: Marker, depth: int, following: Iterable[Marker]) -> bool:
        """Tell `(h), (i), (j)` from `(h), (i), (ii)`: whichever of `(j)` and `(ii)` comes first decides."""
        first = next((r for r in marker.readings if r.value == 1), None)
        if first is None or any(level.style == first.style for level in self.levels):
            return False
        letter = Reading(self.levels[depth].style, self.levels[depth].value + 2)
        for later in following:
            if letter in later.readings or first in later.readings:
                # The next letter, or a list of Roman numerals that begins only later.
                return False
            if (first.style, 2) in later.readings:
                return True
        # Nothing follows. A list of one is rarer than a list in a list: `(h)(1)(i)`.
        return depth < len(self.levels) - 1 and self.levels[-1].value == 1

    def _opening(self, marker: Marker, following: Iterable[Marker]) -> tuple[int, Reading] | None:
        if len(self.levels) >= _DEEPEST:
            return None
        styles = [level.style for level in self.levels]
        if self.interrupted:
            for reading in marker.readings:
                if reading.value == 1:
                    return (
                        styles.index(reading.style)
                        if reading.style in styles
                        else self._resumed(reading.style, following)
                    ), reading
        for reading in sorted(marker.readings, key=lambda r: "i" in r.style.lower()):
            if reading.value == 1 and (not styles or styles[-1] != reading.style):
                return len(self.levels), reading
        first = next((reading for reading in marker.readings if reading.value == 1), None)
        if first is not None:
            # The same list begins again: a new run on the same level.
            return len(self.levels) - 1, first
        return None

    def _resumed(self, style: str, following: Iterable[Marker]) -> int:
        """The depth of a list after words without a marker: below the level that goes on after it, else the first."""
        for later in following:
            if any(reading.style == style for reading in later.readings):
                continue
            for depth in reversed(range(len(self.levels))):
                level = self.levels[depth]
                if (level.style, level.value + 1) in later.readings:
                    return depth + 1
        return min(1, len(self.levels))

    def _skipping(self, marker: Marker) -> tuple[int, Reading] | None:
        """Accept gaps, which repealed clauses leave, and a list whose first clauses are not there."""
        for depth in reversed(range(len(self.levels))):
            for reading in marker.readings:
                level = self.levels[depth]
                if reading.style != level.style or reading.value < level.value:
                    continue
                if len(marker.readings) == 1 or reading.value - level.value < _GAP:
                    return depth, reading
        if not self.levels and marker.readings and not marker.bare:
            return 0, marker.readings[0]
        return None
