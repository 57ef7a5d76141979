"""What MongoDB and the Cosmos DB that speaks its protocol have in common: points and entries as documents.

The points are in the collection of the settings' name, under their ids; the entries beside it, in ``<name>.entries``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from pymongo import ReplaceOne
from pymongo.collection import Collection as MongoCollection
from pymongo.errors import CollectionInvalid, DuplicateKeyError

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.mongodb.connection import Document, MongoConnection
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Entry, Found, Point, Store

PAGE = 500
_ENTRY_PAGE = 200
_SIZE_KEPT = 30.0
_PAYLOAD = ("source_path", "heading", "language", "file_type", "text")
_KINDS = [("kind", 1), ("_id", 1)]
_GROUPS = [("kind", 1), ("group", 1), ("_id", 1)]
Item = TypeVar("Item")


class MongoWireStore(Store):
    """Reading and writing of points and entries; the indexes and searches are each provider's own."""

    def __init__(self, settings: DatabaseSettings, example: str, *, retry_writes: bool = True) -> None:
        super().__init__(settings)
        self.link = MongoConnection(settings, example, retry_writes=retry_writes)
        self._size: tuple[float, int] | None = None

    @abstractmethod
    def pack(self, vector: Vectors) -> Any:
        """Return a vector as the database keeps it."""

    @abstractmethod
    def unpack(self, value: Any) -> Vectors:
        """Return a vector from what the database keeps."""

    @abstractmethod
    def indexed_dimension(self) -> int | None:
        """Return the dimension of our vector index; None where there is none."""

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the dimension that the vector index was made for."""
        found = self.indexed_dimension()
        if found is None and self.link.call(lambda: self.held().find_one({}, {"_id": 1})) is not None:
            raise StoreSchemaError(
                f"{self.provider}: the collection {self.settings.collection} of the database {self.link.database} "
                "holds documents but no vector index of Pinakes. Name another in collection, or drop that one."
            )
        return found

    def check_dimension(self, dimension: int, largest: int) -> bool:
        """Say whether the collection exists already; raise where it is for other vectors, or such cannot be."""
        if (found := self.dimension()) not in (None, dimension):
            raise StoreSchemaError(
                f"{self.provider}: the collection {self.settings.collection} holds vectors of {found} dimensions, and "
                f"these have {dimension}. Use the model it was made with, or another collection."
            )
        if dimension > largest:
            raise StoreSchemaError(
                f"{self.provider} indexes vectors of up to {largest} dimensions, and these have {dimension}."
            )
        return found is not None

    def make_collections(self) -> None:
        """Make both collections and the ordinary indexes, as far as they are missing."""
        for name in (self.settings.collection, f"{self.settings.collection}.entries"):
            self.link.call(partial(self._make, name))
        for keys in (_KINDS, _GROUPS):
            self.link.call(partial(self._entries().create_index, keys))

    def _make(self, name: str) -> None:
        try:
            self.link.handle().create_collection(name)
        except CollectionInvalid:
            return

    def drop(self) -> None:
        """Delete both collections with their indexes."""
        self._size = None
        self.link.call(self._entries().drop)
        self.link.call(self.held().drop)

    def close(self) -> None:
        """Close the connections."""
        self.link.close()

    def held(self) -> MongoCollection[Document]:
        """Return the collection of the points."""
        return self.link.collection(self.settings.collection)

    def _entries(self) -> MongoCollection[Document]:
        return self.link.collection(f"{self.settings.collection}.entries")

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Replace points, or add them."""
        latest = {point.id: point for point in points}
        for batch in batches(list(latest.values()), self.capabilities.batch):
            writes = [ReplaceOne({"_id": point.id}, self._document(point), upsert=True) for point in batch]
            self._write(self.held(), writes)

    def _document(self, point: Point) -> Document:
        document: Document = {"_id": point.id, "document": point.document}
        if point.vector is not None:
            document["vector"] = self.pack(point.vector)
        if point.terms:
            document["terms"] = _storable(point.terms)
        document.update((name, _storable(getattr(point, name))) for name in _PAYLOAD)
        return document

    def _write(self, where: MongoCollection[Document], writes: list[ReplaceOne[Document]]) -> None:
        self.link.call(lambda: where.bulk_write(writes, ordered=False))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        for batch in batches(ids, 2 * PAGE):
            self.link.call(partial(self.held().delete_many, {"_id": {"$in": batch}}))

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id, whole."""
        return [
            self._point(found)
            for batch in batches(ids, PAGE)
            for found in self._page(self.held(), {"_id": {"$in": batch}}, PAGE)
        ]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in the order of their ids: whole where vectors are asked for, else id and document."""
        last, bound = ("", {}) if document is None else _range(document)
        fields = None if vectors else {"document": 1}
        while found := self._page(self.held(), {"_id": {"$gt": last, **bound}}, PAGE, fields):
            last = found[-1]["_id"]
            yield [self._point(item) for item in found]

    def _page(
        self, where: MongoCollection[Document], wanted: Document, limit: int, fields: Document | None = None
    ) -> list[Document]:
        return self.link.call(lambda: where.find(wanted, fields, sort=[("_id", 1)], limit=limit).to_list())

    def _point(self, found: Document) -> Point:
        vector = found.get("vector")
        return Point(
            found["_id"],
            found["document"],
            None if vector is None else self.unpack(vector),
            found.get("terms", ""),
            **{name: found.get(name, "") for name in _PAYLOAD},
        )

    def count(self) -> int:
        """Count the points."""
        return self.link.call(lambda: self.held().count_documents({}))

    def about(self) -> int:
        """Return about how many points there are; asked of the server now and then."""
        if self._size is None or monotonic() - self._size[0] > _SIZE_KEPT:
            self._size = monotonic(), self.link.call(lambda: self.held().estimated_document_count())
        return self._size[1]

    def ask(self, pipeline: list[Document], limit: int) -> list[Found]:
        """Run a search that gives ids and scores, in one answer."""
        rows = self.link.call(lambda: self.held().aggregate(pipeline, batchSize=limit + 1).to_list())
        return [Found(row["_id"], float(row["score"])) for row in rows]

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Replace entries, or add them."""
        latest = {entry.key: entry for entry in entries}
        for batch in batches(list(latest.values()), _ENTRY_PAGE):
            writes = [ReplaceOne({"_id": entry.key}, _entry_document(entry), upsert=True) for entry in batch]
            self._write(self._entries(), writes)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return values by key."""
        return {
            found["_id"]: found["value"]
            for batch in batches(keys, _ENTRY_PAGE)
            for found in self._page(self._entries(), {"_id": {"$in": batch}}, _ENTRY_PAGE, {"value": 1})
        }

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in the order of their keys."""
        wanted: Document = {"kind": kind} if group is None else {"kind": kind, "group": group}
        last = ""
        while found := self._page(self._entries(), {**wanted, "_id": {"$gt": last}}, _ENTRY_PAGE):
            last = found[-1]["_id"]
            yield [Entry(row["_id"], row["kind"], row["group"], row["value"]) for row in found]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries by key."""
        for batch in batches(keys, 2 * PAGE):
            self.link.call(partial(self._entries().delete_many, {"_id": {"$in": batch}}))

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Add an entry, or change it where its value is as expected: one operation of the server."""
        tries = 0

        def attempt() -> bool:
            nonlocal tries
            tries += 1
            if self._swap(entry, expected):
                return True
            # The answer to an earlier try may have been lost: then the value is ours already.
            return tries > 1 and self.get([entry.key]).get(entry.key) == entry.value

        return self.link.call(attempt)

    def _swap(self, entry: Entry, expected: str | None) -> bool:
        document = _entry_document(entry)
        if expected is None:
            try:
                self._entries().insert_one(document)
            except DuplicateKeyError:
                return False
            return True
        found = self._entries().replace_one({"_id": entry.key, "value": expected}, document)
        return found.matched_count == 1


def in_documents(documents: Collection[str]) -> Document:
    """Return the filter for points of some documents."""
    return {"document": {"$in": sorted(documents)}}


def _entry_document(entry: Entry) -> Document:
    return {"_id": entry.key, "kind": entry.kind, "group": entry.group, "value": entry.value}


def _range(document: str) -> tuple[str, Document]:
    """Return between what the ids of the points of a document are: all begin with its key, and then a hyphen."""
    start = f"{document[:8]}-{document[8:12]}-{document[12:16]}"
    return f"{start}-", {"$lt": f"{start}."}


def _storable(text: str) -> str:
    """Return a text without the halves of characters that names of files may hold and BSON may not."""
    return text.encode("utf-8", "replace").decode("utf-8")
