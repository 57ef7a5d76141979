"""JSON Schemas of what the tools answer, made from the dataclasses of the results."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pinakes.model import (
    DefineResponse,
    DocumentInfo,
    IndexReport,
    Outline,
    ReferencesResponse,
    SearchResponse,
    SectionView,
    Status,
)

_TRUNCATED = {"type": "boolean", "description": "Whether the token budget cut the answer."}
_TOOL = {"type": "string", "description": "The tool whose library answered, where there are several."}


def _of(kind: Any) -> dict[str, Any]:
    """Return the schema of a result. Nothing is required, because what is empty is left out."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(kind).json_schema(mode="serialization")
    _plain(schema)
    return schema


def _plain(node: Any) -> None:
    """Take out what only a Python reader needs: titles, defaults, docstrings, required fields."""
    if isinstance(node, list):
        for item in node:
            _plain(item)
        return
    if not isinstance(node, dict):
        return
    for name in ("title", "default", "required", "description"):
        if name in node and not isinstance(node[name], dict):
            del node[name]
    for item in list(node.values()):
        _plain(item)


def _with(schema: dict[str, Any], *required: str, **properties: Any) -> dict[str, Any]:
    more = {"truncated": _TRUNCATED, "tool": _TOOL, **properties}
    return {**schema, "properties": {**schema["properties"], **more}, "required": list(required)}


def _list_of(name: str, kind: Any, **properties: Any) -> dict[str, Any]:
    schema = _of(list[kind])
    items = {"type": "array", "items": schema.pop("items")}
    whole = {
        "type": "object",
        "properties": {name: items},
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }
    return _with(whole, name, **properties)


@lru_cache(maxsize=16)
def output_schema(tool: str) -> dict[str, Any]:
    """Return the schema of a tool's structured answer; a tool of another name is a search."""
    total = {"type": "integer", "description": "How many there are in all."}
    if tool == "read_section":
        return _with(
            _of(SectionView),
            *("source_path", "text", "truncated"),
            location={"type": "string"},
            offset={
                "type": "integer",
                "description": "Where in the section this text begins, in characters.",
            },
            next_offset={"type": "integer", "description": "Where to read on; absent when nothing is left."},
        )
    if tool == "define_term":
        return _with(_of(DefineResponse), "term", "definitions", conflict={"type": "boolean"})
    if tool == "list_outline":
        return _list_of("outlines", Outline, total=total)
    if tool == "follow_references":
        return _with(_of(ReferencesResponse), "section", "cites", "cited_by")
    if tool == "list_documents":
        following = {"type": "integer", "description": "Where to go on; absent when nothing is left."}
        return _list_of("documents", DocumentInfo, total=total, next_offset=following)
    if tool == "index_status":
        return _list_of("indexes", Status)
    if tool == "index_documents":
        return _with(_of(IndexReport))
    schema = _with(
        _of(SearchResponse),
        *("query", "results", "confidence", "truncated"),
        notice={"type": "string", "description": "How to take the contents of the results."},
    )
    results = schema["$defs"]["SearchResult"]["properties"]
    results["location"] = {"type": "string", "description": "Where it stands, as a citation would say it."}
    results["uri"] = {"type": "string", "description": "The resource that holds the whole section."}
    return schema
