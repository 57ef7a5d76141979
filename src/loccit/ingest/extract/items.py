"""Items: rows and list items with a number of their own, such as requirements in tables (`| 4.1.2 | …`) and rules
with codes (`A3b3) …`).

What a clause is called follows from the heading above it; such an item says itself what it is called. Whether these
are numbers of places is seen from their order: those of places rise through the whole document nearly without a gap,
those in a table of figures do not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import NamedTuple

from loccit.ingest.parse import Parsed
from loccit.labels import normalise_number
from loccit.model import Place

_DOTTED = r"\d{1,3}(?:\.\d{1,3}){1,5}"
_CODE = r"(?:[A-Z]{1,3}-?\d{1,3}|\d{1,3}[a-z])(?:[a-z]\d{0,2}|\d[a-z]){0,4}\d?"
_CELL = re.compile(
    rf"[ \t]*\|?[ \t]*(?P<label>[*_`]{{0,3}}(?:{_DOTTED}|{_CODE})[*_`]{{0,3}})[.:]?[ \t]*\|[ \t]*(?=[^|\s\-:])"
)
_ITEM = re.compile(rf"[ \t>]*(?:[-*•]\s+)?(?P<label>[*_]{{0,3}}(?:{_CODE})\)?[*_]{{0,3}})[).:]?\s+(?=\S)")
_RUNS = re.compile(r"\d+|[A-Za-z]+")
_LEAST = 3
_CLOSE = 0.6
_MOST = 50_000

Key = tuple[tuple[int, int], ...]


class _Row(NamedTuple):
    start: int
    body: int
    end: int
    label: str
    key: Key


def extract_items(parsed: Parsed, places: Sequence[Place], sections: Sequence[Place]) -> list[Place]:
    """Return the items of a text that no heading or clause has, in order; ``sections`` are its headings."""
    taken = {place.start for place in places}
    found: list[_Row] = []
    for kind, pattern in (("table", _CELL), ("text", _ITEM)):
        rows = [row for row in _rows(parsed, kind, pattern) if row.start not in taken]
        if _is_series(rows):
            found += rows
    return _placed(sorted(found), parsed, places, sections) if found else []


def _rows(parsed: Parsed, kind: str, pattern: re.Pattern[str]) -> Iterator[_Row]:
    text = parsed.text
    for block in parsed.blocks:
        if block.kind != kind:
            continue
        position = block.start
        while position < block.end:
            end = text.find("\n", position, block.end)
            end = block.end if end < 0 else end
            if match := pattern.match(text, position, end):
                label = re.sub(r"[*_`)]", "", match["label"])
                yield _Row(position, match.end(), end, label, _key(label))
            position = end + 1


def _key(label: str) -> Key:
    """The parts of a number in comparable form: `A3b` is (A, 3, b)."""
    return tuple(
        (0, int(part)) if part.isdecimal() else (1, _letters(part.lower())) for part in _RUNS.findall(label)
    )


def _letters(letters: str) -> int:
    value = 0
    for letter in letters:
        value = 26 * value + ord(letter) - 96
    return value


def _is_series(rows: Sequence[_Row]) -> bool:
    """Whether numbers rise through the text nearly without a gap, each once."""
    if len(rows) < _LEAST or len({row.key for row in rows}) < 0.9 * len(rows):
        return False
    return sum(_follows(row.key, later.key) for row, later in pairwise(rows)) >= _CLOSE * (len(rows) - 1)


def _follows(key: Key, later: Key) -> bool:
    """Whether a number is the next sibling, the first child, or the next of an outer level."""
    size = len(later)
    if size > len(key):
        return later[: len(key)] == key and all(part[1] <= 1 for part in later[len(key) :])
    here, there = key[size - 1], later[-1]
    if later[:-1] == key[: size - 1]:
        return here[0] == there[0] and 1 <= there[1] - here[1] <= 2
    # `1.2.4` after `1.1.9`: the last part begins anew where an outer one goes on.
    return there[1] <= 1 and key < later and size > 1 and _follows(key, later[:-1])


def _placed(
    rows: Sequence[_Row], parsed: Parsed, places: Sequence[Place], sections: Sequence[Place]
) -> list[Place]:
    ids = {place.section_id for place in places}
    starts = [section.start for section in sections]
    items: list[Place] = []
    above: list[tuple[Key, int]] = []
    for row, later in zip_longest(rows, rows[1:]):
        section = sections[max(0, bisect_right(starts, row.start) - 1)]
        above = [
            (key, at)
            for key, at in above
            if row.key[: len(key)] == key and items[at].section == section.ordinal
        ]
        outer = items[above[-1][1]] if above else None
        number = (
            normalise_number(row.label)
            if row.label[0].isdigit() and "." in row.label
            else (row.label.lower(),)
        )
        section_id = f"sec_{'_'.join(number)}"
        if section_id in ids or len(items) >= _MOST:
            continue
        ids.add(section_id)
        next_section = bisect_right(starts, row.start)
        limit = starts[next_section] if next_section < len(starts) else len(parsed.text)
        end = row.end if parsed.text[row.start] == "|" else min(limit, later.start if later else limit)
        items.append(
            Place(
                ordinal=len(places) + len(items),
                parent=outer.ordinal if outer else section.ordinal,
                section=section.ordinal,
                level=(outer.level if outer else section.level) + 1,
                marker=row.label,
                label=row.label,
                number=number,
                section_id=section_id,
                start=row.start,
                body=row.body,
                end=end,
                lines=parsed.position.lines(row.start, end),
                pages=parsed.position.pages(row.start, end),
            )
        )
        for _, at in above:
            items[at] = replace(items[at], end=max(items[at].end, end))
        above.append((row.key, len(items) - 1))
    return [replace(item, lines=parsed.position.lines(item.start, item.end)) for item in items]
