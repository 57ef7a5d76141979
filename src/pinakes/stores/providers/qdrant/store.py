"""Qdrant: a server, a cluster, or a folder that its client library searches itself."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from qdrant_client import QdrantClient, models

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError, UsageError
from pinakes.stores.providers.batches import sized_batches
from pinakes.stores.providers.qdrant.collection import (
    BATCH,
    DENSE,
    SPARSE,
    QdrantCollection,
    QdrantEntries,
    asked,
    check_points,
    of_documents,
    plain,
    size_of,
    to_point,
    to_struct,
)
from pinakes.stores.providers.qdrant.connection import SERVER, QdrantConnection
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

# The server refuses requests of more than 32 MB.
_REQUEST_BYTES = 8_000_000
# How long a number of points is good enough to choose the kind of search by, in seconds.
_COUNT_AGE = 60.0


class QdrantStore(Store):
    """Two collections: passages under the name of the library, entries beside them."""

    provider = "qdrant"
    capabilities = Capabilities(keyword=True, hybrid=True, claims=True)
    known_options: ClassVar[Mapping[str, str]] = {
        "hnsw_ef": "How many candidates a search of a large collection looks at, at least what it returns (256).",
        "exact_below": "Up to this many points every one is compared, so that results are exact (20000).",
        "average_terms": "How many words a chunk has on average, for the keyword ranking (200).",
        "rrf_k": "How slowly the native fusion lets ranks fade; larger is slower (2, Qdrant's own).",
        "shards": "Into how many shards a new collection is cut; 0 leaves it to the server (0).",
        "replicas": "How many copies of a new collection a cluster keeps; 0 leaves it to the server (0).",
        "on_disk": "Whether vectors of a new collection stay on disk instead of in memory (false).",
        "quantization": "Whether a new collection keeps vectors as bytes too, and searches those first (false).",
        "tls": "Set to false to allow api_key on an http:// address that is not this machine (true).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._hnsw_ef = self._number("hnsw_ef", 256)
        self._exact_below = self._number("exact_below", 20_000, least=0)
        self._average = self._number("average_terms", 200)
        self._rrf_k = self._number("rrf_k", 2)
        self._shards = self._number("shards", 0, least=0)
        self._replicas = self._number("replicas", 0, least=0)
        self._on_disk = bool(settings.option("on_disk", False))
        self._quantized = bool(settings.option("quantization", False))
        self._connection = QdrantConnection(settings)
        self._points = QdrantCollection(self._connection, settings.collection)
        # No collection of a library can have a dot in its name.
        self._entries = QdrantEntries(self._connection, f"{settings.collection}.entries")
        self._counted: tuple[int, float] | None = None

    @property
    def alone(self) -> bool:
        """Whether it is a folder, which the client library opens for one process."""
        return self._connection.folder is not None

    def _number(self, name: str, default: int, *, least: int = 1) -> int:
        value: int = self.settings.option(name, default)
        if value < least:
            raise UsageError(f"The option {name} of the database provider qdrant must be at least {least}.")
        return value

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None when there is no such collection."""
        info = self._points.info()
        return None if info is None else check_points(self._points.name, info)

    def create(self, dimension: int) -> None:
        """Make both collections and their payload indexes."""
        found = self.dimension()
        if found is None:
            self._points.make(lambda client: self._create(client, dimension))
            found = self.dimension()
        if found != dimension:
            raise StoreSchemaError(
                f"qdrant: the collection {self._points.name} has vectors of {found} numbers, the embedding model makes "
                f"{dimension}. Use the model it was made with, or another name in collection."
            )
        self._points.index("document")
        self._entries.create(self._replicas)

    def _create(self, client: QdrantClient, dimension: int) -> None:
        dense = models.VectorParams(
            size=dimension, distance=models.Distance.COSINE, on_disk=self._on_disk or None
        )
        as_bytes = models.ScalarQuantizationConfig(
            type=models.ScalarType.INT8, quantile=0.99, always_ram=True
        )
        client.create_collection(
            self._points.name,
            vectors_config={DENSE: dense},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            shard_number=self._shards or None,
            replication_factor=self._replicas or None,
            quantization_config=models.ScalarQuantization(scalar=as_bytes) if self._quantized else None,
        )

    def drop(self) -> None:
        """Delete both collections, where they are ours."""
        if self.dimension() is not None:
            self._points.drop()
        self._entries.drop()
        self._counted = None

    def close(self) -> None:
        """Let go of the connection; the next call opens it again."""
        self._connection.close()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, as many in a request as it may hold."""
        for batch in sized_batches(points, size_of, most=BATCH, total=_REQUEST_BYTES):
            self._points.write([to_struct(point, self._average) for point in batch])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        self._points.delete(ids)

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        return [to_point(record) for record in self._points.retrieve(ids, vector=DENSE)]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Scroll through the points, in the order of their ids."""
        condition = None if document is None else of_documents([document])
        vector = DENSE if vectors else ""
        for batch in self._points.scroll(condition, payload=vectors, vector=vector):
            yield [to_point(record) for record in batch]

    def count(self) -> int:
        """Return how many points there are."""
        return self._points.count(exact=True)

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the dense vectors: all of them while they are few, by the HNSW graph beyond."""
        if documents is not None and not documents:
            return []
        effort = self._effort(limit)
        return self._query(limit, documents, query=plain(vector), using=DENSE, search_params=effort)

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the sparse vectors."""
        if not terms or (documents is not None and not documents):
            return []
        return self._query(limit, documents, query=asked(terms), using=SPARSE)

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Fuse both searches by reciprocal ranks in the server; a weight divides the ranks of its side."""
        if documents is not None and not documents:
            return []
        self._connection.require(SERVER, "native: hybrid")
        condition = None if documents is None else of_documents(list(documents))
        meaning = models.Prefetch(
            query=plain(vector),
            using=DENSE,
            filter=condition,
            limit=limit,
            params=self._effort(limit),
        )
        words = models.Prefetch(query=asked(terms), using=SPARSE, filter=condition, limit=limit)
        legs = [meaning, words] if terms else [meaning]
        fusion = models.Rrf(k=self._rrf_k, weights=list(weights[: len(legs)]))
        return self._query(limit, None, query=models.RrfQuery(rrf=fusion), prefetch=legs)

    def _query(
        self,
        limit: int,
        documents: Collection[str] | None,
        *,
        query: list[float] | models.SparseVector | models.RrfQuery,
        using: str | None = None,
        search_params: models.SearchParams | None = None,
        prefetch: list[models.Prefetch] | None = None,
    ) -> list[Found]:
        answer = self._connection.call(
            lambda client: client.query_points(
                self._points.name,
                query=query,
                using=using,
                prefetch=prefetch,
                query_filter=None if documents is None else of_documents(list(documents)),
                search_params=search_params,
                limit=limit,
                with_payload=False,
                with_vectors=False,
            )
        )
        return [Found(str(hit.id), hit.score) for hit in answer.points]

    def _effort(self, limit: int) -> models.SearchParams | None:
        """Return how hard the server is to look; local mode always compares everything."""
        if self._connection.folder is not None:
            return None
        now = time.monotonic()
        if self._counted is None or now - self._counted[1] > _COUNT_AGE:
            self._counted = self._points.count(exact=False), now
        if self._counted[0] <= self._exact_below:
            return models.SearchParams(exact=True)
        return models.SearchParams(hnsw_ef=max(self._hnsw_ef, limit))

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        self._entries.put(entries)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return self._entries.get(keys)

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches."""
        return self._entries.entries(kind, group)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._entries.remove(keys)

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry where it is as expected."""
        return self._entries.swap(entry, expected)
