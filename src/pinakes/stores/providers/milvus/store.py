"""Milvus: a server or cluster, Zilliz Cloud, or a path that Milvus Lite serves in this process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pymilvus import AnnSearchRequest, WeightedRanker

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError, StoreSchemaError, UsageError
from pinakes.stores.providers.batches import batches, sized_batches
from pinakes.stores.providers.milvus.collection import (
    DENSE,
    SPARSE,
    WITH_WORDS,
    MilvusCollection,
    check_entries,
    check_points,
    collection_name,
    entries_indexes,
    entries_schema,
    entry_row,
    has_words,
    is_just,
    one_of,
    point_fields,
    points_indexes,
    points_schema,
    size_of,
    to_entry,
    to_point,
    to_row,
    whole_words,
)
from pinakes.stores.providers.milvus.connection import MilvusConnection
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

# The server refuses requests of more than 64 MB.
_REQUEST_BYTES = 16_000_000
_BATCH = 1000
# Entries can be large, and come back in one answer.
_ENTRIES = 200
_INDEXES = ("flat", "hnsw")
# The largest ef that Milvus takes.
_MOST_EF = 32_768
_CONSISTENCIES = ("Strong", "Session", "Bounded", "Eventually")


class MilvusStore(Store):
    """Two collections: passages under the name of the library, entries beside them."""

    provider = "milvus"
    capabilities = Capabilities(keyword=True, hybrid=True, max_results=16_384)
    known_options: ClassVar[Mapping[str, str]] = {
        "index": "Index of a new collection: flat compares all points; hnsw is for more than some 200,000 (flat).",
        "ef": "How many candidates a search by hnsw looks at, at least twice what it returns (256).",
        "m": "How many neighbours a point has in the graph of a new hnsw index (16).",
        "ef_construction": "How many candidates are looked at for each neighbour in a new hnsw index (200).",
        "consistency": "What a search sees: Strong all that is written, Session, Bounded or Eventually less (Strong).",
        "database": "The database of the server that holds the collection (the default one).",
        "tls": "Set to false to allow api_key on an http:// address that is not this machine (true).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._index = self._choice("index", "flat", _INDEXES)
        self._ef = self._number("ef", 256)
        self._m = self._number("m", 16)
        self._ef_construction = self._number("ef_construction", 200)
        consistency = self._choice("consistency", "Strong", _CONSISTENCIES)
        self._connection = MilvusConnection(settings)
        name = settings.collection
        self._points = MilvusCollection(self._connection, collection_name(name), "id", consistency, _BATCH)
        # What is kept there has to be seen at once by all, whatever a search may miss.
        self._entries = MilvusCollection(
            self._connection, collection_name(name, "entries"), "key", "Strong", _ENTRIES
        )
        self._words: bool | None = None

    def _number(self, name: str, default: int) -> int:
        value: int = self.settings.option(name, default)
        if value < 1:
            raise UsageError(f"The option {name} of the database provider milvus must be at least 1.")
        return value

    def _choice(self, name: str, default: str, known: tuple[str, ...]) -> str:
        value: str = self.settings.option(name, default)
        if value not in known:
            raise UsageError(
                f"The option {name} of the database provider milvus must be one of {', '.join(known)}."
            )
        return value

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None when there is no such collection."""
        found = self._points.info()
        return None if found is None else check_points(self._points.name, found)

    def create(self, dimension: int) -> None:
        """Make both collections, their indexes, and load them."""
        version = self._connection.version()
        found = self.dimension()
        if found is None:
            self._points.make(points_schema(dimension, words=version >= WITH_WORDS))
            found = self.dimension()
        if found != dimension:
            raise StoreSchemaError(
                f"milvus: the collection {self._points.name} has vectors of {found} numbers, the embedding model makes "
                f"{dimension}. Use the model it was made with, or another name in collection."
            )
        entries = self._entries.info()
        if entries is None:
            self._entries.make(entries_schema())
        else:
            check_entries(self._entries.name, entries)
        graph = {"M": self._m, "efConstruction": self._ef_construction}
        dense = {"index_type": "HNSW", "params": graph} if self._index == "hnsw" else {"index_type": "FLAT"}
        self._points.finish(points_indexes(dense, version))
        self._entries.finish(entries_indexes(version))

    def drop(self) -> None:
        """Delete both collections, where they are ours."""
        if self.dimension() is not None:
            self._points.drop()
        if (found := self._entries.info()) is not None:
            check_entries(self._entries.name, found)
            self._entries.drop()
        self._words = None

    def close(self) -> None:
        """Let go of the connection; the next call opens it again."""
        self._connection.close()

    def _has_words(self) -> bool:
        if self._words is None:
            found = self._points.info()
            self._words = found is not None and has_words(found)
        return self._words

    def _need_words(self, what: str) -> None:
        if not self._has_words():
            raise StoreError(
                f"milvus: {what} needs a server of version 2.5 or later, and a collection that was made there. "
                "Set native to none, or index again."
            )

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, as many in a request as it may hold."""
        words = self._has_words() if points else False
        for batch in sized_batches(points, size_of, most=_BATCH, total=_REQUEST_BYTES):
            self._points.write([to_row(point, words=words) for point in batch])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        self._points.delete(ids)

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        return [to_point(row) for row in self._points.fetch(ids, point_fields(vectors=True))]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Go through the points with an iterator of the server."""
        condition = "" if document is None else is_just("document", document)
        for batch in self._points.scan(condition, point_fields(vectors=vectors)):
            yield [to_point(row) for row in batch]

    def count(self) -> int:
        """Return how many points there are."""
        return self._points.count()

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the dense vectors."""
        if documents is not None and not documents:
            return []
        found = self._points.search(
            lambda client, common: client.search(
                self._points.name,
                data=[np.asarray(vector, np.float32)],
                anns_field=DENSE,
                filter=self._of(documents),
                search_params=self._effort(limit),
                **common,
            ),
            limit,
        )
        return [Found(*hit) for hit in found]

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the words by BM25."""
        if not terms or (documents is not None and not documents):
            return []
        self._need_words("native: keyword")
        found = self._points.search(
            lambda client, common: client.search(
                self._points.name,
                data=[whole_words(terms)],
                anns_field=SPARSE,
                filter=self._of(documents),
                search_params={"metric_type": "BM25"},
                **common,
            ),
            limit,
        )
        # Milvus Lite gives them as distances, below zero.
        return [Found(name, abs(score)) for name, score in found]

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Add up the scores of both searches in the server, each brought to 0 to 1 and weighed."""
        if documents is not None and not documents:
            return []
        if not terms:
            return self.search(vector, limit, documents)
        self._need_words("native: hybrid")
        total = sum(weights) or 1.0
        condition = self._of(documents)
        dense = np.asarray(vector, np.float32)
        legs = [
            AnnSearchRequest([dense], DENSE, self._effort(limit), limit, expr=condition),
            AnnSearchRequest([whole_words(terms)], SPARSE, {"metric_type": "BM25"}, limit, expr=condition),
        ]
        ranker = WeightedRanker(*(weight / total for weight in weights))
        found = self._points.search(
            lambda client, common: client.hybrid_search(self._points.name, legs, ranker, **common), limit
        )
        return [Found(*hit) for hit in found]

    def _effort(self, limit: int) -> dict[str, Any]:
        # What was written last is searched by a coarse index of the server's own until it has made this one; with flat
        # it never is, and long lists of results are whole at any time.
        graph = {"ef": min(max(self._ef, 2 * limit), _MOST_EF)} if self._index == "hnsw" else {}
        return {"metric_type": "COSINE", "params": graph}

    def _of(self, documents: Collection[str] | None) -> str:
        return "" if documents is None else one_of("document", documents)

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        for batch in batches(entries, _ENTRIES):
            self._entries.write([entry_row(entry) for entry in batch])

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        rows = self._entries.fetch(keys, list(_ENTRY_FIELDS))
        return {entry.key: entry.value for entry in map(to_entry, rows)}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Go through the entries of a kind."""
        condition = is_just("kind", kind)
        if group is not None:
            condition += f" and {is_just('group', group)}"
        for batch in self._entries.scan(condition, list(_ENTRY_FIELDS)):
            yield [to_entry(row) for row in batch]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._entries.delete(keys)


_ENTRY_FIELDS = (*Entry._fields, "more")
