"""Items: lines, rows and list items that no heading or clause has, though they belong to a series.

What a clause is called follows from the heading above it; an item says itself what it is called, such as a requirement
in a table (`| 4.1.2 | …`) or a rule with a code (`A3b3) …`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from loccit.grammar.labels.numbers import coded_number
from loccit.model import Place
from loccit.structure import Parsed
from loccit.structure.places.chain import Number

_MOST = 50_000


def extract_items(parsed: Parsed, places: Sequence[Place], sections: Sequence[Place]) -> list[Place]:
    """Return the items of a text in order; ``sections`` are its headings, ``places`` these and the clauses."""
    taken = {place.start for place in places}
    rows = sorted(row for row in parsed.series.values() if row.start not in taken)
    ids = {place.section_id for place in places}
    starts = [section.start for section in sections]
    items: list[Place] = []
    above: list[tuple[Number, int]] = []
    for row, later in zip_longest(rows, rows[1:]):
        section = sections[max(0, bisect_right(starts, row.start) - 1)]
        above = [
            (number, at)
            for number, at in above
            if row.number[: len(number)] == number and items[at].section == section.ordinal
        ]
        outer = items[above[-1][1]] if above else None
        number = coded_number(row.label)
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
                body=row.rest,
                end=end,
                lines=parsed.position.lines(row.start, end),
                pages=parsed.position.pages(row.start, end),
            )
        )
        for _, at in above:
            items[at] = replace(items[at], end=max(items[at].end, end))
        above.append((row.number, len(items) - 1))
    return [replace(item, lines=parsed.position.lines(item.start, item.end)) for item in items]
