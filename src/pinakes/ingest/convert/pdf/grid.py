"""Grids: ruling lines that touch each other and make cells."""

from __future__ import annotations

from .page import Rule

_TOUCH = 3.0
_MOST_RULES = 3000


def grids(rules: list[Rule]) -> list[tuple[list[float], list[float]]]:
    """The column and row edges of each grid of at least two columns and two rows, from merged rules."""
    if len(rules) < 4:
        return []
    if len(rules) > _MOST_RULES:
        return []
    found = []
    for group in _connected(sorted(rules, key=lambda r: r.y0)):
        if len(group) < 4:
            continue
        x0, x1 = min(r.x0 for r in group), max(r.x1 for r in group)
        y0, y1 = min(r.y0 for r in group), max(r.y1 for r in group)
        if x1 - x0 < 60 or y1 - y0 < 16:
            continue
        # An edge counts if it goes most of the way: a bar behind a heading beside a column is no row.
        upright = _long([(r.x0, r.y1 - r.y0) for r in group if r.x1 == r.x0], 0.3 * (y1 - y0))
        level = _long([(r.y0, r.x1 - r.x0) for r in group if r.y1 == r.y0], 0.5 * (x1 - x0))
        xs = _distinct([x0, x1, *upright], 8.0)
        ys = _distinct([y0, y1, *level], 6.0)
        if len(xs) >= 3 and len(ys) >= 3:
            found.append((xs, ys))
    return found


def _long(pieces: list[tuple[float, float]], least: float) -> list[float]:
    """Where pieces of rule in one line add up to a length."""
    lengths: dict[float, float] = {}
    for place, length in pieces:
        for other in (place - 1, place, place + 1):
            if other == place or other in lengths:
                lengths[other] = lengths.get(other, 0.0) + length
    return [place for place, length in lengths.items() if length >= least]


def merge(rules: list[Rule]) -> list[Rule]:
    """Rules drawn piece by piece, a piece for each cell, as whole ones."""
    rows: dict[int, list[tuple[float, float]]] = {}
    columns: dict[int, list[tuple[float, float]]] = {}
    for x0, y0, x1, y1 in rules:
        if x1 - x0 >= y1 - y0:
            rows.setdefault(round((y0 + y1) / 2), []).append((x0, x1))
        else:
            columns.setdefault(round((x0 + x1) / 2), []).append((y0, y1))
    result = [Rule(a, y, b, y) for y, spans in rows.items() for a, b in _union(spans)]
    result += [Rule(x, a, x, b) for x, spans in columns.items() for a, b in _union(spans)]
    return result


def _union(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    spans.sort()
    result = [spans[0]]
    for start, end in spans[1:]:
        last = result[-1]
        if start <= last[1] + _TOUCH:
            if end > last[1]:
                result[-1] = (last[0], end)
        else:
            result.append((start, end))
    return result


def _connected(rules: list[Rule]) -> list[list[Rule]]:
    """Groups of rules that touch, directly or through others. ``rules`` is sorted by its upper edges."""
    parent = list(range(len(rules)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    active: list[int] = []
    for n, rule in enumerate(rules):
        active = [m for m in active if rules[m].y1 + _TOUCH >= rule.y0]
        for m in active:
            other = rules[m]
            if other.x0 - _TOUCH <= rule.x1 and rule.x0 - _TOUCH <= other.x1:
                parent[root(m)] = root(n)
        active.append(n)
    groups: dict[int, list[Rule]] = {}
    for n, rule in enumerate(rules):
        groups.setdefault(root(n), []).append(rule)
    return list(groups.values())


def _distinct(values: list[float], apart: float) -> list[float]:
    """Sorted values with those nearer than ``apart`` to the one before left out."""
    result: list[float] = []
    for value in sorted(values):
        if not result or value - result[-1] > apart:
            result.append(value)
    return result
