"""Pinecone: a serverless index for each collection, points and entries in a namespace each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from pinecone.errors import NotFoundError
from pinecone.index import Index
from pinecone.models.indexes.index import IndexModel

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError, StoreUnavailableError, UsageError
from pinakes.stores.providers.batches import batches as cut
from pinakes.stores.providers.pinecone.connection import TAG, TAG_VALUE, VECTOR_FIELD, PineconeConnection
from pinakes.stores.providers.pinecone.records import (
    MAX_PARTS,
    Head,
    Record,
    batches,
    entry_records,
    head_of,
    joined,
    numbers_of,
    part_id,
    point_of,
    point_record,
)
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

POINTS, ENTRIES = "points", "entries"
_TOP_K = 10_000
# Ids travel in the address of a fetch; pages of a list have no more than this either.
_PAGE = 100
_DELETED_AT_ONCE = 1_000
# A changed entry of several parts may take a moment until all of them are there.
_TORN_ATTEMPTS = 6


class PineconeStore(Store):
    """Points are searched by Pinecone; it has no keyword search over ready-made words, so that side is ours."""

    provider = "pinecone"
    capabilities = Capabilities(eventual=True, max_results=_TOP_K, max_filter=10_000, batch=1_000)
    known_options: ClassVar[Mapping[str, str]] = {
        "cloud": "Where a new index is made: aws, gcp or azure (aws).",
        "region": "The region of that cloud (us-east-1).",
        "deletion_protection": "Whether a new index is protected from being deleted (false).",
        "parallel": "How many requests write at the same time (4).",
        "tls": "false allows http:// beyond this machine.",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._parallel: int = settings.option("parallel", 4)
        if not 1 <= self._parallel <= 20:
            raise UsageError(
                "The option parallel of the database provider pinecone must be between 1 and 20."
            )
        self._connection = PineconeConnection(settings)
        self._length: int | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, as the control plane says."""
        found = self._connection.describe()
        if found is None:
            return None
        self._refuse_foreign(found)
        return self._shape(found)

    def create(self, dimension: int) -> None:
        """Make the index where it is missing."""
        held = self.dimension()
        if held is None:
            self._connection.make(dimension)
            held = self.dimension()
        if held != dimension:
            raise StoreSchemaError(
                f"pinecone: the collection {self.settings.collection} holds vectors of {held} numbers, and the model "
                f"makes {dimension}. Name another collection, or use the model it was made with."
            )

    def drop(self) -> None:
        """Delete the index, if it is ours."""
        found = self._connection.describe()
        if found is not None:
            self._refuse_foreign(found)
            self._shape(found)
            self._connection.remove()
        self._length = None

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

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
        """Take an index that is not tagged as ours, because somebody made it for us, only with nothing else in it."""
        if (found.tags or {}).get(TAG) == TAG_VALUE or not found.status.ready:
            return
        held = self._connection.ask(lambda index: index.describe_index_stats().namespaces)
        others = [
            name for name, space in held.items() if space.vector_count and name not in (POINTS, ENTRIES)
        ]
        if others:
            raise StoreSchemaError(
                f"pinecone: the index {found.name} holds something else (namespace {others[0]}). Name another "
                "collection, or delete that index."
            )

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points."""
        # Requests run at the same time, so of two with the same id only the last may be sent.
        latest = {point.id: point for point in points}
        self._write(POINTS, (point_record(point) for point in latest.values()))

    def _write(self, namespace: str, records: Iterator[Record]) -> None:
        def send(batch: list[Record]) -> None:
            self._connection.ask(lambda index: index.upsert(vectors=batch, namespace=namespace))

        self._all(send, batches(records))

    def _all(self, send: Any, work: Iterator[Any]) -> None:
        """Do work a few at a time; the first error ends it."""
        with ThreadPoolExecutor(self._parallel) as pool:
            waiting = []
            for part in work:
                waiting.append(pool.submit(send, part))
                if len(waiting) >= 2 * self._parallel:
                    waiting.pop(0).result()
            for done in waiting:
                done.result()

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        self._delete(POINTS, ids)

    def _delete(self, namespace: str, ids: Sequence[str]) -> None:
        def send(batch: Sequence[str]) -> None:
            def delete(index: Index) -> None:
                try:
                    index.delete(ids=list(batch), namespace=namespace)
                except NotFoundError:
                    # A namespace is there from its first record on.
                    return

            self._connection.ask(delete)

        self._all(send, cut(ids, _DELETED_AT_ONCE))

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        return [point for batch in cut(ids, _PAGE) for point in self._fetched(batch)]

    def _fetched(self, ids: Sequence[str]) -> list[Point]:
        held = self._connection.ask(lambda index: index.fetch(ids=list(ids), namespace=POINTS).vectors)
        return [point_of(name, record.values, record.metadata) for name, record in held.items()]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in batches; without vectors, the list of ids says everything."""
        prefix = "" if document is None else f"{document[:8]}-{document[8:12]}-{document[12:16]}-"
        token: str | None = None
        while True:
            page = self._connection.ask(
                lambda index, after=token: index.list_paginated(  # type: ignore[misc]
                    prefix=prefix, limit=_PAGE, pagination_token=after, namespace=POINTS
                )
            )
            names = [item.id for item in page.vectors if item.id]
            if names:
                yield self._fetched(names) if vectors else [point_of(name) for name in names]
            token = page.pagination.next if page.pagination else None
            if not token:
                return

    def count(self) -> int:
        """Return how many points there are."""
        held = self._connection.ask(lambda index: index.describe_index_stats().namespaces.get(POINTS))
        return held.vector_count if held else 0

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Ask for ids and scores alone."""
        if documents is not None and not documents:
            return []
        some = None if documents is None else {"document": {"$in": list(documents)}}
        found = self._connection.ask(
            lambda index: index.query(
                vector=numbers_of(vector), top_k=min(limit, _TOP_K), namespace=POINTS, filter=some
            )
        )
        return [Found(match.id, float(match.score)) for match in found.matches]

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries: what does not fit into the first record goes before it."""
        latest = {entry.key: entry for entry in entries}
        if not latest:
            return
        length = self._length or self.dimension()
        if length is None:
            raise StoreSchemaError(
                f"pinecone: there is no collection {self.settings.collection}. Index your documents first."
            )
        records = [entry_records(entry, length) for entry in latest.values()]
        self._write(ENTRIES, (part for _, rest in records for part in rest))
        self._write(ENTRIES, (head for head, _ in records))

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return {entry.key: entry.value for batch in cut(keys, _PAGE) for entry in self._read(batch)}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches."""
        wanted: dict[str, Any] = {"kind": {"$eq": kind}}
        if group is not None:
            wanted["group"] = {"$eq": group}
        token: str | None = None
        while True:
            page = self._connection.ask(
                lambda index, after=token: index.fetch_by_metadata(  # type: ignore[misc]
                    filter=wanted, namespace=ENTRIES, limit=_PAGE, pagination_token=after
                )
            )
            if page.vectors:
                heads = {key: head_of(record.metadata or {}) for key, record in page.vectors.items()}
                yield self._completed(heads)
            token = page.pagination.next if page.pagination else None
            if not token:
                return

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries, with all the parts they may have."""
        self._delete(
            ENTRIES, [key if at == 0 else part_id(key, at) for key in keys for at in range(MAX_PARTS)]
        )

    def _read(self, keys: Sequence[str]) -> list[Entry]:
        def read() -> list[Entry]:
            heads = {key: head_of(held) for key, held in self._metadata(keys).items()}
            return self._whole(heads)

        return retrying(read, attempts=_TORN_ATTEMPTS)

    def _completed(self, heads: Mapping[str, Head]) -> list[Entry]:
        try:
            return self._whole(heads)
        except StoreUnavailableError:
            # One of them is being written: what is there now is read again.
            return self._read(list(heads))

    def _whole(self, heads: Mapping[str, Head]) -> list[Entry]:
        names = [part_id(key, at) for key, head in heads.items() for at in range(1, head.parts)]
        parts: dict[str, Mapping[str, Any]] = {}
        for batch in cut(names, _PAGE):
            parts.update(self._metadata(batch))
        found = []
        for key, head in heads.items():
            entry = joined(key, head, parts)
            if entry is None:
                raise StoreUnavailableError(
                    f"pinecone: the entry {key} is being written. Try again in a moment."
                )
            found.append(entry)
        return found

    def _metadata(self, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        held = self._connection.ask(lambda index: index.fetch(ids=list(ids), namespace=ENTRIES).vectors)
        return {name: record.metadata or {} for name, record in held.items()}
