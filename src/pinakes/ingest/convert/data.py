"""JSON, JSON Lines, YAML and XML as text that can be read and searched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pinakes.errors import ConversionError
from pinakes.ingest.convert.text import read_text
from pinakes.model.document import Converted

_MAX_DEPTH = 60
_MAX_LINES = 500_000
_TITLES = ("title", "name", "heading", "id")


def convert_json(path: Path) -> Converted:
    """JSON as an indented outline of its keys and values."""
    decoded = read_text(path)
    try:
        value = json.loads(decoded.text)
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"is not valid JSON: {error}") from error
    return _converted(_outline(value, 0), decoded.warnings)


def convert_jsonl(path: Path) -> Converted:
    """JSON Lines: one section a record, under its title or its number."""
    decoded = read_text(path)
    lines: list[str] = []
    bad = 0
    for number, line in enumerate(decoded.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            bad += 1
            continue
        title = (
            next((record[key] for key in _TITLES if record.get(key)), "") if isinstance(record, dict) else ""
        )
        lines += ["", f"## {' '.join(str(title).split()) or f'Record {number}'}", "", *_outline(record, 0)]
        if len(lines) > _MAX_LINES:
            break
    if bad and not lines:
        raise ConversionError("is not valid JSON Lines")
    warnings = (
        (*decoded.warnings, f"{bad} lines are not valid JSON and were left out") if bad else decoded.warnings
    )
    return _converted(iter(lines), warnings)


def convert_yaml(path: Path) -> Converted:
    """YAML reads well as it is; it is only checked for being text."""
    decoded = read_text(path)
    return Converted(decoded.text, markdown=False, warnings=decoded.warnings)


def convert_xml(path: Path) -> Converted:
    """XML: the text of its elements, a paragraph each, with the element names of short values."""
    from pinakes.ingest.convert.zips import parse_xml

    root = parse_xml(path.read_bytes(), "it")
    lines: list[str] = []
    stack = [root]
    while stack and len(lines) < _MAX_LINES:
        element = stack.pop()
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2]
        mixed = len(element) and any((child.tail or "").strip() for child in element)
        if mixed or not len(element):
            text = " ".join("".join(element.itertext()).split())
            if text:
                lines += [f"{name}: {text}" if len(text) < 80 and not mixed else text, ""]
            continue
        if text := " ".join((element.text or "").split()):
            lines += [text, ""]
        stack.extend(reversed(element))
    return Converted("\n".join(lines), markdown=False)


def _converted(lines: Iterator[str], warnings: tuple[str, ...]) -> Converted:
    kept: list[str] = []
    for line in lines:
        if len(kept) >= _MAX_LINES:
            warnings = (*warnings, f"the file was cut after {_MAX_LINES:,} values")
            break
        kept.append(line)
    return Converted("\n".join(kept).strip("\n") + "\n" if kept else "", warnings=warnings)


def _outline(value: Any, depth: int) -> Iterator[str]:
    """``- key: value`` lines, nested values indented below their key."""
    if depth > _MAX_DEPTH:
        raise ConversionError("nests its values too deeply to be read")
    indent = "  " * depth
    if isinstance(value, dict):
        pairs: Iterator[tuple[str, Any]] = ((f"{key}:", item) for key, item in value.items())
    elif isinstance(value, list):
        pairs = (("", item) for item in value)
    else:
        yield f"{indent}{_scalar(value)}"
        return
    for label, item in pairs:
        if isinstance(item, (dict, list)) and item:
            if isinstance(item, list) and all(not isinstance(part, (dict, list)) for part in item):
                yield f"{indent}- {label} {', '.join(map(_scalar, item))}".replace("-  ", "- ")
                continue
            yield f"{indent}- {label or '·'}"
            yield from _outline(item, depth + 1)
        else:
            yield f"{indent}- {label} {_scalar(item)}".replace("-  ", "- ").rstrip()


def _scalar(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(value).split())
