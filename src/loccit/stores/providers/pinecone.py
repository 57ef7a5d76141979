"""Pinecone: a serverless index for each collection, points and entries in a namespace each.

A record has a maximum size: texts of a point are cut, and the long value of an entry is split into several records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from pinecone.errors import NotFoundError
from pinecone.index import Index
from pinecone.models.indexes.index import IndexModel

from loccit.embedding.protocol import Vectors
from loccit.errors import StoreError, StoreSchemaError, StoreUnavailableError
from loccit.stores.providers.pinecone_link import TAG, TAG_VALUE, VECTOR_FIELD, PineconeLink
from loccit.stores.providers.tables import (
    Documents,
    TableStore,
    numbers,
    read_vector,
    sized_batches,
    text_only,
)
from loccit.stores.providers.tables import batches as cut
from loccit.stores.retry import retrying
from loccit.stores.settings import DatabaseSettings
from loccit.stores.shared.ids import PointId
from loccit.stores.store import PAYLOAD, Capabilities, Entry, Found, Point

Record = dict[str, Any]

POINTS, ENTRIES = "points", "entries"
_TOP_K = 10_000
# Ids are part of the URL of a fetch; pages of a list have no more than this either.
_PAGE = 100
# A changed entry of several parts may take a moment until all of them are visible.
_TORN_ATTEMPTS = 6
# The limits are 1,000 records and 2 MB per request, and 40 KB of metadata per record; this leaves room for
# the rest.
_BATCH_RECORDS = 1_000
_BATCH_BYTES = 1_900_000
_METADATA_BYTES = 38_000
_PART_BYTES = 36_000
# A value of 30,000 characters, each at most six bytes of JSON, has no more parts than this.
MAX_PARTS = 6
# What is cut if a point's metadata is too long: these fields are not searched, they are for people.
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
    metadata = {name: text_only(getattr(point, name)) for name in PAYLOAD if getattr(point, name)}
    metadata["document"] = point.document
    for name in _CUT:
        over = _size(metadata) - _METADATA_BYTES
        if over <= 0:
            break
        if name in metadata:
            room = max(_size(metadata[name]) - 2 - over, 0)
            metadata[name] = next(_pieces(metadata[name], room)) if room else ""
    return {"id": point.id, "values": numbers(point.vector), "metadata": metadata}


def entry_records(entry: Entry, dimension: int) -> tuple[Record, list[Record]]:
    """Return the record of an entry, and those of what does not fit into it.

    Each part carries a stamp of the whole, so that a reader notices a half-written change.
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
    """Parse the first record of an entry; numbers come back as floats."""
    return Head(
        str(metadata["kind"]),
        str(metadata["group"]),
        int(metadata["parts"]),
        str(metadata["stamp"]),
        str(metadata["value"]),
    )


def joined(key: str, head: Head, parts: Mapping[str, Mapping[str, Any]]) -> Entry | None:
    """Return the whole entry; None if a part is missing or of another version."""
    value = head.value
    for at in range(1, head.parts):
        metadata = parts.get(part_id(key, at))
        if metadata is None or metadata["stamp"] != head.stamp:
            return None
        value += metadata["value"]
    return Entry(key, head.kind, head.group, value)


def part_id(key: str, at: int) -> str:
    """Return the id of a further part of an entry; keys do not contain this character."""
    return f"{key}#{at}"


def batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Split records into requests that the service accepts."""
    return sized_batches(records, _record_size, most=_BATCH_RECORDS, total=_BATCH_BYTES)


def _record_size(record: Record) -> int:
    # At most 14 characters a number: a sign, a digit, a point, nine decimals (or an exponent), a comma.
    return _size(record["metadata"]) + 14 * len(record["values"]) + len(record["id"]) + 60


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _pieces(text: str, limit: int) -> Iterator[str]:
    """Split a text into pieces of a number of bytes of JSON."""
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


class PineconeStore(TableStore[str, Any]):
    """Points are searched by Pinecone; it has no keyword search over given words, so that part is ours.

    The row of an entry is the entry itself, because it may be several records.
    """

    provider = "pinecone"
    capabilities: ClassVar[Capabilities] = Capabilities(
        eventual=True, max_results=_TOP_K, max_filter=10_000, batch=1_000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "cloud": "Where a new index is made: aws, gcp or azure (aws).",
        "region": "The region of that cloud (us-east-1).",
        "deletion_protection": "Whether a new index is protected from being deleted (false).",
        "parallel": "How many requests write at the same time (4).",
        "tls": "false allows http:// beyond this machine.",
    }

    bytes_at_once = _BATCH_BYTES
    page = _PAGE
    _points, _entries = POINTS, ENTRIES

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._parallel = settings.number("parallel", 4, 1, 20)
        self._link = PineconeLink(settings)
        self._length: int | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, as the control plane states it."""
        found = self._link.describe()
        if found is None:
            return None
        self._refuse_foreign(found)
        return self._shape(found)

    def _make(self, dimension: int) -> None:
        if self._link.describe() is None:
            self._link.make(dimension)

    def drop(self) -> None:
        """Delete the index, if it is ours."""
        if self.dimension() is not None:
            self._link.remove()
        self._length = None

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def _shape(self, found: IndexModel) -> int:
        field: Any = found.schema.fields.get(VECTOR_FIELD)
        dimension, metric = getattr(field, "dimension", None), getattr(field, "metric", None)
        if len(found.schema.fields) != 1 or not dimension or metric not in ("cosine", "dotproduct"):
            raise StoreSchemaError(
                f"pinecone: the index {found.name} is not one of dense vectors compared by cosine. Name another "
                "collection, or delete that index."
            )
        self._length = int(dimension)
        return self._length

    def _refuse_foreign(self, found: IndexModel) -> None:
        """Accept an index without our tag, because somebody created it for us, only if it has nothing else in it."""
        if (found.tags or {}).get(TAG) == TAG_VALUE or not found.status.ready:
            return
        held = self._link.ask(lambda index: index.describe_index_stats().namespaces)
        others = [
            name for name, space in held.items() if space.vector_count and name not in (POINTS, ENTRIES)
        ]
        if others:
            raise StoreSchemaError(
                f"pinecone: the index {found.name} holds something else (namespace {others[0]}). Name another "
                "collection, or delete that index."
            )

    def count(self) -> int:
        """Return the number of points."""
        held = self._link.ask(lambda index: index.describe_index_stats().namespaces.get(POINTS))
        return held.vector_count if held else 0

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[Any]) -> None:
        if where == POINTS:
            self._send(where, rows)
            return
        length = self._length or self.dimension()
        if length is None:
            raise StoreSchemaError(
                f"pinecone: there is no collection {self.settings.collection}. Index your documents first."
            )
        records = [entry_records(entry, length) for entry in rows]
        # What does not fit into the first record of an entry is written before it.
        self._send(where, (part for _, rest in records for part in rest))
        self._send(where, (head for head, _ in records))

    def _send(self, where: str, records: Iterable[Record]) -> None:
        for batch in batches(records):
            self._link.ask(lambda index, batch=batch: index.upsert(vectors=batch, namespace=where))  # type: ignore[misc]

    def _delete(self, where: str, keys: list[str]) -> None:
        ids = keys
        if where == ENTRIES:
            # All the parts they may have.
            ids = [key if at == 0 else part_id(key, at) for key in keys for at in range(MAX_PARTS)]

        def delete(index: Index, batch: list[str]) -> None:
            # A namespace exists from its first record on.
            with suppress(NotFoundError):
                index.delete(ids=batch, namespace=where)

        for batch in cut(ids, self.keys_at_once):
            self._link.ask(lambda index, batch=batch: delete(index, batch))  # type: ignore[misc]

    def _read(self, where: str, keys: list[str]) -> list[Any]:
        if where == POINTS:
            return list(self._fetched(where, keys).items())

        def read() -> list[Entry]:
            heads = {key: head_of(held.metadata or {}) for key, held in self._fetched(where, keys).items()}
            return self._whole(heads)

        return retrying(read, attempts=_TORN_ATTEMPTS)

    def _fetched(self, where: str, keys: list[str]) -> Mapping[str, Any]:
        return self._link.ask(lambda index: index.fetch(ids=keys, namespace=where).vectors)

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Any]]:
        if where == POINTS:
            document = wanted.get("document", "")
            # Without vectors, the list of ids is sufficient.
            prefix = document and f"{document[:8]}-{document[8:12]}-{document[12:16]}-"
            for page in self._pages(
                lambda index, token: index.list_paginated(
                    prefix=prefix, limit=_PAGE, pagination_token=token, namespace=where
                )
            ):
                if names := [item.id for item in page if item.id]:
                    yield self._read(where, names) if whole else [(name, None) for name in names]
            return
        some = {name: {"$eq": value} for name, value in wanted.items()}
        for found in self._pages(
            lambda index, token: index.fetch_by_metadata(
                filter=some, namespace=where, limit=_PAGE, pagination_token=token
            )
        ):
            heads = {key: head_of(record.metadata or {}) for key, record in found.items()}
            try:
                yield self._whole(heads)
            except StoreUnavailableError:
                # One of them is being written: it is read again.
                yield self._read(where, list(heads))

    def _pages(self, ask: Callable[[Index, str | None], Any]) -> Iterator[Any]:
        token: str | None = None
        while True:
            page = self._link.ask(lambda index, after=token: ask(index, after))  # type: ignore[misc]
            if page.vectors:
                yield page.vectors
            token = page.pagination.next if page.pagination else None
            if not token:
                return

    def _whole(self, heads: Mapping[str, Head]) -> list[Entry]:
        names = [part_id(key, at) for key, head in heads.items() for at in range(1, head.parts)]
        parts: dict[str, Mapping[str, Any]] = {}
        for batch in cut(names, _PAGE):
            fetched = self._fetched(ENTRIES, batch)
            parts.update((name, record.metadata or {}) for name, record in fetched.items())
        found = [joined(key, head, parts) for key, head in heads.items()]
        if None in found:
            torn = list(heads)[found.index(None)]
            raise StoreUnavailableError(
                f"pinecone: the entry {torn} is being written. Try again in a moment."
            )
        return [entry for entry in found if entry is not None]

    def _row(self, point: Point) -> Record:
        return point_record(point)

    def _point(self, row: tuple[str, Any]) -> Point:
        """Return a point; its id contains the document."""
        name, record = row
        metadata = (record.metadata if record else None) or {}
        shown = (str(metadata.get(field, "")) for field in PAYLOAD)
        return Point(
            name, PointId.parse(name).document, read_vector(record.values if record else None), *shown
        )

    def _entry_row(self, entry: Entry) -> Entry:
        return entry

    def _entry(self, row: Entry) -> Entry:
        return row

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Query ids and scores only."""
        some = None if documents is None else {"document": {"$in": documents}}
        found = self._link.ask(
            lambda index: index.query(
                vector=numbers(vector), top_k=min(limit, _TOP_K), namespace=POINTS, filter=some
            )
        )
        return [Found(match.id, float(match.score)) for match in found.matches]
