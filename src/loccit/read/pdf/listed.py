"""What the contents pages list: titles that are headings in whatever type they are set."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from loccit.read.pdf.candidates import find_label, is_caption, join_heading, normal
from loccit.read.pdf.page import Heading, Item, Line

_PAGE = re.compile(r"(?:\s*(?:[.…·_]\s?){2,}|\s)\s*(?:[A-Z\d]{1,3}[-–])?(\d{1,4})$")
_LEAST = 3
_SHARE = 0.3
_SHORTEST = 4
_LONGEST = 200
_MOST_LINES = 4
_KEY = 4


def find_listed(flow: Sequence[Item | Heading]) -> dict[int, int]:
    """Where titles that a contents page lists stand in the text: the positions of their first and last lines.

    Their pages must differ from the listed ones by the same number throughout: words of a title stand in many places.
    """
    titles, begins = _read(flow)
    if len(titles) < _LEAST:
        return {}
    by_start: dict[str, list[str]] = defaultdict(list)
    for title in titles:
        by_start[title[:_KEY]].append(title)
    found: list[tuple[Line, int, int, str]] = []
    shifts: Counter[int] = Counter()
    for start in range(begins, len(flow)):
        match, first = _match(flow, start, titles, by_start), flow[start]
        if match is not None and isinstance(first, Line):
            found.append((first, start, *match))
            shifts.update(first.page - page for page in titles[match[1]])
    shift, count = max(shifts.items(), key=lambda item: item[1], default=(0, 0))
    if count < max(_LEAST, _SHARE * len(titles)):
        return {}
    best: dict[tuple[str, int], tuple[Line, int, int]] = {}
    for line, start, end, title in found:
        for page in titles[title]:
            held = best.get((title, page))
            if abs(line.page - page - shift) <= 1 and (held is None or _weight(line) > _weight(held[0])):
                best[title, page] = line, start, end
    return {start: end for _, start, end in best.values()}


def _weight(line: Line) -> tuple[float, bool]:
    return line.size, line.style.bold


def _read(flow: Sequence[Item | Heading]) -> tuple[dict[str, set[int]], int]:
    """The pages of each title on the contents pages, without its number, and where these pages begin."""
    titles: dict[str, set[int]] = defaultdict(set)
    begins = len(flow)
    entries: list[list[Line]] = [[]]
    for position, item in enumerate(flow):
        if not isinstance(item, Line) or not item.contents:
            entries = [[]]
            continue
        begins = min(begins, position)
        if entries[-1] and find_label(item.text) is not None:
            # A part without a number of its own page: it begins where its first section does.
            entries.append([])
        entries[-1].append(item)
        if page := _PAGE.search(join_heading(entries[-1])):
            for lines in entries:
                text = join_heading(lines)
                title = _bare(_PAGE.sub("", text))
                if not is_caption(text) and _SHORTEST <= len(title) <= _LONGEST:
                    titles[title].add(int(page[1]))
            entries = [[]]
    return titles, begins


def _bare(text: str) -> str:
    label = find_label(text)
    return normal(text[label.length :] if label is not None else text)


def _match(
    flow: Sequence[Item | Heading], start: int, titles: Mapping[str, object], by_start: dict[str, list[str]]
) -> tuple[int, str] | None:
    """The last line of a listed title that starts here, if one does, and the title."""
    joined = ""
    for position in range(start, min(start + _MOST_LINES, len(flow))):
        line = flow[position]
        if not isinstance(line, Line) or line.contents or not line.alone or len(line.text) > _LONGEST:
            return None
        joined += normal(line.text) if joined else _bare(line.text)
        if joined in titles:
            return position, joined
        if not any(title.startswith(joined) for title in by_start.get(joined[:_KEY], ())):
            return None
    return None
