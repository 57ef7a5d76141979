"""Word's automatic numbering: the ``4.2`` and ``(a)`` that a document prints but does not contain.

A paragraph names a list (``w:num``) and a level. The list takes its levels from an abstract definition,
perhaps with overrides; lists of one abstract definition count together, as they do in Word. The body, the text
boxes and the notes count each for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml.etree import _Element

from pinakes.ingest.convert.docx_numfmt import format_number
from pinakes.ingest.convert.docx_package import W, child_value, flag, integer
from pinakes.ingest.convert.docx_styles import StyleLevel, Styles

LEVELS = 9
_LARGEST = 32767
# Word writes no more than this around its numbers.
_LONGEST_TEXT = 255
_PLACEHOLDER = re.compile(r"%([1-9])")
_LEADING = re.compile(r"%([1-9])[^%]*(?=%)")


class Mark(NamedTuple):
    """What is printed before a paragraph; ``worded`` when that is more than a number (``Article 5``)."""

    label: str
    level: int
    bullet: bool = False
    worded: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list: how it counts and how its number is written."""

    start: int = 0
    format: str = "decimal"
    text: str = ""
    restart: int | None = None
    legal: bool = False
    hidden: bool = False
    picture: bool = False
    style: str | None = None

    def restarts_after(self, level: int, used: int) -> bool:
        """Whether this level, the ``level``-th, begins anew after a paragraph of level ``used``."""
        if self.restart is None or self.restart > level:
            return used < level
        return used < self.restart


_ORDINARY = Level()


