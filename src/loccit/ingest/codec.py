"""Codec: a parsed document as JSON values and back, to pass it from a worker process to the pipeline."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import Any

from loccit.model import (
    Amount,
    Chunk,
    ChunkType,
    Deadline,
    Definition,
    Document,
    Lines,
    LineStart,
    Link,
    Obligation,
    Pages,
    PageStart,
    ParsedDocument,
    Passage,
    Place,
    Reference,
    SelfCheck,
)

_PARTS: dict[str, type[Any]] = {
    "places": Place,
    "chunks": Chunk,
    "definitions": Definition,
    "references": Reference,
    "links": Link,
    "obligations": Obligation,
}


def _given(kind: Any) -> list[str]:
    """Return the fields of an entity that do not follow from others."""
    return [item.name for item in fields(kind) if item.init]


def _values(entity: Any) -> list[Any]:
    return [_plain(getattr(entity, name)) for name in _given(entity)]


def _plain(value: Any) -> Any:
    if isinstance(value, ChunkType):
        return value.value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (SelfCheck, Deadline, Amount)):
        return list(astuple(value))
    if isinstance(value, Passage):
        return [value.start, value.end, value.text_hash]
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def clean(text: str) -> str:
    """Replace lone surrogates and NUL characters, which some converters let through.

    No database accepts the former, and SQLite ends a text at the latter. Lengths stay the same.
    """
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def encode(parsed: ParsedDocument) -> dict[str, Any]:
    """Return JSON values: each entity as the list of its fields."""
    data: dict[str, Any] = {"document": _values(parsed.document)}
    for name in _PARTS:
        data[name] = [_values(entity) for entity in getattr(parsed, name)]
    return data


def decode(data: dict[str, Any]) -> ParsedDocument:
    """Rebuild a parsed document from :func:`encode`'s values."""
    return ParsedDocument(
        document=_build(Document, data["document"]),
        **{name: tuple(_build(kind, row) for row in data[name]) for name, kind in _PARTS.items()},
    )


def _build(kind: type[Any], row: list[Any]) -> Any:
    values = {}
    for name, value in zip(_given(kind), row, strict=True):
        if name == "lines":
            value = Lines(*value) if value is not None else None
        elif name == "line_starts":
            value = tuple(LineStart(*start) for start in value)
        elif name == "self_check":
            value = SelfCheck(*value)
        elif name == "pages" and kind is Document:
            value = tuple(PageStart(*page) for page in value)
        elif name == "pages":
            value = Pages(*value) if value else None
        elif name == "deadlines":
            value = tuple(Deadline(*deadline) for deadline in value)
        elif name == "amounts":
            value = tuple(Amount(*amount) for amount in value)
        elif name == "passages":
            value = tuple(Passage(*passage) for passage in value)
        elif name == "chunk_type":
            value = ChunkType(value)
        elif isinstance(value, list):
            value = tuple(value)
        values[name] = value
    return kind(**values)
