"""Tables: from ruling lines where they are drawn, else from cells that line up over several rows."""

from __future__ import annotations

from dataclasses import dataclass

from .grid import grids
from .page import HYPHEN, Line, PageText, Rule

_MOST_LINES_IN_CELL = 25
_EMPTIEST = 0.25


@dataclass(slots=True)
class Table:
    """A table's cells, row by row, and where it stands."""

    page: int
    x0: float
    x1: float
    top: float
    bottom: float
    order: int
    rows: list[list[str]]


def take_tables(page: PageText) -> list[Table]:
    """Find the tables of a page and take their lines out of it."""
    tables: list[Table] = []
    loose = page.rules
    for xs, ys in grids(page.rules):
        lines = [line for line in page.lines if _inside(line, xs[0], ys[0], xs[-1], ys[-1])]
        if len(lines) < 2:
            continue
        rows = _ruled(lines, xs, ys)
        if rows:
            _take(page, tables, lines, rows)
        loose = [
            r for r in loose if not (ys[0] - 3 <= r.y0 <= ys[-1] + 3 and xs[0] - 3 <= r.x0 <= xs[-1] + 3)
        ]
    for top, bottom, left, right in _between_rules(loose, page.width):
        lines = [line for line in page.lines if _inside(line, left - 4, top, right + 4, bottom)]
        rows = _aligned(lines, 2)
        if rows:
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
    """One ruled band may hold many rows when only the head is ruled off: split where baselines agree."""
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
    """Stretches between horizontal rules of one width: tables ruled only above, below and under the head."""
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
    """Cells from lines that stand in columns with clear space between them."""
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