@dataclass(slots=True)
class _List:
    """A ``w:num``: the levels in force, where they start, and the counters it shares."""

    abstract: str
    levels: dict[int, Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    damaged: bool = False


class Numbering:
    """The lists of a document and how far each has counted. ``story`` names the text that is being counted."""

    def __init__(self, root: _Element | None, styles: Styles) -> None:
        self.missing = 0
        self.damaged = 0
        self.story = "body"
        self._lists = _read_lists(root, styles) if root is not None else {}
        self._counts: dict[tuple[str, str], list[int | None]] = {}
        self._restarted: set[tuple[str, str]] = set()

    def style_level(self, num_id: str, styles: Iterable[StyleLevel]) -> int | None:
        """The level that a style gives its paragraphs: the one its list links to it, else the one it states.

        A style that says neither leaves it to the style that it is based on.
        """
        found = self._lists.get(num_id)
        links = {level.style: index for index, level in found.levels.items()} if found else {}
        levels = (links.get(style.style, style.level) for style in styles)
        return next((level for level in levels if level is not None), None)

    def advance(self, num_id: str, level: int) -> Mark | None:
        """Count one more paragraph of a list and level; what Word prints before it, if anything."""
        found = self._lists.get(num_id)
        if found is None or not found.levels:
            self.missing += 1
            return None
        if found.damaged:
            self.damaged += 1
            return None
        if level not in found.levels:
            return None
        counts = self._counts.setdefault((self.story, found.abstract), [None] * LEVELS)
        previous = counts[level]
        if level in found.starts and (self.story, num_id) not in self._restarted:
            # A list begins anew once, with its first paragraph of a level that has a start of its own.
            self._restarted.add((self.story, num_id))
            previous = None
        counts[level] = self._start(found, level) if previous is None else min(previous + 1, _LARGEST)
        for above in range(level):
            if counts[above] is None:
                # A level that was skipped has used up its first number: after 1.1 comes 2.
                counts[above] = self._start(found, above)
        for deeper in range(level + 1, LEVELS):
            if found.levels.get(deeper, _ORDINARY).restarts_after(deeper, level):
                counts[deeper] = None
        return self._mark(found, level, counts)

    def _mark(self, found: _List, at: int, counts: list[int | None]) -> Mark | None:
        level = found.levels[at]
        if level.hidden:
            return None
        if level.format == "bullet" or level.picture:
            return Mark(level.text, at, bullet=True) if level.text.strip() or level.picture else None

        def written(match: re.Match[str]) -> str:
            index = int(match[1]) - 1
            definition = found.levels.get(index)
            if definition is None:
                return ""
            count = counts[index]
            value = self._start(found, index) if count is None else count
            plain = level.legal and definition.format not in ("none", "bullet")
            return format_number(value, "decimal" if plain else definition.format)

        text = level.text
        while (first := _LEADING.match(text)) and found.levels.get(int(first[1]) - 1, level).format == "none":
            # A level without a number leaves no dot before the next one.
            text = text[first.end() :]
        label = " ".join(_PLACEHOLDER.sub(written, text).split())
        if not label:
            return None
        around = _PLACEHOLDER.sub("", level.text)
        return Mark(label, at, worded=any(c.isalpha() or c == "§" for c in around))

    @staticmethod
    def _start(found: _List, level: int) -> int:
        definition = found.levels.get(level)
        return found.starts.get(level, definition.start if definition else 0)


def _read_lists(root: _Element, styles: Styles) -> dict[str, _List]:
    abstracts = {
        element.get(W + "abstractNumId", ""): element for element in root.iterchildren(W + "abstractNum")
    }
    numbers = {element.get(W + "numId", ""): element for element in root.iterchildren(W + "num")}
    definitions = {key: _read_levels(element) for key, element in abstracts.items()}
    lists: dict[str, _List] = {}
    for num_id, element in numbers.items():
        key = _follow_links(child_value(element, "abstractNumId") or "", abstracts, numbers, styles)
        levels, damaged = definitions.get(key, ({}, False))
        found = _List(key, dict(levels), damaged=damaged)
        for override in element.iterchildren(W + "lvlOverride"):
            index = integer(override.get(W + "ilvl"), -1)
            if not 0 <= index < LEVELS:
                continue
            replacement = override.find(W + "lvl")
            if replacement is not None:
                found.levels[index] = _read_level(replacement)
            start = child_value(override, "startOverride")
            if start is not None:
                found.starts[index] = _bounded(start)
        lists[num_id] = found
    return lists


def _follow_links(
    key: str, abstracts: dict[str, _Element], numbers: dict[str, _Element], styles: Styles
) -> str:
    """An abstract definition may only name a numbering style; the style's own list has the levels."""
    seen: set[str] = set()
    while key in abstracts and key not in seen:
        seen.add(key)
        link = child_value(abstracts[key], "numStyleLink")
        if link is None:
            return key
        target = styles.numbering(link)
        number = numbers.get(target.num_id) if target else None
        if number is None:
            return _owner_of_style(link, abstracts) or key
        key = child_value(number, "abstractNumId") or ""
    return key


def _owner_of_style(link: str, abstracts: dict[str, _Element]) -> str | None:
    return next(
        (key for key, element in abstracts.items() if child_value(element, "styleLink") == link), None
    )


def _read_levels(element: _Element) -> tuple[dict[int, Level], bool]:
    """The levels of an abstract definition, and whether it states one of them twice.

    Some publishing systems write every level as level 0. Word's reading of that is anyone's guess, and their
    paragraphs carry typed numbers, so no number is made up for such a list.
    """
    levels: dict[int, Level] = {}
    damaged = False
    for child in element.iterchildren(W + "lvl"):
        index = integer(child.get(W + "ilvl"), -1)
        damaged = damaged or index in levels
        if 0 <= index < LEVELS:
            levels.setdefault(index, _read_level(child))
    return levels, damaged


def _read_level(element: _Element) -> Level:
    number = element.find(W + "numFmt")
    if number is None:
        # Newer formats come wrapped in alternate content; the first branch is the one meant.
        number = next(element.iter(W + "numFmt"), None)
    style = number.get(W + "val", "decimal") if number is not None else "decimal"
    if style == "custom" and number is not None:
        style = "custom:" + number.get(W + "format", "")
    restart = child_value(element, "lvlRestart")
    return Level(
        start=_bounded(child_value(element, "start")),
        format=style,
        text=(child_value(element, "lvlText") or "")[:_LONGEST_TEXT],
        restart=None if restart is None else integer(restart, LEVELS),
        legal=bool(flag(element, "isLgl")),
        hidden=bool(flag(element.find(W + "rPr"), "vanish")),
        picture=element.find(W + "lvlPicBulletId") is not None,
        style=child_value(element, "pStyle"),
    )


def _bounded(text: str | None) -> int:
    return min(max(integer(text), 0), _LARGEST)
