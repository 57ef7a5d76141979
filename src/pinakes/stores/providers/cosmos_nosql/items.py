"""Points and entries as items of Azure Cosmos DB: their shape, the queries put to them, and many of them at once."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from azure.cosmos import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosResourceNotFoundError

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError
from pinakes.stores.providers.batches import batches, sized_batches
from pinakes.stores.providers.cosmos_nosql.connection import Link
from pinakes.stores.providers.whole_words import whole_words
from pinakes.stores.store import Entry, Point

POINT_KEY, ENTRY_KEY = "/document", "/shard"
# Also the order of fields in an item.
PAYLOAD = ("source_path", "heading", "language", "file_type", "text", "terms")

ALL_IDS = "SELECT c.id, c.document FROM c"
ALL_POINTS = f"SELECT c.id, c.document, c.vector, {', '.join(f'c.{name}' for name in PAYLOAD)} FROM c"
POINTS_BY_ID = f"{ALL_POINTS} WHERE ARRAY_CONTAINS(@ids, c.id)"
COUNT = "SELECT VALUE COUNT(1) FROM c"
IDS_OF = "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@ids, c.id)"
VALUES_BY_ID = 'SELECT c.id, c["value"] FROM c WHERE ARRAY_CONTAINS(@ids, c.id)'
_ENTRIES = 'SELECT c.id, c.kind, c["group"], c["value"] FROM c WHERE c.kind = @kind'
ENTRIES_OF_KIND = _ENTRIES
ENTRIES_OF_GROUP = f'{_ENTRIES} AND c["group"] = @group'


def vector_policy(dimension: int) -> dict[str, Any]:
    """Say where the vectors are; it cannot be changed later."""
    return {
        "vectorEmbeddings": [
            {"path": "/vector", "dataType": "float32", "dimensions": dimension, "distanceFunction": "cosine"}
        ]
    }


def full_text_policy() -> dict[str, Any]:
    """Say where the words are. A language must be named; the words are written so that it does not matter."""
    return {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/words", "language": "en-US"}]}


def point_indexes(kind: str, *, words: bool) -> dict[str, Any]:
    """Index the vectors, the document, and the words where they are asked for; everything else is only stored."""
    policy: dict[str, Any] = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/document/?"}],
        "excludedPaths": [{"path": "/*"}, {"path": "/vector/*"}],
        "vectorIndexes": [{"path": "/vector", "type": kind}],
    }
    if words:
        policy["fullTextIndexes"] = [{"path": "/words"}]
    return policy


def entry_indexes() -> dict[str, Any]:
    """Index what entries are looked for by."""
    return {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/shard/?"}, {"path": "/kind/?"}, {"path": "/group/?"}],
        "excludedPaths": [{"path": "/*"}],
    }


def vector_query(
    limit: int, documents: Collection[str] | None, *, exact: bool, knobs: Mapping[str, int]
) -> str:
    """Ask for the points nearest to @vector; the service puts the most similar first."""
    distance = f"VectorDistance(c.vector, @vector{_manner(exact=exact, knobs=knobs)})"
    return (
        f"SELECT TOP {limit} c.id, {distance} AS score FROM c{_where(_within(documents))} ORDER BY {distance}"
    )


def keyword_query(words: Sequence[str], limit: int, documents: Collection[str] | None) -> str:
    """Ask for the points that have any of some words, the best by BM25 first. Words are letters and need no quoting."""
    listed = ", ".join(f'"{word}"' for word in words)
    conditions = (f"FullTextContainsAny(c.words, {listed})", _within(documents))
    return (
        f"SELECT TOP {limit} c.id FROM c{_where(*conditions)} ORDER BY RANK FullTextScore(c.words, {listed})"
    )


def hybrid_query(
    vector: Vectors,
    words: Sequence[str],
    weights: tuple[float, float],
    limit: int,
    documents: Collection[str] | None,
    *,
    exact: bool,
    knobs: Mapping[str, int],
) -> str:
    """Ask for what the fusion of both gives. All is written into the query: its parts are sent one by one."""
    listed = ", ".join(f'"{word}"' for word in words)
    distance = f"VectorDistance(c.vector, {json.dumps(numbers(vector))}{_manner(exact=exact, knobs=knobs)})"
    fusion = f"RRF({distance}, FullTextScore(c.words, {listed}), [{weights[0]:.6g}, {weights[1]:.6g}])"
    return f"SELECT TOP {limit} c.id FROM c{_where(_within(documents))} ORDER BY RANK {fusion}"


def numbers(vector: Vectors) -> list[float]:
    """Return a vector with as many digits as tell all single precision numbers apart, and no more."""
    return [float(f"{number:.9g}") for number in vector.tolist()]


def _manner(*, exact: bool, knobs: Mapping[str, int]) -> str:
    if exact:
        return ", true"
    return f", false, {json.dumps(dict(knobs))}" if knobs else ""


def _within(documents: Collection[str] | None) -> str:
    # Written out, so that the service can see which partitions are meant.
    return "" if documents is None else f"c.document IN ({', '.join(json.dumps(name) for name in documents)})"


def _where(*conditions: str) -> str:
    wanted = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(wanted)}" if wanted else ""


# What a transactional batch takes: operations, and bytes with room for what surrounds them.
OPERATIONS = 100
_BYTES = 1_500_000
_SHARDS = 32


def grouped(names: Sequence[str], group: Callable[[str], str]) -> dict[str, list[str]]:
    """Put names together that are in the same partition."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        groups[group(name)].append(name)
    return groups


def shard(key: str) -> str:
    """Say which shard an entry is in. The number of shards can never change."""
    return f"{hashlib.sha256(key.encode()).digest()[0] % _SHARDS:02}"


