"""The paragraphs and list items that contain definitions, with their numbering.

Where a definition ends depends on the numbering: ``(c) "cargo" means … —`` continues through its own ``(1)`` and
``(2)`` and stops at ``(d)``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loccit.model import Place
from loccit.structure import Block, Parsed
from loccit.structure.markers import read_markers

_MARK = re.compile(
    r"(?P<indent>[ \t>]*)(?P<bullet>[-*+•▪◦‣·][ \t]+)?(?:<sup>\(?(?P<raised>\d{1,3})[a-z]{0,2}[.)]{0,2}</sup>[ \t]*)?"
    r"(?P<mark>[*_]{0,3}(?:\\?\(?[*_ ]{0,3}(?P<value>\d{1,4}[a-z]?|[ivxlcdm]{1,7}|[IVXLCDM]{1,7}|[a-zA-Z]{1,2})"
    r"[*_ ]{0,3}"
    r"(?P<close>\\?\)|\\?\.(?=[ \t])|°(?=[ \t]))|(?P<dotted>\d{1,3}(?:\.\d{1,3}){1,5})\.?(?=[ \t]))"
    r"(?:\\?\(\w{1,4}\\?\))*(?:[*_]{1,3}(?=\s))?[ \t]*)?"
)
# The foot of a page within a definition.
_PAGE_END = re.compile(r"(?:[-–—]?[ \t]*\d{1,4}[ \t]*[-–—]?)?\s*(?:<PAGE>)?")
# A line inside a paragraph starts an item only if the previous line is complete.
_INNER_LINE = re.compile(
    r"\n(?=[ \t]*(?:[-*+•▪◦‣·][ \t]+)?(?:\\?\(?[*_ ]{0,3}(?:\d{1,4}|[a-zA-Z]{1,4})[*_ ]{0,3}\\?[.)][ \t]"
    r"|[\"“‘«„*_`]))"
)
_HASHES = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_HTML_ANCHOR = re.compile(r"(?:\s*<a\s[^<>]{1,200}>\s*(?:</a>)?)+")
_LONG = 40  # characters; a heading that defines a term says more than that
_SKIPPED = 3  # numbers that a list may leave out, repealed items for instance, and still be one list


@dataclass(frozen=True, slots=True)
class Unit:
    """A paragraph, list item, line or heading:

    ``body`` is where its text begins, ``places`` the readings of its marker.
    """

    start: int
    body: int
    end: int
    indent: int
    bullet: bool
    places: tuple[tuple[str, float], ...]
    section: int
    heading: bool = False

    @property
    def marked(self) -> bool:
        """Whether it is a list item."""
        return self.bullet or bool(self.places)


class Units:
    """The units of a document, computed per block on demand."""

    def __init__(self, parsed: Parsed, sections: Sequence[Place]) -> None:
        self.text: str = parsed.text
        self.blocks: list[Block] = parsed.blocks
        self._block_starts = [block.start for block in parsed.blocks]
        self._section_starts = [section.start for section in sections]
        self._cache: dict[int, list[Unit]] = {}

    def block_at(self, offset: int) -> int:
        """Return the index of the block that contains an offset."""
        return max(0, bisect_right(self._block_starts, offset) - 1)

    def section_at(self, offset: int) -> int:
        """Return the ordinal of the innermost section that contains an offset."""
        return max(0, bisect_right(self._section_starts, offset) - 1)

    def of(self, index: int) -> list[Unit]:
        """Return the units of a block; short headings, tables and code blocks have none."""
        units = self._cache.get(index)
        if units is None:
            units = self._cache[index] = self._read(index)
        return units

    def at(self, offset: int) -> Unit | None:
        """Return the unit that contains an offset."""
        units = self.of(self.block_at(offset)) if self.blocks else []
        found = bisect_right(units, offset, key=lambda unit: unit.start) - 1
        return units[found] if found >= 0 and offset < units[found].end else None

    def after(self, index: int, unit: Unit) -> tuple[int, Unit] | None:
        """Return the next unit of the same section, with its block; a table or code block ends the sequence."""
        units = self.of(index)
        place = bisect_right(units, unit.start, key=lambda other: other.start)
        if place < len(units):
            return index, units[place]
        for following in range(index + 1, len(self.blocks)):
            if self.blocks[following].kind != "text":
                return None
            if units := self.of(following):
                return (following, units[0]) if units[0].section == unit.section else None
        return None

    def _read(self, index: int) -> list[Unit]:
        block, text = self.blocks[index], self.text
        section = self.section_at(block.start)
        if block.kind == "heading":
            # Clauses styled as headings define terms like any other.
            heading = _HASHES.match(text, block.start)
            unit = _unit(text, heading.end() if heading else block.start, block.end, section)
            return [replace(unit, heading=True)] if unit is not None and unit.end - unit.body > _LONG else []
        if block.kind != "text":
            return []
        inner = (
            m.end() for m in _INNER_LINE.finditer(text, block.start, block.end) if _ended(text, m.start())
        )
        cuts = [block.start, *inner, block.end]
        return [
            unit for start, end in pairwise(cuts) if (unit := _unit(text, start, end, section)) is not None
        ]


def _ended(text: str, at: int) -> bool:
    return text[max(0, at - 8) : at].rstrip().endswith((".", ";", ":", ",", "—", "–", "-", " and", " or"))


def _unit(text: str, start: int, end: int, section: int) -> Unit | None:
    while start < end and text[start] in "\n\r":
        start += 1
    stop = start + len(text[start:end].rstrip())
    match = _MARK.match(text, start, stop)
    if stop <= start or match is None or _PAGE_END.fullmatch(text, start, stop):
        return None
    written = match["value"] or match["dotted"]
    places = _numbered(match["mark"], match["dotted"]) if written else ()
    if match["raised"] and not match["mark"]:
        places = (("^1", int(match["raised"])),)  # numbers of paragraphs, as in Swiss acts
    body = match.end()
    if match["mark"] and not places:
        body = match.start("mark")  # "Mr." and the like
    if html := _HTML_ANCHOR.match(text, body, stop):
        body = html.end()
    while body < stop and text[body].isspace():
        body += 1
    return Unit(start, body, stop, len(match["indent"].expandtabs(4)), bool(match["bullet"]), places, section)


def _numbered(mark: str, dotted: str | None) -> tuple[tuple[str, float], ...]:
    """The readings of a marker; those of `4.2` count below 4."""
    found = read_markers(mark.replace("\\", "").replace("°", ")"))
    readings = found[0].readings if found and not found[0].offset else ()
    # `(1A)` stands between 1 and 2.
    return tuple(
        (dotted.rpartition(".")[0] if dotted else style, part[1] + 0.5 * bool(part[2]))
        for style, part in readings
    )


class Levels:
    """Decides, unit by unit, whether the list below a definition continues or the next definition begins."""

    def __init__(self, own: Unit) -> None:
        self._own = own
        self._open: dict[str, float] = {}

    def takes(self, unit: Unit, invited: bool, due: bool = False) -> bool:
        """Whether a marked unit belongs to the list.

        ``invited``: a list may begin here; ``due``: one must, because the text before ends with a colon.
        """
        own = self._own
        deeper = own.marked and unit.indent >= own.indent + 2
        if not unit.places:
            if deeper or (not own.bullet and (invited or "-" in self._open)):
                self._open.setdefault("-", 1)
                return True
            return False
        next_item = any((style, value - 1) in own.places for style, value in unit.places)
        # "(i)" after "(h) … means:" is a numeral, not the next letter.
        if next_item and not deeper and not (due and len(unit.places) > 1):
            return False
        for style, value in reversed(unit.places):
            if self._open.get(style, value) < value <= self._open.get(style, value) + _SKIPPED:
                # The lists opened below its last item end.
                opened = list(self._open)
                for ended in opened[opened.index(style) + 1 :]:
                    del self._open[ended]
                self._open[style] = value
                return True
        taken = {style for style, _ in own.places}
        below = [style for style, value in unit.places if value == 1 and style not in self._open]
        if due and len(unit.places) > 1 and below and below[0] not in taken:
            self._open[below[0]] = 1  # `(c) … that is—` and then `(i)`
            return True
        if any(style in self._open for style, _ in unit.places):
            return deeper  # the list restarts: it belongs to another definition
        for style, value in reversed(unit.places):
            if value == 1 and (deeper or (invited and style not in taken)):
                self._open[style] = 1
                return True
        return deeper
