"""Markers: ``(a)``, ``1.``, ``4.2.1``, ``§ 2.`` at the beginnings of clauses, and the order that they are in.

``(i)`` is the ninth letter or the first Roman numeral, depending on its neighbours. A marker therefore has several
readings, and of all ways to read those of a section, each as the next of an open level, the first of one below, or
nothing, :func:`arrange` takes the one with the most that is in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from loccit.grammar.labels import roman_value
from loccit.grammar.labels.numbers import letter_value
from loccit.structure.places.chain import Part, is_first, nearness, number_key

_INNER = r"(?:\d{1,3}[a-zA-Z]{0,2}|[a-z]{1,2}|[A-Z]{1,2}|[α-ωа-я]|[ivxlc]{2,7}|[IVXLC]{2,7})"
EMPHASIS = r"[*_]{0,3}"
PAREN = rf"{EMPHASIS}\({EMPHASIS}{_INNER}{EMPHASIS}\){EMPHASIS}"
DOTTED = r"\d{1,4}(?:[.‑-]\d{1,4})+\.?"
PLAIN = r"(?:\d{1,3}[.)°º]|[^\W\d_][.)]|[ivxIVX]{2,5}[.)])"
WORDED = r"(?:§|[^\W\d_]{2,8}\.)\s?\d{1,3}(?:er|re)?[ºª°]?(?:\.|\b)(?![.\d-])"
_WORDED = re.compile(r"(?P<word>§|[^\W\d_]+\.)\s?(?P<number>\d+)")
_ONE = re.compile(rf"{PAREN}|{EMPHASIS}(?:{DOTTED}|{PLAIN}){EMPHASIS}")

_ALPHABET = 26
# Nobody numbers deeper; an apparent deeper level is a list that restarts.
_DEEPEST = 8
# What a reading adds to the order of a section: the next of an open level, the first below one, the first again.
_NEXT, _FIRST, _AGAIN = 1.0, 0.8, 0.1
# After text without a marker a list may begin anew, or below any level.
_ANEW, _RESUMED = 0.5, 0.6
# A list whose first members are missing, or stand within a line; and one below another.
_LATE, _LATE_BELOW = 0.2, -0.7
# Numbers are missing between two; a level ends, and had one member only.
_HOLE, _END, _LONE = 0.4, 0.02, 0.3
# How much it counts where lists of one style mostly are in the document.
_USUAL = 0.3
_WAYS, FEW_WAYS = 6, 4


class Reading(NamedTuple):
    """One reading of a marker: its style, such as ``(a)`` or ``1.``, and its position in the sequence."""

    style: str
    part: Part


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker as written, without emphasis, and its possible readings."""

    text: str
    token: str
    readings: tuple[Reading, ...]
    offset: int = 0
    word: str = ""

    @property
    def dotted(self) -> tuple[str, ...]:
        """The parts of a decimal marker (``4.2.1``); empty for any other."""
        return (
            tuple(re.split(r"[.‑-]", self.token)) if self.readings and self.readings[0].style == "1.1" else ()
        )

    @property
    def bare(self) -> bool:
        """Whether it is a plain ``1.`` or ``a)``, which also numbers the steps of a manual."""
        return not self.text.startswith("(") and not self.dotted and not self.word


def read_markers(text: str) -> list[Marker]:
    """Split ``(b)(2)`` into its markers."""
    if worded := _WORDED.match(text):
        word, number = worded["word"].lower(), worded["number"]
        return [Marker(text, number, (Reading(word, (0, int(number), "")),), 0, word)]
    found = []
    for match in _ONE.finditer(text):
        plain = re.sub(r"[*_]", "", match.group())
        token = plain.strip("().°º")
        found.append(Marker(plain, token, _readings(plain, token), match.start()))
    return found


def _readings(plain: str, token: str) -> tuple[Reading, ...]:
    shape = "(%s)" if plain.startswith("(") else f"%s{plain[-1]}"
    if re.search(r"[.‑-]", token):
        return (Reading("1.1", number_key(re.split(r"[.‑-]", token))[-1]),)
    if token[0].isdecimal():
        return (Reading(shape % "1", number_key([token.lower()])[0]),)
    case = "a" if token.islower() else "A"
    readings = []
    if len(set(token.lower())) == 1:
        # After z come aa, bb, cc; they are also a separate list, below (I), (II).
        value = letter_value(token[0].lower())
        readings.append(Reading(shape % case, (0, value + _ALPHABET * (len(token) - 1), "")))
        if len(token) > 1:
            readings.append(Reading(shape % (case * len(token)), (0, value, "")))
    if len(token) > 1 and token[1].lower() < "i":
        # `(aa)` is put in behind (a).
        readings.append(
            Reading(shape % case, number_key([f"{letter_value(token[0].lower())}{token[1].lower()}"])[0])
        )
    roman = roman_value(token)
    if roman is not None and roman < 60:
        readings.append(Reading(shape % ("i" if case == "a" else "I"), (0, roman, "")))
    return tuple(readings)


