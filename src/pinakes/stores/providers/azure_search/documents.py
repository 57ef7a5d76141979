"""Points, entries, filters and words as Azure AI Search takes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pinakes.stores.providers.azure_search.schema import POINT_FIELDS
from pinakes.stores.store import Point

BATCH = 1_000
# A request may have 16 MB; smaller ones are stored sooner.
_BATCH_BYTES = 8_000_000
# 3,000 clauses and 100,000 characters are allowed, and 32,766 bytes for a word.
_CLAUSES = 1_000
_QUERY = 90_000
_WORD = 8_000


def document_of(point: Point) -> dict[str, Any]:
    """Return a point as a document to upload."""
    # Names of files may hold what is no text; nothing but text can be sent.
    fields = {name: getattr(point, name).encode("utf-8", "replace").decode() for name in POINT_FIELDS}
    # Seven digits are what such a number holds; written out, it would be three times as long.
    vector = None if point.vector is None else point.vector.astype(np.float64).round(8).tolist()
    return {"id": point.id, **fields, "vector": vector}


def point_of(found: Mapping[str, Any]) -> Point:
    """Return a document as the point it is; the document it is of is in its id."""
    fields = {name: found.get(name) or "" for name in POINT_FIELDS}
    fields["document"] = fields["document"] or found["id"].replace("-", "")[:16]
    vector = found.get("vector")
    return Point(found["id"], vector=np.asarray(vector, np.float32) if vector else None, **fields)


def equal(field: str, value: str) -> str:
    """Return the filter for a value.

    >>> equal("kind", "it's")
    "kind eq 'it''s'"
    """
    return f"{field} eq '{_quoted(value)}'"


def behind(field: str, value: str) -> str:
    """Return the filter for all values after one."""
    return f"{field} gt '{_quoted(value)}'"


def one_of(field: str, values: Collection[str]) -> str:
    """Return the filter for some values, none of which has a comma in it."""
    return f"search.in({field}, '{_quoted(','.join(values))}', ',')"


def _quoted(value: str) -> str:
    return value.replace("'", "''")


def query_words(terms: Sequence[str]) -> str:
    r"""Return a query of words that are nothing but words; one with a space in it is none of ours.

    >>> query_words(["a-b", 'say"', "no word", "+x"])
    '"a-b" "say\\"" "+x"'
    """
    words: list[str] = []
    room = _QUERY
    for term in dict.fromkeys(terms):
        escaped = term.replace("\\", "\\\\").replace('"', '\\"')
        room -= len(escaped) + 3
        if room < 0 or len(words) == _CLAUSES:
            break
        if len(term.split()) == 1 and len(term) <= _WORD:
            words.append(f'"{escaped}"')
    return " ".join(words)


def batches(actions: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Return the bodies of requests that store and delete documents, each of a size that the service takes."""
    batch: list[bytes] = []
    size = 0
    for action in actions:
        line = json.dumps(action, ensure_ascii=False, separators=(",", ":")).encode()
        if batch and (len(batch) == BATCH or size + len(line) > _BATCH_BYTES):
            yield _body(batch)
            batch, size = [], 0
        batch.append(line)
        size += len(line) + 1
    if batch:
        yield _body(batch)


def _body(lines: Sequence[bytes]) -> bytes:
    return b'{"value":[' + b",".join(lines) + b"]}"
