"""Points, entries and query words as Weaviate takes them."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter

from pinakes.stores.providers.weaviate.schema import ENTRY_FIELDS, PASSAGE, POINT_FIELDS, VECTOR
from pinakes.stores.store import Entry, Point

Object = DataObject[Any, Any]

# A message may have 10 MB on older servers, 100 MB on newer ones.
_BATCH_BYTES = 6_000_000
_ENTRY_IDS = uuid.UUID("6a0e3f4e-9f0b-5c61-8a51-0f1c3c2d7b11")


def object_of(point: Point) -> Object:
    """Return a point as an object to store."""
    fields = {name: getattr(point, name) for name in POINT_FIELDS}
    # Without the field, not with an empty one: a point without terms takes no part in the ranking by words.
    # Names of files may hold what is no text; nothing but text can be sent.
    kept = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items() if value}
    vector = None if point.vector is None else {VECTOR: point.vector.tolist()}
    return DataObject(properties={"kind": PASSAGE, **kept}, uuid=point.id, vector=vector)


def point_of(item: Any) -> Point:
    """Return an object as the point it is; its document is in its id."""
    fields = {name: value for name in POINT_FIELDS if (value := item.properties.get(name))}
    fields.setdefault("document", item.uuid.hex[:16])
    held = item.vector.get(VECTOR)
    return Point(str(item.uuid), vector=np.asarray(held, np.float32) if held else None, **fields)


def entry_object(entry: Entry) -> Object:
    """Return an entry as an object to store."""
    return DataObject(properties=entry._asdict(), uuid=entry_id(entry.key))


def entry_of(item: Any) -> Entry:
    """Return an object as the entry it is."""
    return Entry(*(item.properties.get(field) or "" for field in ENTRY_FIELDS))


def entry_id(key: str) -> str:
    """Return the id of the entry with a key: Weaviate takes nothing but UUIDs."""
    return str(uuid.uuid5(_ENTRY_IDS, key))


def of_documents(documents: Collection[str] | None) -> Any:
    """Return the filter for some documents; None for all."""
    return None if documents is None else Filter.by_property("document").contains_any(list(documents))


def query_words(terms: Sequence[str]) -> str:
    """Return a query of words; what has a space in it is no word of ours, and would be read as several."""
    return " ".join(term for term in terms if len(term.split()) == 1)


def batches(objects: Sequence[Object], most: int) -> Iterator[list[Object]]:
    """Cut objects into batches that fit into a message."""
    batch: list[Object] = []
    size = 0
    for item in objects:
        numbers = item.vector[VECTOR] if isinstance(item.vector, dict) else ()
        # Four bytes are the most that a character takes, and what a number of a vector takes.
        weight = 4 * (sum(map(len, item.properties.values())) + len(numbers))
        if batch and (len(batch) >= most or size + weight > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += weight
    if batch:
        yield batch
