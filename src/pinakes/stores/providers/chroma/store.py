"""Chroma: a server, or a database in a folder of this machine.

Points are records of a collection with the library's name; entries are records of a second one beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError
from pinakes.stores.providers.batches import batches, sized_batches
from pinakes.stores.providers.chroma.collection import (
    MAX_REQUEST,
    MOST_AT_ONCE,
    OurCollection,
    Where,
    entry_size,
    from_entry,
    from_point,
    point_size,
    to_entry,
    to_point,
)
from pinakes.stores.providers.chroma.connection import connect
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.shared.ids import PointId
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

_ENTRIES_AT_ONCE = 200


class ChromaStore(Store):
    """Two collections in Chroma."""

    provider = "chromadb"
    capabilities = Capabilities(max_filter=1000, batch=MOST_AT_ONCE)
    known_options: ClassVar[Mapping[str, str]] = {
        "tenant": "The tenant on the server (default_tenant).",
        "database": "The database of the tenant (default_database).",
        "token_header": "The header that carries api_key: Authorization (as Bearer) or X-Chroma-Token.",
        "tls": "Set to false to send api_key over plain http:// to another machine.",
        "ca_file": "A file with the certificates to trust for https:// instead of the usual ones.",
        "ef_search": "How many candidates a search looks at, at least; for new collections (1000).",
        "ef_construction": "How many candidates are looked at when a point is stored; for new collections (128).",
        "max_neighbors": "How many neighbours a point has in the graph; for new collections (32).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._connection = connect(settings)
        name = settings.collection
        self._points = OurCollection(settings, self._connection, "points", name)
        # A dot is in no name of a library, so that this is never the name of another.
        self._entries = OurCollection(settings, self._connection, "entries", f"{name}.entries")

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None before the collection is made."""
        return self._points.dimension() if self._connection.exists() else None

    def create(self, dimension: int) -> None:
        """Make both collections, that of the points last: once it is there, all is."""
        self._entries.make(2)
        if (present := self._points.make(dimension)) != dimension:
            raise StoreSchemaError(
                f"chromadb: the collection {self.settings.collection} has vectors of {present} numbers, not "
                f"{dimension}; use the embedding model it was made with, or another collection."
            )

    def drop(self) -> None:
        """Delete both collections, that of the points last: until then there is something to drop."""
        if self._connection.exists():
            self._entries.unmake()
            self._points.unmake()

    def close(self) -> None:
        """Let go of the server or the folder."""
        self._connection.close()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points; of those with the same id the last counts."""
        unique = list({point.id: point for point in points}.values())
        for batch in sized_batches(unique, point_size, most=self._points.most(), total=MAX_REQUEST):
            self._points.write([from_point(point) for point in batch])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        self._points.delete(ids)

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points with everything that is stored of them."""
        return [to_point(record) for batch in self._points.read(ids, vectors=True) for record in batch]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in batches. The ids are listed first, so that nothing moves when something is deleted."""
        names = self._points.ids(None if document is None else {"document": document})
        if vectors:
            for batch in self._points.read(names, vectors=True):
                yield [to_point(record) for record in batch]
            return
        for some in batches(names, MOST_AT_ONCE):
            yield [Point(name, PointId.parse(name).document) for name in some]

    def count(self) -> int:
        """Return how many points there are."""
        return self._points.count()

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search Chroma's index; where it gives fewer points than there are, compare the missing ones here."""
        if limit < 1 or (documents is not None and not documents):
            return []
        where: Where | None = None if documents is None else {"document": {"$in": list(documents)}}
        found = self._points.nearest(vector, limit, where)
        if len(found) < limit and (where is not None or len(found) < self.count()):
            found = self._completed(found, np.asarray(vector, np.float32), where)[:limit]
        return found

    def _completed(self, found: list[Found], query: Vectors, where: Where | None) -> list[Found]:
        """Add what the index does not reach: many points that are the same make islands in its graph."""
        reached = {hit.id for hit in found}
        missing = [name for name in self._points.ids(where) if name not in reached]
        if not missing:
            return found
        more = [
            Found(record.id, float(record.vector @ query) / (float(np.linalg.norm(record.vector)) or 1.0))
            for batch in self._points.read(missing, vectors=True)
            for record in batch
            if record.vector is not None
        ]
        return sorted([*found, *more], key=lambda hit: -hit.score)

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries; of those with the same key the last counts."""
        unique = list({entry.key: entry for entry in entries}.values())
        for batch in sized_batches(unique, entry_size, most=self._entries.most(), total=MAX_REQUEST):
            self._entries.write([from_entry(entry) for entry in batch])

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return {entry.key: entry.value for batch in self._read(keys) for entry in batch}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches."""
        where: Where = {"kind": kind} if group is None else {"$and": [{"kind": kind}, {"group": group}]}
        return self._read(self._entries.ids(where))

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._entries.delete(keys)

    def _read(self, keys: Sequence[str]) -> Iterator[list[Entry]]:
        for batch in self._entries.read(keys, vectors=False, most=_ENTRIES_AT_ONCE):
            yield [to_entry(record) for record in batch]
