"""Filters: which documents a search may look into."""

from __future__ import annotations

import fnmatch
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from pathlib import PurePath
from typing import Any

from pinakes.errors import UsageError

_DATE_FIELDS = ("modified", "date", "updated", "created")


def allowed_documents(rows: Iterable[sqlite3.Row], filters: Mapping[str, object]) -> set[int]:
    """Return the ids of the documents that pass every filter."""
    if not isinstance(filters, Mapping):
        raise UsageError("filters must be a mapping of names to values, such as {'type': 'pdf'}.")
    tests = [_test(name, value) for name, value in filters.items()]
    return {int(row["id"]) for row in rows if all(test(row) for test in tests)}


def _test(name: str, value: object) -> Callable[[sqlite3.Row], bool]:
    wanted = (
        [str(item) for item in value] if isinstance(value, (list, tuple, set, frozenset)) else [str(value)]
    )
    if not wanted or not all(item.strip() for item in wanted):
        raise UsageError(f"The filter {name!r} has no value; write it as {name}=VALUE.")
    if name == "path":
        return lambda row: any(_path_matches(row["source_path"], item) for item in wanted)
    if name in ("type", "file_type"):
        types = {"." + item.lower().lstrip(".") for item in wanted}
        return lambda row: row["file_type"].lower() in types
    if name in ("language", "lang"):
        return lambda row: row["language"] in {item.lower() for item in wanted}
    if name in ("after", "before"):
        bound = parse_date(wanted[0])
        if bound is None:
            raise UsageError(f"{wanted[0]!r} is not a date; write it as 2025-01-31.")
        return lambda row: (document_date(row) >= bound) if name == "after" else (document_date(row) < bound)
    if name == "title":
        return lambda row: any(item.casefold() in row["title"].casefold() for item in wanted)
    return lambda row: _field_matches(json.loads(row["metadata"]).get(name), wanted)


def _path_matches(path: str, pattern: str) -> bool:
    """Match a glob against the whole path or its end, or a plain text as folder or file name."""
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"*/{pattern.lstrip('/')}")
    wanted = PurePath(pattern).parts
    if not wanted:
        return True
    parts = PurePath(path).parts
    if PurePath(pattern).is_absolute():
        return parts[: len(wanted)] == wanted
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts)))


def _field_matches(value: Any, wanted: list[str]) -> bool:
    if value is None:
        return False
    values = value if isinstance(value, list) else [value]
    have = {_text(item) for item in values}
    return any(item.casefold() in have for item in wanted)


def _text(value: Any) -> str:
    return str(value).casefold() if not isinstance(value, bool) else str(value).lower()


def document_date(row: sqlite3.Row) -> datetime:
    """Return the date a document gives itself, or that of its file."""
    metadata = json.loads(row["metadata"])
    for name in _DATE_FIELDS:
        date = parse_date(str(metadata.get(name) or ""))
        if date:
            return date
    return datetime.fromtimestamp(row["mtime_ns"] / 1e9, tz=timezone.utc)


def parse_date(text: str) -> datetime | None:
    """Read an ISO date or time; a time without zone is taken as UTC."""
    text = text.strip().replace("Z", "+00:00")
    for candidate in (text, f"{text}-01", f"{text}-01-01"):
        try:
            date = datetime.fromisoformat(candidate)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    return None