def record(entry: Entry) -> dict[str, Any]:
    """Write an entry as an item."""
    return {
        "id": entry.key,
        "shard": shard(entry.key),
        "kind": entry.kind,
        "group": entry.group,
        "value": entry.value,
    }


def item(point: Point) -> dict[str, Any]:
    """Write a point as an item; what has no vector or words has no such fields."""
    written: dict[str, Any] = {"id": point.id, "document": point.document}
    written.update((name, _sound(getattr(point, name))) for name in PAYLOAD)
    if point.vector is not None:
        written["vector"] = numbers(point.vector)
    if point.terms:
        written["words"] = " ".join(whole_words(point.terms))
    return written


def point(item: Mapping[str, Any]) -> Point:
    """Read a point, or what was asked of it."""
    vector = item.get("vector")
    payload = {name: item.get(name, "") for name in PAYLOAD}
    return Point(
        item["id"], item["document"], None if vector is None else np.asarray(vector, np.float32), **payload
    )


def _sound(text: str) -> str:
    """Replace what is no character (half a surrogate pair, from a file name that is no Unicode)."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _length(item: dict[str, Any]) -> int:
    return len(json.dumps(item, ensure_ascii=False).encode()) + 100


_PAGE = 1_000


class Requests:
    """The items of containers; ``missing`` is raised where one of them is not there."""

    def __init__(self, link: Link, missing: Callable[[], StoreError], parallel: int) -> None:
        self._link, self._missing, self._parallel = link, missing, parallel

    def pages(
        self, name: str, query: str, values: Mapping[str, Any], partition: str | None = None
    ) -> Iterator[list[Any]]:
        """Return the answers to a query page by page; each page is tried again by itself."""
        try:
            pages = self._link.call(
                lambda database: _ask(database, name, query, values, partition, _PAGE).by_page()
            )
            while (page := self._link.call(lambda _: next(pages, None))) is not None:
                if found := list(page):
                    yield found
        except CosmosResourceNotFoundError:
            raise self._missing() from None

    def all(
        self,
        name: str,
        query: str,
        values: Mapping[str, Any],
        partition: str | None = None,
        size: int = _PAGE,
    ) -> list[Any]:
        """Return all answers to a query, which is tried again as a whole."""
        try:
            return self._link.call(
                lambda database: list(_ask(database, name, query, values, partition, size))
            )
        except CosmosResourceNotFoundError:
            raise self._missing() from None

    def by_id(self, name: str, query: str, groups: Mapping[str, list[str]]) -> list[Any]:
        """Return the answers to a query for the ids of each partition."""

        def ask(one: tuple[str, list[str]]) -> list[Any]:
            return self.all(name, query, {"@ids": one[1]}, one[0])

        return [item for found in self._at_once(ask, list(groups.items())) for item in found]

    def write(self, name: str, key: str, items: Iterable[dict[str, Any]]) -> None:
        """Store items, those of a partition together."""
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for item in items:
            groups[item[key]].append(item)
        tasks = [
            (group, batch)
            for group, found in groups.items()
            for batch in sized_batches(found, _length, most=OPERATIONS, total=_BYTES)
        ]
        self._at_once(
            lambda task: self._batch(name, task[0], [("upsert", (item,)) for item in task[1]]), tasks
        )

    def remove(self, name: str, groups: Mapping[str, list[str]]) -> None:
        """Delete what is there: a batch with an unknown id would fail as a whole."""

        def work(task: tuple[str, list[str]]) -> None:
            group, ids = task
            there = self.all(name, IDS_OF, {"@ids": ids}, group)
            for batch in batches(there, OPERATIONS):
                self._delete(name, group, batch)

        self._at_once(work, list(groups.items()))

    def _delete(self, name: str, group: str, batch: list[str]) -> None:
        try:
            self._batch(name, group, [("delete", (found,)) for found in batch])
        except CosmosBatchOperationError:
            # Another deleted some of them meanwhile.
            for found in batch:
                self._delete_one(name, group, found)

    def _delete_one(self, name: str, group: str, found: str) -> None:
        try:
            self._link.call(
                lambda database: container(database, name).delete_item(found, partition_key=group)
            )
        except CosmosResourceNotFoundError:
            return

    def _batch(self, name: str, group: str, operations: list[tuple[str, tuple[Any, ...]]]) -> None:
        def work(database: DatabaseProxy) -> None:
            container(database, name).execute_item_batch(operations, partition_key=group)

        try:
            self._link.call(work)
        except CosmosResourceNotFoundError:
            raise self._missing() from None

    def _at_once(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        """Do tasks side by side; after the first error, what has not begun is left."""
        if len(tasks) < 2 or self._parallel == 1:
            return [work(task) for task in tasks]
        with ThreadPoolExecutor(min(self._parallel, len(tasks)), thread_name_prefix="pinakes-cosmos") as pool:
            waiting = [pool.submit(work, task) for task in tasks]
            try:
                return [future.result() for future in waiting]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def container(database: DatabaseProxy, name: str) -> ContainerProxy:
    """Return a container, whether it exists or not."""
    return database.get_container_client(name)


def _ask(
    database: DatabaseProxy,
    name: str,
    query: str,
    values: Mapping[str, Any],
    partition: str | None,
    size: int,
) -> Any:
    where: dict[str, Any] = (
        {"enable_cross_partition_query": True} if partition is None else {"partition_key": partition}
    )
    if values:
        where["parameters"] = [{"name": key, "value": value} for key, value in values.items()]
    return container(database, name).query_items(query, max_item_count=size, **where)
