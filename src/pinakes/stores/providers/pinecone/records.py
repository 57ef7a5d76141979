"""Points and entries as records of Pinecone: sizes counted, long values cut into several records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError
from pinakes.stores.providers.batches import sized_batches
from pinakes.stores.shared.ids import PointId
from pinakes.stores.store import Entry, Point

Record = dict[str, Any]

# The service takes 1,000 records and 2 MB at once, and 40 KB of metadata a record; what is around it has room too.
_BATCH_RECORDS = 1_000
_BATCH_BYTES = 1_900_000
_METADATA_BYTES = 38_000
_PART_BYTES = 36_000
# A value of 30,000 characters, each at most six bytes of JSON, has no more parts than this.
MAX_PARTS = 6
_TEXTS = ("source_path", "heading", "language", "file_type", "text", "terms")
# What is cut when a point says too much of itself: nothing is searched in these, they are for people.
_CUT = ("text", "terms", "heading", "source_path")


class Head(NamedTuple):
    """The first record of an entry: everything but what did not fit."""

    kind: str
    group: str
    parts: int
    stamp: str
    value: str


def point_record(point: Point) -> Record:
    """Return the record of a point."""
    if point.vector is None:
        raise StoreError("pinecone: a point without a vector cannot be stored.")
    metadata = {name: _text(getattr(point, name)) for name in _TEXTS if getattr(point, name)}
    metadata["document"] = point.document
    for name in _CUT:
        over = _size(metadata) - _METADATA_BYTES
        if over <= 0:
            break
        if name in metadata:
            room = max(_size(metadata[name]) - 2 - over, 0)
            metadata[name] = next(_pieces(metadata[name], room)) if room else ""
    return {"id": point.id, "values": numbers_of(point.vector), "metadata": metadata}


def point_of(
    name: str, values: Sequence[float] | None = None, metadata: Mapping[str, Any] | None = None
) -> Point:
    """Return the point of a record; which document it is of stands in its id."""
    shown = {field: str(metadata[field]) for field in _TEXTS if metadata and field in metadata}
    vector = None if values is None else np.asarray(values, np.float32)
    return Point(name, PointId.parse(name).document, vector, **shown)


def entry_records(entry: Entry, dimension: int) -> tuple[Record, list[Record]]:
    """Return the record of an entry, and those of what does not fit into it.

    Each part carries a stamp of the whole, so that a reader who meets half of a change notices.
    """
    pieces = list(_pieces(entry.value, _PART_BYTES)) or [""]
    stamp = hashlib.sha256(entry.value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # Every record must have a vector that is not zero; nobody searches for these.
    values = [1.0, *[0.0] * (dimension - 1)]
    about = {"kind": entry.kind, "group": entry.group, "parts": len(pieces), "stamp": stamp}
    head = {"id": entry.key, "values": values, "metadata": {**about, "value": pieces[0]}}
    rest = [
        {"id": part_id(entry.key, at), "values": values, "metadata": {"stamp": stamp, "value": piece}}
        for at, piece in enumerate(pieces[1:], 1)
    ]
    return head, rest


def head_of(metadata: Mapping[str, Any]) -> Head:
    """Read the first record of an entry; numbers come back as fractions."""
    return Head(
        str(metadata["kind"]),
        str(metadata["group"]),
        int(metadata["parts"]),
        str(metadata["stamp"]),
        str(metadata["value"]),
    )


def joined(key: str, head: Head, parts: Mapping[str, Mapping[str, Any]]) -> Entry | None:
    """Return the whole entry; None when a part is missing or of another state of it."""
    value = head.value
    for at in range(1, head.parts):
        metadata = parts.get(part_id(key, at))
        if metadata is None or metadata["stamp"] != head.stamp:
            return None
        value += metadata["value"]
    return Entry(key, head.kind, head.group, value)


def part_id(key: str, at: int) -> str:
    """Return the id of a further part of an entry; keys have no such sign."""
    return f"{key}#{at}"


def numbers_of(vector: Vectors) -> list[float]:
    """Return a vector as JSON has it: nine decimals hold all that a float32 of a unit vector has."""
    numbers: list[float] = np.round(np.asarray(vector, np.float64), 9).tolist()
    return numbers


def batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Cut records into requests that the service takes."""
    return sized_batches(records, _record_size, most=_BATCH_RECORDS, total=_BATCH_BYTES)


def _record_size(record: Record) -> int:
    # At most 14 characters a number: a sign, a digit, a point, nine decimals (or an exponent), a comma.
    return _size(record["metadata"]) + 14 * len(record["values"]) + len(record["id"]) + 60


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _pieces(text: str, limit: int) -> Iterator[str]:
    """Cut a text into pieces of so many bytes of JSON."""
    start, used = 0, 0
    if len(text) * 6 <= limit:
        yield text
        return
    for at, character in enumerate(text):
        size = _width(character)
        if used + size > limit:
            yield text[start:at]
            start, used = at, 0
        used += size
    yield text[start:]


def _width(character: str) -> int:
    code = ord(character)
    if code < 0x20:
        return 6
    if character in '"\\':
        return 2
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _text(text: str) -> str:
    # Half a surrogate pair, as in the names of some files, is no UTF-8.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
