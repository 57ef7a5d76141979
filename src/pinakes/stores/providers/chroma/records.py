"""Points and entries as records of a Chroma collection, and back."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from pinakes.errors import StoreError
from pinakes.stores.providers.chroma.collection import Record
from pinakes.stores.store import Entry, Point

# How much a request carries at most; a server takes 40 MB unless told otherwise.
MAX_REQUEST = 8_000_000
_FIELDS = ("terms", "source_path", "heading", "language", "file_type", "text")

Item = TypeVar("Item")


def from_point(point: Point) -> Record:
    """Return a point as a record. All fields are always in it, because Chroma keeps those that are left out."""
    if point.vector is None:
        # Chroma would try to embed it.
        raise StoreError(f"chromadb: the point {point.id} has no vector.")
    fields = {"document": point.document, **{name: getattr(point, name) for name in _FIELDS}}
    return Record(point.id, np.asarray(point.vector, np.float32), fields)


def to_point(record: Record) -> Point:
    """Read a point with everything that is stored of it."""
    fields = record.fields
    rest = (str(fields.get(name, "")) for name in _FIELDS)
    return Point(record.id, str(fields.get("document", "")), record.vector, *rest)


def from_entry(entry: Entry) -> Record:
    """Return an entry as a record; as Chroma's document, the value would be indexed three letters at a time.

    Everything needs a vector: a different one for each, or the index turns into islands.
    """
    angle = int.from_bytes(hashlib.sha256(entry.key.encode()).digest()[:4], "big") / 2**32 * 2 * math.pi
    vector = np.array([math.cos(angle), math.sin(angle)], np.float32)
    return Record(entry.key, vector, {"kind": entry.kind, "group": entry.group, "value": entry.value})


def to_entry(record: Record) -> Entry:
    """Read an entry."""
    fields = record.fields
    return Entry(record.id, str(fields["kind"]), str(fields["group"]), str(fields["value"]))


def point_size(point: Point) -> int:
    """Return about how many bytes a point takes in a request."""
    vector = 0 if point.vector is None else 6 * int(point.vector.size)
    return vector + 3 * (len(point.text) + len(point.terms) + len(point.heading)) + 300


def entry_size(entry: Entry) -> int:
    """Return about how many bytes an entry takes in a request."""
    return 3 * len(entry.value) + 200


def batches(items: Sequence[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Cut a list where a request would have too many things in it, or would be too long."""
    batch: list[Item] = []
    length = 0
    for item in items:
        if batch and (len(batch) >= most or length + size(item) > MAX_REQUEST):
            yield batch
            batch, length = [], 0
        batch.append(item)
        length += size(item)
    if batch:
        yield batch
