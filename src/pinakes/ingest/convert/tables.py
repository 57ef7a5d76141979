"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence


def cell_text(value: str) -> str:
    """A value on one line, with nothing in it that would end the cell."""
    return " ".join(value.split()).replace("|", "\\|")


def trim(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows without empty rows, and without the empty columns at both edges and between."""
    kept = [list(row) for row in rows if any(value.strip() for value in row)]
    width = max(map(len, kept), default=0)
    used = [any(len(row) > column and row[column].strip() for row in kept) for column in range(width)]
    return [
        [row[column] if column < len(row) else "" for column in range(width) if used[column]] for row in kept
    ]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the header; empty when there are no rows."""
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = []
    for row in rows:
        cells = [cell_text(value) for value in row] + [""] * (width - len(row))
        lines.append(f"| {' | '.join(cells)} |")
    lines.insert(1, f"|{' --- |' * width}")
    return "\n".join(lines) + "\n"
