"""Ruling lines, which no line of text crosses, and tables made of them or of aligned cells."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from ctypes import byref, c_float
from itertools import repeat
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from loccit.read.pdf import native
from loccit.read.pdf.page import HYPHEN, Line, PageText, Rule, Table

_TEXT, _PATH = pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_PATH
_IMAGE, _FORM = pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM
_THIN = 2.5
_SHORTEST = 6.0
_MOST_OBJECTS = 20_000
_MOST_POINTS = 600
_NEAR = 1.0
_LEAST_GAP = 0.5
_FEW = 60
_TOUCH = 3.0
_MOST_RULES = 3000


class RuleReader:
    """Collects the rules of upright pages: rotated ones are rare and would need rotating too."""

    def __init__(self) -> None:
        self._edges = [c_float() for _ in range(4)]
        self._matrix = native.Matrix()

    def read(self, page: Any) -> tuple[list[Rule], int]:
        """The rules of a page and the number of images it shows."""
        left, bottom, right, top = page.get_bbox()
        handle = native.pointer(page.raw)
        count = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
        rules: list[Rule] = []
        images = 0
        items = list(map(native.page_object, repeat(handle), range(count)))
        place = (1.0, 0.0, 0.0, 1.0, -left, -top)
        for item, kind in zip(items, map(native.object_type, items), strict=True):
            if kind == _TEXT:
                continue
            if kind == _PATH:
                self._path(item, rules, place)
            elif kind == _IMAGE:
                images += 1
            elif kind == _FORM:
                images += self._form(item, rules, left, top)
        width, height = right - left, top - bottom
        kept = [r for r in rules if r.x1 - r.x0 < 0.99 * width and r.y1 - r.y0 < 0.99 * height]
        return merge(kept), images

    def _form(self, form: int, rules: list[Rule], left: float, top: float) -> int:
        matrix = self._matrix
        place = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        if native.object_matrix(form, byref(matrix)):
            place = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
        a, b, c, d, e, f = place
        images = 0
        for index in range(min(native.form_count(form), _MOST_OBJECTS)):
            item = native.form_object(form, index)
            kind = native.object_type(item)
            if kind == _PATH:
                self._path(item, rules, (a, b, c, d, e - left, f - top))
            elif kind == _IMAGE:
                images += 1
        return images

    def _path(self, path: int, rules: list[Rule], place: tuple[float, ...]) -> None:
        low_x, low_y, high_x, high_y = self._edges
        if not native.object_bounds(path, byref(low_x), byref(low_y), byref(high_x), byref(high_y)):
            return
        a, b, c, d, e, f = place
        xs = (a * low_x.value + c * low_y.value + e, a * high_x.value + c * high_y.value + e)
        ys = (-(b * low_x.value + d * low_y.value + f), -(b * high_x.value + d * high_y.value + f))
        x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
        width, height = x1 - x0, y1 - y0
        if width <= _THIN or height <= _THIN:
            if max(width, height) >= _SHORTEST:
                rules.append(Rule(x0, y0, x1, y1))
            return
        if width < _SHORTEST or height < _SHORTEST:
            return
        segments = native.count_segments(path)
        if segments <= 6:
            rules.append(Rule(x0, y0, x1, y0))
            rules.append(Rule(x0, y1, x1, y1))
            rules.append(Rule(x0, y0, x0, y1))
            rules.append(Rule(x1, y0, x1, y1))
        elif segments <= _MOST_POINTS:
            self._segments(path, segments, rules, place)

    def _segments(self, path: int, count: int, rules: list[Rule], place: tuple[float, ...]) -> None:
        """A grid drawn as one path: take its axis-parallel strokes."""
        matrix = self._matrix
        m = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        if native.object_matrix(path, byref(matrix)):
            m = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
        a, b, c, d, e, f = place
        at_x, at_y = self._edges[:2]
        before: tuple[float, float] | None = None
        for index in range(count):
            piece = native.segment(path, index)
            native.segment_point(piece, byref(at_x), byref(at_y))
            px, py = at_x.value, at_y.value
            px, py = m[0] * px + m[2] * py + m[4], m[1] * px + m[3] * py + m[5]
            point = (a * px + c * py + e, -(b * px + d * py + f))
            kind = native.segment_type(piece)
            if before is not None and kind == pdfium.FPDF_SEGMENT_LINETO:
                x0, x1 = sorted((before[0], point[0]))
                y0, y1 = sorted((before[1], point[1]))
                if min(x1 - x0, y1 - y0) <= 0.5 and max(x1 - x0, y1 - y0) >= _SHORTEST:
                    rules.append(Rule(x0, y0, x1, y1))
            before = point


class Fences:
    """The vertical rules of a page, looked up by the baseline of words that they may separate."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._standing = sorted((r.x0, r.y0, r.y1) for r in rules if not r.horizontal)
        # Drawings may consist of thousands of them.
        self._many = np.array(self._standing).T if len(self._standing) > _FEW else None
        self._rows: dict[float, list[float]] = {}

    def __bool__(self) -> bool:
        return bool(self._standing)

    def row(self, base: float, size: float) -> list[float]:
        """The positions of rules in the line of some words, from the left."""
        y = base - 0.3 * size
        row = self._rows.get(y)
        if row is None:
            if self._many is None:
                row = [x for x, top, bottom in self._standing if top <= y <= bottom]
            else:
                x, top, bottom = self._many
                row = x[(top <= y) & (y <= bottom)].tolist()
            self._rows[y] = row
        return row