# -- the order of the markers of a section ---------------------------------------------------------------------


class Level(NamedTuple):
    """An open level: its style, where it is, and whether it has had a second member."""

    style: str
    part: Part
    several: bool


class _Way(NamedTuple):
    """One way to read the markers so far: depths and styles, last first."""

    score: float
    levels: tuple[Level, ...]
    read: tuple[int, str, Any] | None


class Mark(NamedTuple):
    """A marker and its position; ``above`` is where the text before its sign ends, ``body`` where that after it begins.

    ``line`` is the start of its line. ``nested``: it is in a list within a list, so that the text before it belongs to
    the item around it.
    """

    marker: Marker
    above: int
    start: int
    body: int
    line: int
    nested: bool = False


class Text(NamedTuple):
    """Text that begins without a marker, and how far it is indented."""

    start: int
    indent: int


Usual: TypeAlias = Mapping[tuple[str, str], float]
"""The share of the lists of one style (the second) that are below another, in the whole document."""


def arrange(marks: Sequence[Mark | Text], own: int, usual: Usual, most: int = _WAYS) -> list[tuple[int, str]]:
    """Return the depth of each marker, 0 at the top and -1 for what belongs to no list, and the style it is read in.

    ``own`` is the length of the number of the section, ``most`` how many ways are followed.
    """
    ways = [_Way(0.0, (), None)]
    interrupted = False
    for mark in marks:
        if isinstance(mark, Text):
            interrupted = True
            continue
        interrupted = interrupted and not mark.nested
        best: dict[tuple[Level, ...], _Way] = {}
        for way in ways:
            for gain, depth, levels in _steps(mark, way.levels, own, interrupted, usual):
                score = way.score + gain
                if levels not in best or score > best[levels].score:
                    style = levels[depth].style if depth >= 0 else ""
                    best[levels] = _Way(score, levels, (depth, style, way.read))
        ways = sorted(best.values(), key=lambda way: -way.score)[:most]
        interrupted = interrupted and ways[0].read is not None and ways[0].read[0] < 0
    read, link = [], ways[0].read
    while link is not None:
        depth, style, link = link
        read.append((depth, style))
    return read[::-1]


def nesting(read: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield the styles of markers, each behind the style of what it is below."""
    above: list[str] = []
    for depth, style in read:
        if depth >= 0:
            yield above[depth - 1] if depth else "", style
            above[depth:] = [style]


def _steps(
    mark: Mark, levels: tuple[Level, ...], own: int, interrupted: bool, usual: Usual
) -> Iterator[tuple[float, int, tuple[Level, ...]]]:
    """Yield what a marker can be after some levels: what that adds to the order, its depth, and the levels then."""
    marker = mark.marker
    if dotted := marker.dotted:
        # `4.2.1` states its own position.
        depth = min(len(dotted) - own - 1, len(levels))
        yield _NEXT, depth, (*levels[:depth], Level(f"1.{len(dotted)}", marker.readings[0].part, True))
        return
    yield 0.0, -1, levels
    bare, deepest = marker.bare, len(levels)
    lettered = bare and not marker.token.isdecimal()
    for style, part in marker.readings:
        first, again = is_first(part), False
        for depth, level in enumerate(levels):
            if level.style != style:
                continue
            again = True
            near = nearness(level.part, part)
            if near or first:
                ends = _END * (deepest - depth - 1)
                ends += (depth < deepest - 1 and not levels[-1].several) * _LONE
                if near:
                    gain = _NEXT if near == 1 else _HOLE * near - _HOLE / 2 * lettered
                else:
                    gain = _ANEW if interrupted else _AGAIN
                yield gain - ends, depth, (*levels[:depth], Level(style, part, near > 0))
        if deepest == _DEEPEST:
            continue
        for depth in range(0 if interrupted else deepest, deepest + 1):
            above = levels[depth - 1].style if depth else ""
            if above == style:
                continue
            if first:
                gain = _RESUMED + 0.05 * (depth == 1) if interrupted else _FIRST
            elif deepest:
                gain = _LATE_BELOW
            else:
                gain = -1.0 if bare else _LATE
            gain += _USUAL * usual.get((above, style), 0.0) - 0.1 * again
            yield gain, depth, (*levels[:depth], Level(style, part, False))
