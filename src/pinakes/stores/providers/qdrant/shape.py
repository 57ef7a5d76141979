"""How passages and entries look in Qdrant.

A passage has a dense vector and, where it carries the words of its chunk, a sparse one. The sparse one holds the
part of BM25 that is known when it is written, the saturated frequency of each word; how rare a word is the server
adds when it searches. A word is a number there: a hash of it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from qdrant_client import models

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError
from pinakes.stores.shared.ids import PointId
from pinakes.stores.store import Entry, Point

DENSE = "passage"
SPARSE = "terms"
# Of BM25: how soon repeating a word stops to help, and how much a long chunk is held against it.
_K1 = 1.2
_B = 0.75
_TEXTS = ("terms", "source_path", "heading", "language", "file_type", "text")


def frequencies(terms: str, average: int) -> models.SparseVector:
    """Return the words of a chunk, each with its frequency as BM25 counts it."""
    words = terms.split()
    weigh_down = _K1 * (1 - _B + _B * len(words) / average)
    values: dict[int, float] = {}
    for word, count in Counter(words).items():
        number = word_number(word)
        values[number] = values.get(number, 0.0) + round(count * (_K1 + 1) / (count + weigh_down), 5)
    return models.SparseVector(indices=list(values), values=list(values.values()))


def asked(terms: Sequence[str]) -> models.SparseVector:
    """Return the words of a query."""
    counts = Counter(word_number(word) for word in terms)
    return models.SparseVector(indices=list(counts), values=[float(count) for count in counts.values()])


def word_number(word: str) -> int:
    """Return the dimension of a word."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big")


def plain(vector: Vectors) -> list[float]:
    """Return a vector as it is sent: seven digits are all that its numbers have, and half as many bytes."""
    rounded: list[float] = np.round(np.asarray(vector, np.float64), 8).tolist()
    return rounded


def to_struct(point: Point, average: int) -> models.PointStruct:
    """Return a passage as Qdrant takes it."""
    vectors: dict[str, Any] = {}
    if point.vector is not None:
        vectors[DENSE] = plain(point.vector)
    if point.terms.strip():
        vectors[SPARSE] = frequencies(point.terms, average)
    payload = {"document": point.document, **{name: getattr(point, name) for name in _TEXTS}}
    return models.PointStruct(id=point.id, vector=vectors, payload=payload)


def to_point(record: models.Record) -> Point:
    """Read what Qdrant returns for a passage; its document is in its id where nothing else was asked for."""
    payload = record.payload or {}
    vectors = record.vector if isinstance(record.vector, dict) else {}
    dense = vectors.get(DENSE)
    return Point(
        str(record.id),
        payload.get("document") or PointId.parse(str(record.id)).document,
        None if dense is None else np.asarray(dense, np.float32),
        *(payload.get(name) or "" for name in _TEXTS),
    )


def entry_id(key: str) -> str:
    """Return the id of an entry; Qdrant takes UUIDs and numbers only."""
    return str(uuid.UUID(bytes=sha256(key.encode()).digest()[:16]))


def entry_struct(entry: Entry, mark: str, past: Sequence[str] = ()) -> models.PointStruct:
    """Return an entry as Qdrant takes it. Every writing of it has a mark, and knows those before it."""
    payload = {**entry._asdict(), "mark": mark, "past": list(past)}
    return models.PointStruct(id=entry_id(entry.key), vector={}, payload=payload)


def to_entry(record: models.Record) -> Entry:
    """Read an entry."""
    payload = record.payload or {}
    return Entry(*(str(payload.get(name, "")) for name in Entry._fields))


def of_documents(documents: Sequence[str]) -> models.Filter:
    """Return the condition that a passage is of one of some documents."""
    match = models.MatchAny(any=list(documents))
    return models.Filter(must=[models.FieldCondition(key="document", match=match)])


def of_entries(kind: str, group: str | None) -> models.Filter:
    """Return the condition that an entry is of a kind, and of a group where one is named."""
    wanted = {"kind": kind} if group is None else {"kind": kind, "group": group}
    return models.Filter(
        must=[
            models.FieldCondition(key=name, match=models.MatchValue(value=value))
            for name, value in wanted.items()
        ]
    )


def check_points(name: str, info: models.CollectionInfo) -> int:
    """Return the dimension of a collection of passages; refuse one that is something else."""
    vectors, sparse = info.config.params.vectors, info.config.params.sparse_vectors or {}
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    if dense is None or dense.distance != models.Distance.COSINE or SPARSE not in sparse:
        raise StoreSchemaError(
            f"qdrant: there is a collection {name} that is no library of Pinakes. Choose another name in collection."
        )
    return dense.size


def check_entries(name: str, info: models.CollectionInfo) -> None:
    """Refuse a collection of entries that is something else."""
    if info.config.params.vectors or info.config.params.sparse_vectors:
        raise StoreSchemaError(
            f"qdrant: there is a collection {name} that holds vectors, where entries should be. Choose another name in "
            "collection."
        )


def size_of(point: Point) -> int:
    """Return about how many bytes of a request a passage takes."""
    numbers = 0 if point.vector is None else 12 * len(point.vector)
    texts = 4 * (len(point.text) + len(point.heading) + len(point.source_path))
    # Each word is there as itself and as a number with a weight.
    return numbers + texts + 7 * len(point.terms) + 400
