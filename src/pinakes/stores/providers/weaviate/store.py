"""Weaviate, through its own client: REST for the collections, gRPC for what is in them."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from weaviate.classes.query import Filter, HybridFusion, MetadataQuery

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.size_watch import SizeWatch
from pinakes.stores.providers.weaviate.collection import (
    ENTRY_FIELDS,
    FIRST,
    FULL_PAGE,
    PASSAGE,
    POINT_FIELDS,
    WINDOW,
    WeaviateTable,
    class_names,
    delete_class,
    entry_id,
    entry_object,
    entry_of,
    has_entries,
    make_entries,
    make_points,
    object_of,
    of_documents,
    point_of,
    query_words,
    read_dimension,
)
from pinakes.stores.providers.weaviate.connection import WeaviateLink
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store


class WeaviateStore(Store):
    """Two collections: points with vectors of our own, and entries."""

    provider = "weaviate"
    capabilities = Capabilities(keyword=True, hybrid=True, max_results=WINDOW, max_filter=1_000, batch=500)
    known_options: ClassVar[Mapping[str, str]] = {
        "grpc_host": "Host of the gRPC endpoint, where it is not that of the connection string.",
        "grpc_port": "Port of the gRPC endpoint: 50051, or 443 for weaviate.cloud.",
        "ef": "How many candidates the HNSW index keeps while it searches, at least as many as are asked for (512).",
        "ef_construction": "How carefully the HNSW index is built (256).",
        "max_connections": "Connections of a vector in the HNSW index (32).",
        "exact_below": "Below this many passages every vector is compared; set when the collection is made (40000).",
        "replicas": "How many nodes hold each object, when the collection is made; what the server does by default.",
        "tls": "false allows api_key over http:// to another machine.",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._link = WeaviateLink(settings)
        points, entries = class_names(settings.collection)
        self._points = WeaviateTable(self._link, points)
        self._entries = WeaviateTable(self._link, entries)
        self._size = SizeWatch(self.count, settings.option("exact_below", 40_000))

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, which the description of the collection says."""
        return self._link.run(lambda client: read_dimension(client, self._points.name))

    def create(self, dimension: int) -> None:
        """Make both collections, the points last: where they are, all is there."""
        present = self.dimension()
        if present is None:
            if not self._link.run(lambda client: has_entries(client, self._entries.name)):
                self._link.run(lambda client: make_entries(client, self._entries.name, self.settings))
            self._link.run(lambda client: make_points(client, self._points.name, dimension, self.settings))
            present = self.dimension()
        if present != dimension:
            raise StoreSchemaError(
                f"The weaviate collection {self._points.name} has vectors of length {present}, the embedding model "
                f"makes {dimension}: use the model it was made with, or another collection."
            )

    def drop(self) -> None:
        """Delete both collections, if they are ours."""
        if self.dimension() is not None:
            self._link.run(lambda client: delete_class(client, self._points.name))
        if self._link.run(lambda client: has_entries(client, self._entries.name)):
            self._link.run(lambda client: delete_class(client, self._entries.name))
        self._size.forget()

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._link.close()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points in batches by gRPC."""
        # The server stores the objects of a batch side by side: of two with one id either could win.
        last = {point.id: point for point in points}
        self._points.insert([object_of(point) for point in last.values()], self.capabilities.batch)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        self._points.delete(ids)

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id with all there is."""
        return [point_of(item) for item in self._points.by_id(ids, POINT_FIELDS, vectors=True)]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Walk through the ids in their order; those of a document stand together."""
        after, prefix = FIRST, ""
        if document is not None:
            prefix = document
            after = uuid.UUID(int=max((int(document, 16) << 64) - 1, 0))
        for page in self._points.walk(after, POINT_FIELDS if vectors else (), vectors=vectors):
            found = [point_of(item) for item in page if item.uuid.hex.startswith(prefix)]
            if found:
                yield found
            if len(found) < len(page):
                return

    def count(self) -> int:
        """Return how many points there are."""
        total = self._points.run(lambda table: table.aggregate.over_all(total_count=True).total_count)
        return total or 0

    # -- search ----------------------------------------------------------------------------------------------

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search by vector: every one is compared below the server's cutoff, the HNSW index is used beyond."""
        if documents is not None and not documents:
            return []
        allowed = self._allowed(documents)
        found = self._points.run(
            lambda table: table.query.near_vector(
                near_vector=vector.tolist(),
                limit=min(limit, WINDOW),
                filters=allowed,
                return_metadata=MetadataQuery(distance=True),
                return_properties=False,
            )
        )
        return [Found(str(hit.uuid), 1.0 - (hit.metadata.distance or 0.0)) for hit in found.objects]

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the terms by BM25; one of the words is enough."""
        words = query_words(terms)
        if not words or (documents is not None and not documents):
            return []
        found = self._points.run(
            lambda table: table.query.bm25(
                query=words,
                query_properties=["terms"],
                limit=min(limit, WINDOW),
                filters=of_documents(documents),
                return_metadata=MetadataQuery(score=True),
                return_properties=False,
            )
        )
        return [Found(str(hit.uuid), hit.metadata.score or 0.0) for hit in found.objects]

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Fuse both searches by their scores relative to the best of each, which keeps the weights what they are."""
        words = query_words(terms)
        if not words:
            return self.search(vector, limit, documents)
        if documents is not None and not documents:
            return []
        total = sum(weights)
        allowed = self._allowed(documents)
        found = self._points.run(
            lambda table: table.query.hybrid(
                query=words,
                query_properties=["terms"],
                vector=vector.tolist(),
                alpha=weights[0] / total if total else 0.5,
                fusion_type=HybridFusion.RELATIVE_SCORE,
                limit=min(limit, WINDOW),
                filters=allowed,
                return_metadata=MetadataQuery(score=True),
                return_properties=False,
            )
        )
        return [Found(str(hit.uuid), hit.metadata.score or 0.0) for hit in found.objects]

    def _allowed(self, documents: Collection[str] | None) -> Any:
        """Return the filter of a search by vector; one that all pass makes the server compare every vector."""
        if documents is None and self._size.small():
            return Filter.by_property("kind").equal(PASSAGE)
        return of_documents(documents)

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        last = {entry.key: entry for entry in entries}
        self._entries.insert([entry_object(entry) for entry in last.values()], self.capabilities.batch)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return {entry.key: entry.value for entry in self._read([entry_id(key) for key in keys])}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches: first which there are, then what is in them."""
        wanted = Filter.by_property("kind").equal(kind)
        if group is not None:
            wanted = wanted & Filter.by_property("group").equal(group)
        ids = self._entries.matching(wanted)
        if ids is not None:
            yield from self._in_batches(ids)
            return
        # More than one answer can hold, and a filter cannot be walked through: look at all of them.
        for page in self._entries.walk(FIRST, ("kind", "group")):
            ids = [
                str(item.uuid)
                for item in page
                if item.properties["kind"] == kind and group in (None, item.properties["group"])
            ]
            yield from self._in_batches(ids)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._entries.delete([entry_id(key) for key in keys])

    def _read(self, ids: Sequence[str]) -> Iterator[Entry]:
        return map(entry_of, self._entries.by_id(ids, ENTRY_FIELDS))

    def _in_batches(self, ids: Sequence[str]) -> Iterator[list[Entry]]:
        for some in batches(ids, FULL_PAGE):
            if found := list(self._read(some)):
                yield found
