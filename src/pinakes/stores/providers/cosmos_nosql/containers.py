"""The two containers of a collection in Azure Cosmos DB: made, read and dropped, and never those of somebody else."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from azure.cosmos import DatabaseProxy, PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from pinakes.errors import StoreError, StoreSchemaError
from pinakes.stores.providers.cosmos_nosql import queries
from pinakes.stores.providers.cosmos_nosql.link import Link

INDEXES = ("diskANN", "quantizedFlat", "flat")
_MOST = {"diskANN": 4096, "quantizedFlat": 4096, "flat": 505}


class Containers:
    """``<collection>-points`` and ``<collection>-entries``; ``words`` says whether they are to be indexed."""

    def __init__(self, link: Link, collection: str, index: str, throughput: int, *, words: bool) -> None:
        self._link, self._collection = link, collection
        self._index, self._throughput, self._words = index, throughput, words
        self.points, self.entries = f"{collection}-points", f"{collection}-entries"

    def dimension(self) -> int | None:
        """Return the length of the vectors of the points; None where there are none yet."""
        found = self._read(self.points, queries.POINT_KEY)
        return None if found is None else self._length(found)

    def has_entries(self) -> bool:
        """Whether the container of entries is there."""
        return self._read(self.entries, queries.ENTRY_KEY) is not None

    def create(self, dimension: int) -> None:
        """Make the database and the containers, as far as they are missing."""
        most = _MOST[self._index]
        if not 0 < dimension <= most:
            raise StoreError(
                f"The database provider {self._link.provider} takes vectors of up to {most:,} numbers with the "
                f"vector_index {self._index}, not {dimension:,}. Use a smaller model or another index."
            )
        found = self._read(self.points, queries.POINT_KEY) or self._make_points(dimension)
        present = self._length(found)
        if present != dimension:
            raise StoreSchemaError(
                f"The collection {self._collection} of the database provider {self._link.provider} has vectors of "
                f"{present} numbers; the model makes {dimension}. Use the same model, or another collection."
            )
        if self._words and not found["indexingPolicy"].get("fullTextIndexes"):
            self._add_words(found)
        if not self.has_entries():
            self._make(self.entries, queries.ENTRY_KEY, queries.entry_indexes())

    def drop(self) -> None:
        """Delete both, unless they are somebody else's; the database stays."""
        there = {self.points: self.dimension() is not None, self.entries: self.has_entries()}
        for name in (name for name, found in there.items() if found):
            with contextlib.suppress(CosmosResourceNotFoundError):
                self._drop(name)

    def _drop(self, name: str) -> None:
        self._link.call(lambda database: database.delete_container(name))

    def missing(self) -> StoreSchemaError:
        """Say that a container is not there (any more)."""
        return StoreSchemaError(
            f"The database provider {self._link.provider} misses a container of the collection {self._collection}: it "
            "was dropped, or collection or the option database is another one. Index again."
        )

    def _read(self, name: str, key: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._link.call(
                lambda database: database.get_container_client(name).read()
            )
        except CosmosResourceNotFoundError:
            return None
        if found["partitionKey"]["paths"] != [key]:
            raise self._foreign(name)
        return found

    def _length(self, container: Mapping[str, Any]) -> int:
        vectors = (container.get("vectorEmbeddingPolicy") or {}).get("vectorEmbeddings") or []
        for vector in vectors:
            if vector.get("path") == "/vector":
                return int(vector["dimensions"])
        raise self._foreign(self.points)

    def _foreign(self, name: str) -> StoreSchemaError:
        return StoreSchemaError(
            f"The database provider {self._link.provider} finds a container {name} that is not Pinakes'. Use another "
            "collection, or the option database."
        )

    def _make_points(self, dimension: int) -> Mapping[str, Any]:
        with contextlib.suppress(CosmosResourceExistsError):
            self._link.call(lambda _: self._link.client().create_database_if_not_exists(self._link.name))
        more: dict[str, Any] = {"full_text_policy": queries.full_text_policy()} if self._words else {}
        if self._throughput:
            more["offer_throughput"] = ThroughputProperties(auto_scale_max_throughput=self._throughput)
        indexes = queries.point_indexes(self._index, words=self._words)
        vectors = queries.vector_policy(dimension)
        self._make(self.points, queries.POINT_KEY, indexes, vector_embedding_policy=vectors, **more)
        found = self._read(self.points, queries.POINT_KEY)
        if found is None:
            raise self.missing()
        return found

    def _make(self, name: str, key: str, indexes: dict[str, Any], **more: Any) -> None:
        def work(database: DatabaseProxy) -> None:
            database.create_container(name, PartitionKey(key), indexing_policy=indexes, **more)

        # Another may have been faster.
        with contextlib.suppress(CosmosResourceExistsError):
            self._link.call(work)

    def _add_words(self, found: Mapping[str, Any]) -> None:
        """Index the words of a container that was made without."""
        policy = {**found["indexingPolicy"], "fullTextIndexes": [{"path": "/words"}]}
        self._link.call(
            lambda database: database.replace_container(
                self.points,
                PartitionKey(queries.POINT_KEY),
                indexing_policy=policy,
                vector_embedding_policy=found["vectorEmbeddingPolicy"],
                full_text_policy=queries.full_text_policy(),
            )
        )
