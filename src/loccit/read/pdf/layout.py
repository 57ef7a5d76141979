"""Reading order: columns, bands between full-width lines, rows within a column, and entries of a contents list.

A column gutter is a left edge that several lines share and that nothing crosses over some height. Lines that do cross
it (a heading over both columns) cut the page into bands; within a band the left side is read first. Entries of a
printed table of contents look like headings but are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from loccit.read.pdf.candidates import find_label, normal, starts_item
from loccit.read.pdf.page import Item, Line, PageText

_EDGE = 4.0
_DEEPEST = 4
_LEADER = re.compile(r"(?:[.…·_]\s?){4,}\s*[\divxlcA-Z–-]{0,8}$")
_ENDS_IN_NUMBER = re.compile(r".*[^\d\W].*\s(\d{1,4}|[ivxlc]{1,6})$")
_TITLE = re.compile(
    r"(?:table of )?contents\b|content$|list of (?:tables|figures|acronyms|exhibits|charts)|index$", re.I
)
_LONGEST = 300
_LONGEST_ENTRY = 3
"""Consecutive lines without a page number that are allowed among the entries."""
_MOST_WITHOUT_PAGE = 8
"""Lines between the title of a contents list and its first entry with a page number."""
_ENTRY = re.compile(r"(.*[^\W\d_]{3}.*?)\s+(\d{1,4})")
_KEY = 10
_LEAST_UNPAGED, _MOSTLY, _FRONT = 6, 0.6, 6
"""Entries without page numbers that make a list of contents, the share of them that comes again, and its last page."""
_SQUEEZE = re.compile(r"\s*(?:[.…·_]\s?){4,}\s*")


def reading_order(items: Sequence[Item]) -> list[Item]:
    """Items in reading order; pieces on one baseline of a column become one line."""
    result: list[Item] = []
    blocks = [0]

    def emit(part: list[Item]) -> None:
        blocks[0] += 1
        left = min(i.x0 for i in part)
        right = max(i.x1 for i in part)
        for item in _rows(part):
            if isinstance(item, Line):
                item.block, item.left, item.right = blocks[0], left, right
            result.append(item)

    def visit(part: list[Item], depth: int) -> None:
        bands = _bands(part) if depth < _DEEPEST and len(part) >= 4 else None
        if bands is None:
            emit(part)
            return
        for band, gutter in bands:
            if gutter is None:
                visit(band, depth + 1) if len(band) < len(part) else emit(band)
            else:
                visit([i for i in band if i.x0 < gutter - _EDGE], depth + 1)
                visit([i for i in band if i.x0 >= gutter - _EDGE], depth + 1)

    if items:
        visit(sorted(items, key=lambda i: (i.top, i.x0)), 0)
    return result


def _bands(items: list[Item]) -> list[tuple[list[Item], float | None]] | None:
    """Cut items into bands by the gutter that puts most of them into columns."""
    best: list[tuple[list[Item], float | None]] | None = None
    best_score = 0
    for gutter in _gutters(items):
        bands: list[tuple[list[Item], float | None]] = []
        score = 0
        for band, crossing in _cut(items, gutter):
            if not crossing and _columns(band, gutter):
                bands.append((band, gutter))
                score += len(band)
            elif bands and bands[-1][1] is None:
                bands[-1][0].extend(band)
            else:
                bands.append((band, None))
        if score > best_score:
            best, best_score = bands, score
    return best


def _gutters(items: list[Item]) -> list[float]:
    """Left edges shared by at least three items, without the leftmost."""
    edges = sorted(i.x0 for i in items)
    first = edges[0]
    found, group = [], [first]
    for edge in [*edges[1:], float("inf")]:
        if edge - group[-1] <= _EDGE:
            group.append(edge)
            continue
        if len(group) >= 3 and group[0] > first + 40:
            found.append(group[0])
        group = [edge]
    return found


def _cut(items: list[Item], gutter: float) -> list[tuple[list[Item], bool]]:
    """Runs, from top to bottom, of items that cross the gutter or do not."""
    line = gutter - 1.5
    crossers = [i for i in items if i.x0 < gutter - _EDGE and i.x1 > line]
    if not crossers:
        return [(items, False)]
    marks = sorted((i.top + i.bottom) / 2 for i in crossers)
    crossing_ids = {id(i) for i in crossers}
    runs: list[tuple[list[Item], bool]] = []
    current: list[Item] = []
    position = 0
    crossers.sort(key=lambda i: (i.top + i.bottom) / 2)
    others = sorted((i for i in items if id(i) not in crossing_ids), key=lambda i: (i.top + i.bottom) / 2)
    for item in others:
        middle = (item.top + item.bottom) / 2
        while position < len(marks) and marks[position] < middle:
            if current:
                runs.append((current, False))
                current = []
            if runs and runs[-1][1]:
                runs[-1][0].append(crossers[position])
            else:
                runs.append(([crossers[position]], True))
            position += 1
        current.append(item)
    if current:
        runs.append((current, False))
    if position < len(crossers):
        rest = crossers[position:]
        if runs and runs[-1][1]:
            runs[-1][0].extend(rest)
        else:
            runs.append((rest, True))
    return runs


def _columns(items: list[Item], gutter: float) -> bool:
    """Whether the two sides are columns of text rather than cells of rows."""
    left = [i for i in items if i.x0 < gutter - _EDGE]
    right = [i for i in items if i.x0 >= gutter - _EDGE]
    if not left or not right or len(left) + len(right) < 4:
        return False
    overlap = min(max(i.bottom for i in left), max(i.bottom for i in right)) - max(
        min(i.top for i in left), min(i.top for i in right)
    )
    size = max(_size(i) for i in items)
    if overlap < 1.5 * size:
        return False
    left_edge, right_edge = min(i.x0 for i in left), max(i.x1 for i in right)
    left_width, right_width = max(i.x1 for i in left) - left_edge, right_edge - gutter
    whole = right_edge - left_edge
    if min(left_width, right_width) < 0.12 * whole:
        return False
    orders_left = [i.order for i in left]
    orders_right = [i.order for i in right]
    if max(orders_left) < min(orders_right) or max(orders_right) < min(orders_left):
        # One side was written after the other. Isolated labels beside a text are not a column.
        return not (
            len(left) == 1 and len(left) < len(right) and isinstance(left[0], Line) and left_width < 60
        )
    if _swaps(left, right) <= 0.12 * len(items):
        return True
    return _filled(left, left_width) and _filled(right, right_width) and min(len(left), len(right)) >= 3


def _swaps(left: list[Item], right: list[Item]) -> int:
    """How often the content stream changes sides."""
    sides = sorted([(i.order, 0) for i in left] + [(i.order, 1) for i in right])
    return sum(1 for a, b in pairwise(sides) if a[1] != b[1]) - 1


def _filled(side: list[Item], width: float) -> bool:
    full = sum(1 for i in side if i.x1 - i.x0 > 0.75 * width)
    return full >= 0.55 * len(side)


def _size(item: Item) -> float:
    return item.style.size if isinstance(item, Line) else 10.0


def _rows(items: list[Item]) -> list[Item]:
    """From top to bottom; items side by side are joined into one line."""
    ordered = sorted(items, key=lambda i: (i.top, i.x0))
    rows: list[Item] = []
    done: set[int] = set()
    for n, item in enumerate(ordered):
        if id(item) in done:
            continue
        if not isinstance(item, Line):
            rows.append(item)
            continue
        mates = [item]
        for other in ordered[n + 1 :]:
            if other.top > item.bottom:
                break
            if (
                isinstance(other, Line)
                and id(other) not in done
                and abs(other.base - item.base) < 0.35 * max(item.size, other.size)
            ):
                mates.append(other)
                done.add(id(other))
        rows.append(_join(mates) if len(mates) > 1 else item)
    return rows


def _join(mates: list[Line]) -> Line:
    mates.sort(key=lambda line: line.x0)
    first = mates[0]
    head = first.text
    marker = starts_item(head + " x") or find_label(head + " X") is not None or len(head) <= 3
    joined = Line(first.page, first.x0, mates[-1].x1, first.base, [], min(m.order for m in mates))
    for mate in mates:
        joined.spans.extend(mate.spans)
    joined.settle()
    joined.alone = marker and len(mates) == 2
    return joined


def is_contents(text: str) -> bool:
    """Whether it is the title of a list of contents."""
    return _TITLE.match(text) is not None


def mark_contents(page: PageText, lines: list[Line], carried: list[Line] | None) -> list[Line] | None:
    """Mark the entries of a contents list on a page, given in reading order.

    Return the lines after the last one, None if there is no contents list. ``carried`` are those of the previous page.
    """
    if not lines:
        return None
    tagged = {mcid for mcid, tag in page.tags.items() if tag.kind == "contents"}
    entries = [
        n
        for n, line in enumerate(lines)
        if _LEADER.search(line.text) or (tagged and all(s.mcid in tagged for s in line.spans))
    ]
    least = 3 if carried is None else 1
    if len(entries) < least:
        entries = _numbered(lines, carried is not None)
    if len(entries) < least:
        return None
    first, last = entries[0], entries[-1]
    above = max(0, first - _LONGEST_ENTRY)
    headed = range(first - 1, max(-1, first - 1 - _MOST_WITHOUT_PAGE), -1)
    title = next((n + 1 for n in headed if _TITLE.match(lines[n].text)), None)
    if title is not None or (carried is not None and first <= _LONGEST_ENTRY):
        # A part without a page of its own is above its first entry.
        first = title or 0
    while (
        first > above
        and lines[first - 1].size <= lines[first].size * 1.15
        and not _TITLE.match(lines[first - 1].text)
    ):
        # The first entry may take several lines, of which only the last has the page number.
        first -= 1
    for line in lines[first : last + 1]:
        if not _TITLE.match(line.text):
            line.contents = True
    if carried is not None and len(carried) <= _LONGEST_ENTRY:
        for line in carried:
            line.contents = True
    return lines[last + 1 :]


def mark_unpaged_contents(flow: Sequence[Item]) -> None:
    """Mark the entries of a contents list without page numbers: labels one below the other, most of which come again.

    The list ends where the first of them comes again.
    """
    front = [n for n, item in enumerate(flow) if item.page <= _FRONT and _key(item) is not None]
    if not any(
        b - a < _LEAST_UNPAGED + _LONGEST_ENTRY
        for a, b in zip(front, front[_LEAST_UNPAGED - 1 :], strict=False)
    ):
        return
    labelled = [(n, key) for n, item in enumerate(flow) if (key := _key(item)) is not None]
    last = {key: n for n, key in labelled}
    run: list[int] = []
    again, end = 0, len(flow)
    for n, key in labelled:
        if run and (n - run[-1] > _LONGEST_ENTRY or n >= end):
            if again >= max(_LEAST_UNPAGED, _MOSTLY * len(run)):
                break
            run, again, end = [], 0, len(flow)
        if key[1] and last[key] > n:
            again += 1
            end = end if run else last[key]
        elif not run:
            continue
        run.append(n)
        if flow[run[0]].page > _FRONT:
            return
    if again >= max(_LEAST_UNPAGED, _MOSTLY * len(run)):
        for item in flow[run[0] : run[-1] + 1]:
            if isinstance(item, Line):
                item.contents = True


def _key(item: Item) -> tuple[str, str] | None:
    """The number of a labelled line and the beginning of its title."""
    if not isinstance(item, Line) or item.contents or (label := find_label(item.text)) is None:
        return None
    return label.number, normal(item.text[label.length :])[:_KEY]


def _numbered(lines: list[Line], carried: bool) -> list[int]:
    """Entries without leaders: lines below a contents title, most of which end in ascending page numbers."""
    start = 0 if carried else next((n + 1 for n, line in enumerate(lines) if _TITLE.match(line.text)), -1)
    if start < 0:
        return []
    entries: list[int] = []
    numbers: list[int] = []
    for n in range(start, len(lines)):
        match = _ENDS_IN_NUMBER.match(lines[n].text[-_LONGEST:])
        if match and match[1].isdigit():
            entries.append(n)
            numbers.append(int(match[1]))
        elif n - (entries[-1] if entries else start - 1) > _LONGEST_ENTRY:
            break
    among = len(lines) if carried else entries[-1] + 1 - start if entries else 0
    if len(entries) < 4 or len(entries) < 0.4 * among:
        return []
    rising = sum(1 for a, b in pairwise(numbers) if b >= a)
    return entries if rising >= 0.8 * (len(numbers) - 1) else []


def write_entry(text: str) -> str:
    """A contents entry with three dots before its page, however the page is set apart."""
    if _LEADER.search(text):
        return _SQUEEZE.sub(" ... ", text).strip()
    entry = _ENTRY.fullmatch(text)
    return f"{entry[1]} ... {entry[2]}" if entry else text