def parted(row: list[float], x0: float, x1: float) -> bool:
    """Whether a rule is between two positions in its row, or almost."""
    at = bisect_left(row, x0 - _NEAR)
    return at < len(row) and row[at] <= x1 + _NEAR


def kept_apart(row: list[float], x0: float, x1: float) -> bool:
    """Whether a rule is in the gap between two words, if there is a noticeable one."""
    return x1 - x0 > _LEAST_GAP and parted(row, x0, x1)


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
        # An edge counts if it extends most of the way: a bar behind a heading beside a column is not a row.
        upright = _long([(r.x0, r.y1 - r.y0) for r in group if r.x1 == r.x0], 0.3 * (y1 - y0))
        level = _long([(r.y0, r.x1 - r.x0) for r in group if r.y1 == r.y0], 0.5 * (x1 - x0))
        xs = _distinct([x0, x1, *upright], 8.0)
        ys = _distinct([y0, y1, *level], 6.0)
        if len(xs) >= 3 and len(ys) >= 3:
            found.append((xs, ys))
    return found


def _long(pieces: list[tuple[float, float]], least: float) -> list[float]:
    """Where collinear pieces of rule add up to a minimum length."""
    lengths: dict[float, float] = {}
    for place, length in pieces:
        for other in (place - 1, place, place + 1):
            if other == place or other in lengths:
                lengths[other] = lengths.get(other, 0.0) + length
    return [place for place, length in lengths.items() if length >= least]


def merge(rules: list[Rule]) -> list[Rule]:
    """Rules drawn piece by piece, one for each cell, as whole ones."""
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
    """Sorted values, without those closer than ``apart`` to the previous one."""
    result: list[float] = []
    for value in sorted(values):
        if not result or value - result[-1] > apart:
            result.append(value)
    return result


# -- tables -----------------------------------------------------------------------------------------------------


_MOST_LINES_IN_CELL = 25
_EMPTIEST = 0.25


def take_tables(page: PageText) -> list[Table]:
    """Find the tables of a page and remove their lines from it."""
    tables: list[Table] = []
    loose = page.rules
    for xs, ys in grids(page.rules):
        lines = [line for line in page.lines if _inside(line, xs[0], ys[0], xs[-1], ys[-1])]
        if len(lines) < 2:
            continue
        if rows := _ruled(lines, xs, ys):
            _take(page, tables, lines, rows)
        loose = [
            r for r in loose if not (ys[0] - 3 <= r.y0 <= ys[-1] + 3 and xs[0] - 3 <= r.x0 <= xs[-1] + 3)
        ]
    for top, bottom, left, right in _between_rules(loose, page.width):
        lines = [line for line in page.lines if _inside(line, left - 4, top, right + 4, bottom)]
        if rows := _aligned(lines, 2):
            _take(page, tables, lines, rows)
    for lines in _aligned_runs(page):
        rows = _aligned(lines, 3)
        if rows and _looks_tabular(rows):
            _take(page, tables, lines, rows)
    return tables


def _take(page: PageText, tables: list[Table], lines: list[Line], rows: list[list[str]]) -> None:
    tables.append(
        Table(
            page.number,
            min(line.x0 for line in lines),
            max(line.x1 for line in lines),
            min(line.top for line in lines),
            max(line.bottom for line in lines),
            min(line.order for line in lines),
            rows,
        )
    )
    gone = {id(line) for line in lines}
    page.lines = [line for line in page.lines if id(line) not in gone]


def _inside(line: Line, x0: float, y0: float, x1: float, y1: float) -> bool:
    middle = line.base - 0.3 * line.size
    return y0 < middle < y1 and x0 - 2 < (line.x0 + line.x1) / 2 < x1 + 2


def _ruled(lines: list[Line], xs: list[float], ys: list[float]) -> list[list[str]] | None:
    """Put lines into the cells of a grid."""
    cells: dict[tuple[int, int], list[Line]] = {}
    for line in lines:
        middle = line.base - 0.3 * line.size
        row = sum(1 for y in ys[1:-1] if y < middle)
        # A cell's own line starts in it; what starts before the first inner rule is in the first column.
        column = sum(1 for x in xs[1:-1] if x < line.x0 + min(4.0, 0.3 * (line.x1 - line.x0)))
        cells.setdefault((row, column), []).append(line)
    if max(len(c) for c in cells.values()) > _MOST_LINES_IN_CELL:
        return None
    rows = []
    for row in range(len(ys) - 1):
        parts = [cells.get((row, column), []) for column in range(len(xs) - 1)]
        if len(ys) <= 3:
            rows.extend(_split_row(parts))
        else:
            rows.append([_cell(p) for p in parts])
    rows = [r for r in rows if any(r)]
    rows = _without_empty_columns(rows)
    filled = sum(1 for r in rows for c in r if c)
    if len(rows) < 2 or len(rows[0]) < 2 or filled < _EMPTIEST * len(rows) * len(rows[0]) or filled < 3:
        return None
    if len(lines) > 8 * filled:
        return None
    return rows


