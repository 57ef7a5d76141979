"""Definitions of search indexes: what Atlas takes, as far as the double knows it."""

from __future__ import annotations

from tests.index.providers.mongo_double_table import Document, RefusalError

_MOST_DIMENSIONS = 8192
_ANALYZERS = {"lucene.whitespace"}
_STRING = {"type", "analyzer", "searchAnalyzer", "indexOptions", "store", "norms"}


def check_definition(index: Document) -> None:
    """Refuse a definition that the service would refuse."""
    if index.keys() - {"name", "definition", "type"}:
        raise _invalid("unknown field beside name, definition and type")
    definition = index["definition"]
    if index.get("type", "search") == "vectorSearch":
        if definition.keys() != {"fields"}:
            raise _invalid('"definition" must have "fields" only')
        for field in definition["fields"]:
            _check_field(field)
    elif index.get("type", "search") == "search":
        if definition.keys() - {"mappings", "storedSource"} or "mappings" not in definition:
            raise _invalid('"definition" must have "mappings"')
        for field in definition["mappings"].get("fields", {}).values():
            _check_mapping(field)
    else:
        raise _invalid('"type" must be search or vectorSearch')


def _check_field(field: Document) -> None:
    if field.get("type") == "filter" and field.keys() == {"type", "path"}:
        return
    if field.get("type") != "vector" or field.keys() - {
        "type",
        "path",
        "numDimensions",
        "similarity",
        "quantization",
    }:
        raise _invalid("unknown kind of field, or unknown attribute of it")
    if not 1 <= field["numDimensions"] <= _MOST_DIMENSIONS:
        raise _invalid(f'"numDimensions" must be between 1 and {_MOST_DIMENSIONS}')
    if field["similarity"] not in ("cosine", "dotProduct", "euclidean"):
        raise _invalid('"similarity" must be cosine, dotProduct or euclidean')
    if field.get("quantization", "none") not in ("none", "scalar", "binary"):
        raise _invalid('"quantization" must be none, scalar or binary')


def _check_mapping(field: Document) -> None:
    if field == {"type": "token"}:
        return
    if field.get("type") != "string" or field.keys() - _STRING:
        raise _invalid("unknown type of field, or unknown attribute of it")
    if field.get("analyzer") not in _ANALYZERS or field.get("searchAnalyzer") not in _ANALYZERS:
        raise _invalid("the double knows lucene.whitespace only")
    if field.get("indexOptions", "offsets") not in ("docs", "freqs", "positions", "offsets"):
        raise _invalid('"indexOptions" must be docs, freqs, positions or offsets')


def filter_paths(definition: Document) -> set[str]:
    """Return the fields that a vector search may filter by."""
    return {field["path"] for field in definition.get("fields", []) if field["type"] == "filter"}


def token_paths(definition: Document) -> set[str]:
    """Return the fields that a text search may filter by."""
    fields = definition.get("mappings", {}).get("fields", {})
    return {path for path, field in fields.items() if field["type"] == "token"}


def _invalid(text: str) -> RefusalError:
    return RefusalError(2, "BadValue", f"Invalid index definition: {text}")
