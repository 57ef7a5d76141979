"""Which lines are headings: bookmarks first, then tags, then the way they are set, then their labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from .candidates import Body, Candidate, find_candidates
from .flow import Flow, Item
from .front import without_front
from .labels import find_label, is_strong
from .levels import assign_levels
from .outline import Bookmark, is_useful, match_bookmark
from .page import Heading, Line, PageText
from .runins import counts_up, find_run_ins
from .selection import select
from .tagged import headings_from_tags

_SPARSE = 6
"""With fewer than one bookmark in so many pages, headings are looked for between them."""
_LEAST_LABELS = 3


def mark_headings(
    flow: Sequence[Item], pages: Sequence[PageText], marks: Sequence[Bookmark], body: Body
) -> Flow:
    """The flow with its heading lines replaced by headings."""
    if is_useful(marks):
        marked = _from_outline(flow, marks)
        return _add(marked, body, len(pages), sparse=len(marks) < len(pages) / _SPARSE)
    tagged = headings_from_tags(flow, pages, body.letters)
    if tagged is not None:
        return _add(tagged, body, len(pages), sparse=False)
    found = _by_look(flow, body, len(pages))
    return _replace(flow, found, assign_levels(found))


def _by_look(flow: Sequence[Item | Heading], body: Body, pages: int) -> list[Candidate]:
    found = select(without_front(find_candidates(flow, body), flow), flow, body, pages)
    return sorted(found + find_run_ins(flow, body, found), key=lambda c: c.first)


def _add(flow: Flow, body: Body, pages: int, sparse: bool) -> Flow:
    """Headings that bookmarks or tags leave out: Articles and Sections that count up; any, if those are sparse."""
    if not sparse and not _has_labels(flow):
        return flow
    found = _by_look(flow, body, pages)
    if not sparse:
        numbers: dict[str, list[str]] = defaultdict(list)
        for c in found:
            if c.label is not None and is_strong(c.label):
                numbers[c.label.kind].append(c.label.number)
        kinds = {k for k, n in numbers.items() if len(n) >= _LEAST_LABELS and counts_up(n)}
        found = [c for c in found if c.label is not None and is_strong(c.label) and c.label.kind in kinds]
    if not found:
        return flow
    known = _levels_of_labels(flow)
    outer, level = {}, 0
    for position, item in enumerate(flow):
        if isinstance(item, Heading):
            level = item.level
        outer[position] = level
    levels = []
    for candidate, inner in zip(found, assign_levels(found), strict=True):
        kind = candidate.label.kind if candidate.label is not None else ""
        levels.append(known.get(kind, outer[candidate.first] + inner))
    return _replace(flow, found, levels)


def _has_labels(flow: Flow) -> bool:
    count = 0
    for item in flow:
        if isinstance(item, Line) and is_strong(find_label(item.text)):
            count += 1
            if count >= _LEAST_LABELS:
                return True
    return False


def _levels_of_labels(flow: Flow) -> dict[str, int]:
    """The level that headings with each kind of label already have."""
    seen: dict[str, Counter[int]] = defaultdict(Counter)
    for item in flow:
        if isinstance(item, Heading) and is_strong(label := find_label(item.text)) and label is not None:
            seen[label.kind][item.level] += 1
    return {kind: levels.most_common(1)[0][0] for kind, levels in seen.items()}


def _replace(flow: Sequence[Item | Heading], found: Sequence[Candidate], levels: Sequence[int]) -> Flow:
    starts = {c.first: (c, level) for c, level in zip(found, levels, strict=True)}
    result: Flow = []
    position = 0
    while position < len(flow):
        if position in starts:
            candidate, level = starts[position]
            result.append(Heading(candidate.page, candidate.text, level))
            if candidate.tail is not None:
                result.append(candidate.tail)
            position = candidate.last + 1
        else:
            result.append(flow[position])
            position += 1
    return result


def _from_outline(flow: Sequence[Item], marks: Sequence[Bookmark]) -> Flow:
    """Bookmarks matched to lines; those whose words are not on the page stand where they point."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for n, item in enumerate(flow):
        if isinstance(item, Line):
            by_page[item.page].append(n)
    taken: dict[int, set[int]] = defaultdict(set)
    starts: dict[int, tuple[int, Heading]] = {}
    inserted: dict[int, list[Heading]] = defaultdict(list)
    used = sorted({m.level for m in marks})
    for mark in marks:
        positions = by_page.get(mark.page, [])
        lines = [item for item in (flow[n] for n in positions) if isinstance(item, Line)]
        heading = Heading(mark.page, mark.title, used.index(mark.level) + 1)
        match = match_bookmark(mark, lines, taken[mark.page])
        if match is None:
            inserted[_place(mark, flow, positions)].append(heading)
            continue
        first, last = match
        taken[mark.page].update(range(first, last + 1))
        starts[positions[first]] = (positions[last], heading)
    result: Flow = []
    position = 0
    while position < len(flow):
        result.extend(inserted.get(position, []))
        if position in starts:
            position, heading = starts[position]
            result.append(heading)
        else:
            result.append(flow[position])
        position += 1
    result.extend(inserted.get(len(flow), []))
    return result


def _place(mark: Bookmark, flow: Sequence[Item], positions: list[int]) -> int:
    """Where in the flow a bookmark points."""
    if not positions:
        return next((n for n, item in enumerate(flow) if item.page > mark.page), len(flow))
    if mark.y is None:
        return positions[0]
    for n in positions:
        if flow[n].bottom > mark.y:
            return n
    return positions[-1] + 1
