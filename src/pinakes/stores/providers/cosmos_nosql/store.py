"""Azure Cosmos DB for NoSQL: points in a container with a vector index, entries in another.

Points are partitioned by document: a document is written in transactional batches, deleted and listed within its
partition, and a container grows as far as there are documents. Searches go to all physical partitions; the client
puts the answers together. Entries are spread over a fixed number of shards by a hash of their key, so that a key alone
says where its entry is, and many entries still go into one request.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from azure.core import MatchConditions
from azure.cosmos import DatabaseProxy, PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError, StoreSchemaError, UsageError
from pinakes.stores.providers.cosmos_nosql import items
from pinakes.stores.providers.cosmos_nosql.connection import Link, read_account
from pinakes.stores.providers.cosmos_nosql.items import Requests, container
from pinakes.stores.providers.whole_words import whole_words
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.shared.ids import PointId
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

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
        found = self._read(self.points, items.POINT_KEY)
        return None if found is None else self._length(found)

    def has_entries(self) -> bool:
        """Whether the container of entries is there."""
        return self._read(self.entries, items.ENTRY_KEY) is not None

    def create(self, dimension: int) -> None:
        """Make the database and the containers, as far as they are missing."""
        most = _MOST[self._index]
        if not 0 < dimension <= most:
            raise StoreError(
                f"The database provider {self._link.provider} takes vectors of up to {most:,} numbers with the "
                f"vector_index {self._index}, not {dimension:,}. Use a smaller model or another index."
            )
        found = self._read(self.points, items.POINT_KEY) or self._make_points(dimension)
        present = self._length(found)
        if present != dimension:
            raise StoreSchemaError(
                f"The collection {self._collection} of the database provider {self._link.provider} has vectors of "
                f"{present} numbers; the model makes {dimension}. Use the same model, or another collection."
            )
        if self._words and not found["indexingPolicy"].get("fullTextIndexes"):
            self._add_words(found)
        if not self.has_entries():
            self._make(self.entries, items.ENTRY_KEY, items.entry_indexes())

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
        more: dict[str, Any] = {"full_text_policy": items.full_text_policy()} if self._words else {}
        if self._throughput:
            more["offer_throughput"] = ThroughputProperties(auto_scale_max_throughput=self._throughput)
        indexes = items.point_indexes(self._index, words=self._words)
        vectors = items.vector_policy(dimension)
        self._make(self.points, items.POINT_KEY, indexes, vector_embedding_policy=vectors, **more)
        found = self._read(self.points, items.POINT_KEY)
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
                PartitionKey(items.POINT_KEY),
                indexing_policy=policy,
                vector_embedding_policy=found["vectorEmbeddingPolicy"],
                full_text_policy=items.full_text_policy(),
            )
        )


# The client refuses larger answers to a search by words (AZURE_COSMOS_HYBRID_SEARCH_MAX_ITEMS), and a query has an end.
_MAX_RANKED, _MAX_WORDS = 1_000, 100
# As in the fusion of ranks, of which the service does not tell the scores.
_RANK = 60


class CosmosNoSqlStore(Store):
    """Two containers, ``<collection>-points`` and ``<collection>-entries``."""

    provider = "azure-cosmos-nosql"
    # With session consistency, the default of an account, another client may see a write a little later.
    capabilities = Capabilities(
        keyword=True, hybrid=True, claims=True, eventual=True, max_filter=1_000, batch=items.OPERATIONS
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "database": "The database in the account; made when it is missing (pinakes).",
        "vector_index": "diskANN, quantizedFlat or flat; decided when the collection is made (diskANN).",
        "exact": "true: compare with every vector instead of using the index, at a higher charge (false).",
        "search_list_multiplier": "1 to 100: how many candidates the index looks at for each result; 0 leaves it "
        "to the service (0).",
        "throughput": "The most request units a second that the points may use (autoscale, from 1000 on); 0 for "
        "serverless accounts or shared throughput (0).",
        "parallel": "How many requests are sent at once when many points or entries are written (8).",
        "tls": "false: speak to another machine over http:// (true).",
        "verify": "false: accept the certificate of the emulator on this machine (true).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        tls = settings.option("tls", True)
        account = read_account(settings.connection_string, settings.api_key, provider=self.provider, tls=tls)
        database = settings.option("database", "pinakes")
        index = settings.option("vector_index", INDEXES[0])
        self._exact = settings.option("exact", False)
        throughput = settings.option("throughput", 0)
        parallel = settings.option("parallel", 8)
        breadth = settings.option("search_list_multiplier", 0)
        self._check(
            bool(database) and not set(database) & set("/\\?#"), "database", "a name without / \\ ? #"
        )
        self._check(index in INDEXES, "vector_index", "one of " + ", ".join(INDEXES))
        self._check(0 <= breadth <= 100, "search_list_multiplier", "0 to 100")
        self._check(throughput == 0 or throughput >= 1000, "throughput", "0, or 1000 and more")
        self._check(1 <= parallel <= 64, "parallel", "1 to 64")
        knob = "searchListSizeMultiplier" if index == "diskANN" else "quantizedVectorListMultiplier"
        self._knobs = {knob: breadth} if breadth else {}
        verify = settings.option("verify", True)
        self._link = Link(account, self.provider, database, settings.timeout, verify=verify)
        words = settings.native != "none"
        self._containers = Containers(self._link, settings.collection, index, throughput, words=words)
        self._points, self._entries = self._containers.points, self._containers.entries
        self._requests = Requests(self._link, self._containers.missing, parallel)
        self._dimension: int | None = None

    def _check(self, good: bool, option: str, wanted: str) -> None:
        if not good:
            raise UsageError(
                f"The option {option} of the database provider {self.provider} must be {wanted}."
            )

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Read it from the container's policy; a container of that name that is not ours is an error."""
        self._dimension = self._containers.dimension()
        return self._dimension

    def create(self, dimension: int) -> None:
        """Make the database and the containers, as far as they are missing."""
        self._containers.create(dimension)
        self._dimension = dimension

    def drop(self) -> None:
        """Delete both containers; the database stays."""
        self._containers.drop()
        self._dimension = None

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, those of a document together."""
        if not points:
            return
        length = self._dimension or self.dimension()
        if length is None:
            raise self._containers.missing()
        for point in points:
            if point.vector is not None and len(point.vector) != length:
                # The service would store it, and never find it.
                raise StoreSchemaError(
                    f"The database provider {self.provider} got a vector of {len(point.vector)} numbers for a "
                    f"collection of {length}. Use the same model, or another collection."
                )
        latest = {point.id: point for point in points}
        self._requests.write(self._points, "document", (items.item(point) for point in latest.values()))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points within their documents, which their ids name."""
        self._requests.remove(self._points, items.grouped(ids, lambda name: PointId.parse(name).document))

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return whole points."""
        groups = items.grouped(ids, lambda name: PointId.parse(name).document)
        return [items.point(item) for item in self._requests.by_id(self._points, items.POINTS_BY_ID, groups)]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Go through the pages of a query."""
        query = items.ALL_POINTS if vectors else items.ALL_IDS
        for page in self._requests.pages(self._points, query, {}, document):
            yield [items.point(item) for item in page]

    def count(self) -> int:
        """Let every partition count."""
        return int(sum(self._requests.all(self._points, items.COUNT, {})))

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Ask every partition for its nearest points; their similarity is the cosine."""
        if documents is not None and not documents:
            return []
        query = items.vector_query(limit, documents, exact=self._exact, knobs=self._knobs)
        rows = self._requests.all(self._points, query, {"@vector": items.numbers(vector)}, size=limit)
        return [Found(row["id"], float(row["score"])) for row in rows if "score" in row]

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Ask full text search: at most a thousand points, of very many words the first."""
        words = list(dict.fromkeys(whole_words(terms)))[:_MAX_WORDS]
        if not words or (documents is not None and not documents):
            return []
        return self._ranked(items.keyword_query(words, min(limit, _MAX_RANKED), documents), limit)

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Ask for the weighted fusion of ranks: at most a thousand points."""
        words = list(dict.fromkeys(whole_words(terms)))[:_MAX_WORDS]
        if not words:
            return self.search(vector, limit, documents)
        if documents is not None and not documents:
            return []
        most = min(limit, _MAX_RANKED)
        query = items.hybrid_query(
            vector, words, weights, most, documents, exact=self._exact, knobs=self._knobs
        )
        return self._ranked(query, limit)

    def _ranked(self, query: str, limit: int) -> list[Found]:
        """Return points in their order, with a score made of it: the service tells none."""
        # The client puts together the first page of each partition only: it must hold all.
        rows = self._requests.all(self._points, query, {}, size=min(limit, _MAX_RANKED))
        return [Found(row["id"], 1.0 / (_RANK + rank)) for rank, row in enumerate(rows, 1)]

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries, those of a shard together."""
        latest = {entry.key: entry for entry in entries}
        self._requests.write(self._entries, "shard", (items.record(entry) for entry in latest.values()))

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return values by key."""
        found = self._requests.by_id(self._entries, items.VALUES_BY_ID, items.grouped(keys, items.shard))
        return {item["id"]: item["value"] for item in found}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Go through the pages of a query."""
        query = items.ENTRIES_OF_KIND if group is None else items.ENTRIES_OF_GROUP
        values = {"@kind": kind} if group is None else {"@kind": kind, "@group": group}
        for page in self._requests.pages(self._entries, query, values):
            yield [Entry(item["id"], item["kind"], item["group"], item["value"]) for item in page]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries within their shards."""
        self._requests.remove(self._entries, items.grouped(keys, items.shard))

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Create the entry, or replace it where nobody has touched it since it was read."""
        item = items.record(entry)

        def work(database: DatabaseProxy) -> bool:
            entries = container(database, self._entries)
            if expected is None:
                entries.create_item(item)
                return True
            found = entries.read_item(entry.key, partition_key=item["shard"])
            if found["value"] != expected:
                return False
            entries.replace_item(
                entry.key, item, etag=found["_etag"], match_condition=MatchConditions.IfNotModified
            )
            return True

        try:
            return self._link.call(work)
        except (CosmosResourceExistsError, CosmosAccessConditionFailedError):
            return False
        except CosmosResourceNotFoundError:
            if not self._containers.has_entries():
                raise self._containers.missing() from None
            return False