def _split_row(parts: list[list[Line]]) -> list[list[str]]:
    """One ruled band may contain many rows if only the header is ruled off: split where baselines agree."""
    full = [p for p in parts if p]
    counts = {len(p) for p in full}
    if len(full) >= 2 and len(counts) == 1 and (count := counts.pop()) >= 3:
        ordered = [sorted(p, key=lambda line: line.base) for p in full]
        if all(max(p[n].base for p in ordered) - min(p[n].base for p in ordered) < 3 for n in range(count)):
            by_row = [sorted(p, key=lambda line: line.base) for p in parts]
            return [[p[n].text if p else "" for p in by_row] for n in range(count)]
    return [[_cell(p) for p in parts]]


def _cell(lines: list[Line]) -> str:
    lines = sorted(lines, key=lambda line: (round(line.base), line.x0))
    text = " ".join(line.text for line in lines)
    return text.replace(HYPHEN + " ", "").replace(HYPHEN, "-")


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    if not rows:
        return rows
    keep = [n for n in range(len(rows[0])) if any(r[n] for r in rows)]
    return [[r[n] for n in keep] for r in rows]


def _between_rules(rules: list[Rule], page_width: float) -> list[tuple[float, float, float, float]]:
    """Areas between horizontal rules of one width: tables ruled only above, below and under the header."""
    groups: dict[tuple[int, int], list[float]] = {}
    for rule in rules:
        if rule.horizontal and rule.x1 - rule.x0 > 0.25 * page_width:
            groups.setdefault((round(rule.x0 / 6), round(rule.x1 / 6)), []).append(rule.y0)
    found = []
    for (left, right), ys in groups.items():
        ys = sorted(set(ys))
        if len(ys) >= 3 and ys[-1] - ys[0] > 20:
            found.append((ys[0], ys[-1], left * 6.0, right * 6.0))
    return found


def _row_groups(lines: list[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.base, line.x0)):
        if rows and abs(rows[-1][0].base - line.base) < 0.3 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _aligned(lines: list[Line], least: int) -> list[list[str]] | None:
    """Cells from lines in columns with clear space between them."""
    groups = _row_groups(lines)
    several = [g for g in groups if len(g) >= 2]
    if len(several) < 2 or len(several) < 0.5 * len(groups):
        return None
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    spans = sorted((line.x0, line.x1) for g in several for line in g if line.x1 - line.x0 < 0.6 * width)
    if not spans:
        return None
    columns = [list(spans[0])]
    for x0, x1 in spans[1:]:
        if x0 > columns[-1][1] + 4:
            columns.append([x0, x1])
        else:
            columns[-1][1] = max(columns[-1][1], x1)
    if len(columns) < least:
        return None
    rows: list[list[str]] = []
    last_base = 0.0
    for group in groups:
        row = [""] * len(columns)
        for line in sorted(group, key=lambda line: line.x0):
            column = max((n for n, c in enumerate(columns) if line.x0 >= c[0] - 3), default=0)
            row[column] = f"{row[column]} {line.text}".strip()
        near = group[0].base - last_base < 1.6 * group[0].size
        if rows and not row[0] and near and sum(1 for c in row if c) < len(columns):
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
        last_base = group[0].base
    filled = sum(1 for r in rows for c in r if c)
    if len(rows) < 2 or len(lines) > 60 * len(columns) or filled < 0.5 * len(rows) * len(columns):
        return None
    return [[c.replace(HYPHEN + " ", "").replace(HYPHEN, "-") for c in r] for r in rows]


def _aligned_runs(page: PageText) -> list[list[Line]]:
    """Runs of at least three rows that each have three or more cells."""
    if len(page.lines) < 9:
        return []
    runs: list[list[Line]] = []
    current: list[Line] = []
    rows = 0
    last = 0.0
    for group in _row_groups(page.lines):
        near = not current or group[0].base - last < 3 * group[0].size
        if len(group) >= 3 and near:
            current.extend(group)
            rows += 1
        else:
            if rows >= 3:
                runs.append(current)
            current, rows = (list(group), 1) if len(group) >= 3 else ([], 0)
        last = group[0].base
    if rows >= 3:
        runs.append(current)
    return runs


def _looks_tabular(rows: list[list[str]]) -> bool:
    """Short cells or figures; columns of prose have neither."""
    cells = [c for r in rows for c in r if c]
    short = sum(1 for c in cells if len(c) <= 14 or any(ch.isdigit() for ch in c))
    return sum(map(len, cells)) < 28 * len(cells) and short >= 0.5 * len(cells)
