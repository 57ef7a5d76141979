"""How passages and entries look in Qdrant, and the requests that store and read them.

A passage has a dense vector and, where it carries the words of its chunk, a sparse one. The sparse one holds the
part of BM25 that is known when it is written, the saturated frequency of each word; how rare a word is the server
adds when it searches. A word is a number there: a hash of it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from qdrant_client import QdrantClient, models

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError, StoreSchemaError
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.qdrant.connection import SERVER, QdrantConnection, is_missing
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


BATCH = 200
_IDS = 1000


class QdrantCollection:
    """A collection by its name, whether it is there or not."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self.connection = connection
        self.name = name

    def info(self) -> models.CollectionInfo | None:
        """Return what the collection is made of; None when it is not there."""

        def look(client: QdrantClient) -> models.CollectionInfo | None:
            return client.get_collection(self.name) if client.collection_exists(self.name) else None

        try:
            return self.connection.call(look)
        except StoreError as error:
            if is_missing(error):
                return None
            raise

    def make(self, work: Callable[[QdrantClient], object]) -> None:
        """Make the collection, unless another does so at the same moment."""
        try:
            self.connection.call(work)
        except StoreError:
            if self.info() is None:
                raise

    def index(self, field: str) -> None:
        """Let the server find things by a field; local mode looks at everything anyway."""
        if self.connection.folder is None:
            schema = models.PayloadSchemaType.KEYWORD
            self.connection.call(
                lambda client: client.create_payload_index(self.name, field, field_schema=schema, wait=True)
            )

    def drop(self) -> None:
        """Delete the collection."""
        self.connection.call(lambda client: client.delete_collection(self.name))
        self.connection.forget(self.name)

    def write(self, structs: list[models.PointStruct]) -> None:
        """Store things, in one request."""
        if structs:
            self.connection.ease(self.name)
            self.connection.call(lambda client: client.upsert(self.name, structs, wait=True))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete things by id."""
        for some in batches(ids, _IDS):
            self._delete(models.PointIdsList(points=[*some]))

    def _delete(self, chosen: models.PointIdsList) -> None:
        self.connection.call(lambda client: client.delete(self.name, chosen, wait=True))

    def retrieve(self, ids: Sequence[str], *, vector: str = "") -> Iterator[models.Record]:
        """Return things by id, with one of their vectors where it is named."""
        for some in batches(ids, _IDS):
            yield from self._retrieve(some, [vector] if vector else False)

    def _retrieve(self, ids: Sequence[str], vectors: list[str] | bool) -> list[models.Record]:
        return self.connection.call(lambda client: client.retrieve(self.name, ids, with_vectors=vectors))

    def scroll(
        self, condition: models.Filter | None, *, payload: bool = True, vector: str = ""
    ) -> Iterator[list[models.Record]]:
        """Return everything that meets a condition, in the order of ids."""
        start: models.ExtendedPointId | None = None
        while True:
            found, start = self._page(condition, start, payload, [vector] if vector else False)
            if found:
                yield found
            if start is None:
                return

    def _page(
        self,
        condition: models.Filter | None,
        start: models.ExtendedPointId | None,
        payload: bool,
        vectors: list[str] | bool,
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        return self.connection.call(
            lambda client: client.scroll(
                self.name, condition, limit=_IDS, offset=start, with_payload=payload, with_vectors=vectors
            )
        )

    def count(self, *, exact: bool) -> int:
        """Return how many things there are, or about how many."""
        return self.connection.call(lambda client: client.count(self.name, exact=exact)).count


# How many writings of an entry are remembered in it: more than can happen between a write and the look at it.
_PAST = 32


class QdrantEntries:
    """The half of the store that keeps entries."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self._connection = connection
        self._collection = QdrantCollection(connection, name)

    def create(self, replicas: int) -> None:
        """Make the collection and its indexes."""
        name = self._collection.name
        if (info := self._collection.info()) is None:
            self._collection.make(
                lambda client: client.create_collection(
                    name, vectors_config={}, replication_factor=replicas or None, on_disk_payload=True
                )
            )
        else:
            check_entries(name, info)
        for field in ("kind", "group", "mark"):
            self._collection.index(field)

    def drop(self) -> None:
        """Delete the collection, where it is ours."""
        if (info := self._collection.info()) is not None:
            check_entries(self._collection.name, info)
            self._collection.drop()

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        for some in batches(entries, BATCH):
            self._collection.write([entry_struct(entry, uuid.uuid4().hex) for entry in some])

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return values by key."""
        found = map(to_entry, self._collection.retrieve([entry_id(key) for key in keys]))
        return {entry.key: entry.value for entry in found}

    def entries(self, kind: str, group: str | None) -> Iterator[list[Entry]]:
        """Scroll through the entries of a kind."""
        for batch in self._collection.scroll(of_entries(kind, group)):
            yield [to_entry(record) for record in batch]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._collection.delete([entry_id(key) for key in keys])

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Write only over the very writing of the entry that was looked at, then see whether it was done.

        The server does not say whether a conditional update did anything. But a writing that happened has left its
        mark in the entry, also where others have written over it since.
        """
        self._connection.require(SERVER, "sharing the work of indexing")
        mark = uuid.uuid4().hex
        return self._connection.call(lambda client: self._swap(client, entry, expected, mark))

    def _swap(self, client: QdrantClient, entry: Entry, expected: str | None, mark: str) -> bool:
        value, marks = self._writing(client, entry.key)
        if mark in marks:
            # An earlier try, whose answer was lost.
            return True
        if value != expected:
            return False
        condition, mode = None, models.UpdateMode.INSERT_ONLY
        if marks:
            match = models.MatchValue(value=marks[0])
            condition = models.Filter(must=[models.FieldCondition(key="mark", match=match)])
            mode = models.UpdateMode.UPDATE_ONLY
        client.upsert(
            self._collection.name,
            [entry_struct(entry, mark, marks[: _PAST - 1])],
            wait=True,
            ordering=models.WriteOrdering.STRONG,
            update_filter=condition,
            update_mode=mode,
        )
        return mark in self._writing(client, entry.key)[1]

    def _writing(self, client: QdrantClient, key: str) -> tuple[str | None, list[str]]:
        """Return the value of an entry and the marks of its last writings, the latest first."""
        found = client.retrieve(
            self._collection.name, [entry_id(key)], consistency=models.ReadConsistencyType.MAJORITY
        )
        if not found:
            return None, []
        payload = found[0].payload or {}
        return str(payload["value"]), [str(payload["mark"]), *payload["past"]]
