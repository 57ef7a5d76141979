"""Codec: a parsed document as JSON values and back, for the way from a worker process to the pipeline."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pinakes.model import (
    Chunk,
    ChunkType,
    Definition,
    Document,
    Lines,
    Link,
    Pages,
    PageStart,
    ParsedDocument,
    Passage,
    Reference,
    Section,
)

_PARTS: dict[str, type[Any]] = {
    "sections": Section,
    "chunks": Chunk,
    "definitions": Definition,
    "references": Reference,
    "links": Link,
}


def _values(entity: Any) -> list[Any]:
    return [_plain(getattr(entity, item.name)) for item in fields(entity)]


def _plain(value: Any) -> Any:
    if isinstance(value, ChunkType):
        return value.value
    if isinstance(value, tuple) and value and isinstance(value[0], Passage):
        return [[p.start, p.end, p.text_hash] for p in value]
    return _clean(value) if isinstance(value, str) else value


def _clean(text: str) -> str:
    """Replace lone surrogates, which some converters let through and no database takes."""
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
    for item, value in zip(fields(kind), row, strict=True):
        if item.name == "lines":
            value = Lines(*value)
        elif item.name == "pages" and kind is Document:
            value = tuple(PageStart(*page) for page in value)
        elif item.name == "pages":
            value = Pages(*value) if value else None
        elif item.name == "passages":
            value = tuple(Passage(*passage) for passage in value)
        elif item.name == "chunk_type":
            value = ChunkType(value)
        elif isinstance(value, list):
            value = tuple(value)
        values[item.name] = value
    return kind(**values)
