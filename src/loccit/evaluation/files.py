"""Reads the small files of an evaluation set; what is wrong is said with file and line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loccit.errors import UsageError

Row = dict[str, Any]


def wrong(path: Path, line: int, what: str) -> UsageError:
    """Return the error for one line of a file."""
    return UsageError(f"{path}, line {line}: {what}")


def read_lines(path: Path) -> list[tuple[int, str]]:
    """Return the non-blank lines of a text, each with its number."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path} is missing.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong(path, data.count(b"\n", 0, error.start) + 1, "is not UTF-8.") from None
    # Not splitlines: JSON text may contain other characters that end lines.
    lines = enumerate(text.split("\n"), 1)
    return [(number, line.rstrip("\r")) for number, line in lines if line.strip()]


def read_jsonl(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield each object of a JSON Lines file with its line number."""
    for number, line in read_lines(path):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            reason = getattr(error, "msg", "nested too deeply")
            raise wrong(path, number, f"is not JSON ({reason}).") from None
        if not isinstance(row, dict):
            raise wrong(path, number, 'is not a JSON object, such as {"id": "1", "text": "…"}.')
        yield number, row


def read_tsv(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table whose first line names the columns, in any order."""
    lines = read_lines(path)
    if not lines:
        raise UsageError(f"{path} is empty; its first line names the columns: {', '.join(columns)}.")
    head = [name.strip() for name in lines[0][1].split("\t")]
    missing = [name for name in columns if name not in head]
    if missing:
        raise wrong(
            path,
            lines[0][0],
            f"the first line must name the columns {', '.join(columns)}, with tabs between them; "
            f"{', '.join(missing)} is missing.",
        )
    for number, line in lines[1:]:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(head):
            raise wrong(path, number, f"has {len(cells)} columns where the first line names {len(head)}.")
        yield number, dict(zip(head, cells, strict=True))


def text_of(path: Path, number: int, row: Row, name: str, *, default: str | None = None) -> str:
    """Return a text field of a row; a number is accepted as an id."""
    value = row.get(name, row.get(f"_{name}"))
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise wrong(path, number, f"has no {name!r}." if value is None else f"{name!r} is not a text.")
    return str(value)


def filled(path: Path, number: int, row: Row, name: str) -> str:
    """Return a text field of a row that must not be empty."""
    value = text_of(path, number, row, name)
    if not value.strip():
        raise wrong(path, number, f"{name!r} is empty.")
    return value


def number_of(path: Path, line: int, row: dict[str, str], name: str) -> float:
    """Return a number from a table."""
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise wrong(path, line, f"the {name} {row[name]!r} is not a number.")
    return value


def offset_of(path: Path, line: int, row: dict[str, str], name: str) -> int:
    """Return a character offset from a table."""
    value = number_of(path, line, row, name)
    if value < 0 or value != int(value):
        raise wrong(path, line, f"the {name} {row[name]!r} is not a character offset.")
    return int(value)
