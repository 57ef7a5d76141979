"""Headings from the tag tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from .candidates import join_heading
from .flow import Flow, Item
from .labels import is_caption
from .outline import normal
from .page import Heading, Line, PageText
from .tags import Tag

_Key: TypeAlias = tuple[int, int]
_LEAST = 3


def headings_from_tags(flow: Sequence[Item], pages: Sequence[PageText], letters: int) -> Flow | None:
    """The flow with tagged headings, or None if the tags have none worth following."""
    by_page = {p.number: p.tags for p in pages}
    if not any(by_page.values()):
        return None
    result: Flow = []
    groups: dict[_Key, list[Line]] = {}
    levels: dict[_Key, int] = {}
    for item in flow:
        if not isinstance(item, Line) or item.contents:
            result.append(item)
            continue
        for tag, part in _split(item, by_page[item.page]):
            if tag is not None:
                key = (item.page, tag.element)
                if key in groups and result[-1] is not groups[key][-1]:
                    # The element goes on elsewhere, after a table or in the next column: another heading.
                    key = (item.page, -len(groups) - 1)
                groups.setdefault(key, []).append(part)
                levels[key] = tag.level
            result.append(part)
    titles = {key: join_heading(lines) for key, lines in groups.items()}
    written = sum(map(len, titles.values()))
    sensible = sum(1 for t in titles.values() if 1 < len(t) < 300)
    if sensible < max(_LEAST, len(pages) / 12) or written > 0.3 * letters:
        return None
    return _replace(result, groups, levels, _keep(titles, levels))


def _split(line: Line, tags: dict[int, Tag]) -> list[tuple[Tag | None, Line]]:
    """Cut a line where its tagging changes: a heading may run into its paragraph."""
    parts: list[tuple[Tag | None, Line]] = []
    for span in line.spans:
        tag = tags.get(span.mcid)
        if tag is not None and tag.kind not in ("heading", "title"):
            tag = None
        if parts and parts[-1][0] == tag:
            parts[-1][1].spans.append(span)
        else:
            piece = Line(line.page, span.x0, span.x1, line.base, [span], line.order)
            piece.block, piece.left, piece.right = line.block, line.left, line.right
            parts.append((tag, piece))
    if len(parts) == 1:
        return [(parts[0][0], line)]
    for _, piece in parts:
        piece.settle()
    return parts


def _keep(titles: dict[_Key, str], levels: dict[_Key, int]) -> dict[_Key, str]:
    """Leave out captions, and small headings that come back in every section."""
    repeats = Counter((normal(t), levels[k]) for k, t in titles.items())
    most = max(6, 0.04 * len(titles))
    kept = {}
    for key, title in titles.items():
        often = repeats[normal(title), levels[key]] >= most and levels[key] > 2
        if normal(title) and not is_caption(title) and not often:
            kept[key] = title
    return kept


def _replace(
    flow: Flow, groups: dict[_Key, list[Line]], levels: dict[_Key, int], kept: dict[_Key, str]
) -> Flow:
    used = sorted({levels[k] for k in kept})
    first = {id(groups[k][0]): k for k in kept}
    inner = {id(line) for k in kept for line in groups[k][1:]}
    result: Flow = []
    for item in flow:
        if id(item) in inner:
            continue
        key = first.get(id(item))
        if key is None:
            result.append(item)
        else:
            result.append(Heading(key[0], kept[key], used.index(levels[key]) + 1))
    return result
