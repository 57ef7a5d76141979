"""Jupyter notebooks: Markdown cells as they are, code cells as fenced code, text output below them.

Lines are those of the file, in which each line of a cell usually has its own line. The first line of each cell is kept,
so that results can name their cells.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loccit.errors import ConversionError
from loccit.model.document import CELLS, Converted, write_cells
from loccit.read.text import read_text
from loccit.read.written import Written

_MAX_OUTPUT = 2000
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)

# A line of a cell, and its number in the file.
Numbered = tuple[int, str]


def convert_ipynb(path: Path) -> Converted:
    """Convert a notebook."""
    decoded = read_text(path)
    out = Written()
    try:
        notebook = _with_lines(decoded.text, json.loads(decoded.text))
        cells = notebook.get("cells")
        if cells is None:
            # Before version 4 the cells were in worksheets.
            cells = [cell for sheet in notebook.get("worksheets", []) for cell in sheet.get("cells", [])]
        metadata = notebook.get("metadata") or {}
        language = (metadata.get("language_info") or {}).get("name") or "python"
        starts: dict[int, int] = {}
        for number, cell in enumerate(cells, start=1):
            if line := _cell(cell, str(language), out):
                starts[number] = line
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ConversionError(f"is not a valid notebook: {error}") from error
    title = metadata["title"] if isinstance(metadata.get("title"), str) else ""
    found = out.result()
    return Converted(
        found.text,
        metadata={**({"title": title} if title else {}), **_noted(starts)},
        warnings=decoded.warnings,
        line_starts=found.line_starts,
    )


def _noted(starts: dict[int, int]) -> dict[str, str]:
    """The start of each cell, unless the whole notebook is on one line."""
    return (
        {CELLS: write_cells(starts)}
        if len(set(starts.values())) > 1 or max(starts.values(), default=1) > 1
        else {}
    )


class _Text(str):
    """A string of the notebook, and the line of the file on which it begins."""

    line: int = 1


def _located(value: Any, lines: Iterator[int]) -> Any:
    """The same value with strings that know their lines, which are given in the order of the file."""
    if isinstance(value, str):
        text = _Text(value)
        text.line = next(lines)
        return text
    if isinstance(value, list):
        return [_located(item, lines) for item in value]
    if isinstance(value, dict):
        located = {}
        for name, item in value.items():
            next(lines)
            located[name] = _located(item, lines)
        return located
    return value


def _with_lines(text: str, notebook: Any) -> Any:
    line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
    strings = [bisect_right(line_starts, found.start()) for found in _STRING.finditer(text)]
    lines = iter(strings)
    try:
        located = _located(notebook, lines)
    except (StopIteration, RuntimeError):
        return notebook
    # A key that occurs twice in one object is parsed once, so the lines are unknown.
    return located if next(lines, None) is None else notebook


def _lines(holder: dict[str, Any], name: str) -> list[Numbered]:
    """The lines of a text, which is a string or a list of strings."""
    value = holder.get(name) or ""
    found: list[Numbered] = []
    for piece in [value] if isinstance(value, str) else value:
        line = piece.line if isinstance(piece, _Text) else 1
        first, *more = piece.split("\n")
        if found and not found[-1][1]:
            found[-1] = (line, first)
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + first)
        else:
            found.append((line, first))
        found += [(line, part) for part in more]
    return found


def _cell(cell: dict[str, Any], language: str, out: Written) -> int:
    """Write a cell; return the line on which it begins, 0 for an empty one."""
    kind = cell.get("cell_type")
    source = _stripped(_lines(cell, "source") or _lines(cell, "input"))
    if not source:
        return 0
    if kind == "heading":
        out.heading(source[0][0], int(cell.get("level", 1)), " ".join(text for _, text in source))
    elif kind == "markdown":
        for line, text in source:
            out.add(line, text)
    else:
        out.fenced(source, source[0][0], source[-1][0], language if kind == "code" else "")
        for output in cell.get("outputs") or []:
            data = output.get("data") or {}
            shown = _stripped(_cut(_lines(output, "text") or _lines(data, "text/plain")))
            if shown and not shown[0][1].startswith("<"):
                out.add(shown[0][0], "")
                out.fenced(shown, shown[0][0], shown[-1][0])
    out.add(source[-1][0], "")
    return source[0][0]


def _cut(lines: list[Numbered]) -> list[Numbered]:
    room = _MAX_OUTPUT
    kept: list[Numbered] = []
    for line, text in lines:
        if room <= 0:
            break
        kept.append((line, text[:room]))
        room -= len(text) + 1
    return kept


def _stripped(lines: list[Numbered]) -> list[Numbered]:
    while lines and not lines[-1][1].strip():
        lines.pop()
    first = next((number for number, (_, text) in enumerate(lines) if text.strip()), 0)
    return lines[first:]
