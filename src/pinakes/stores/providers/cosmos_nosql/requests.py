"""Reading and writing many items of Azure Cosmos DB: by partition, in batches, several requests at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from azure.cosmos import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosResourceNotFoundError

from pinakes.errors import StoreError
from pinakes.stores.providers.cosmos_nosql import queries
from pinakes.stores.providers.cosmos_nosql.items import OPERATIONS, batches
from pinakes.stores.providers.cosmos_nosql.link import Link

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
        tasks = [(group, batch) for group, found in groups.items() for batch in batches(found)]
        self._at_once(
            lambda task: self._batch(name, task[0], [("upsert", (item,)) for item in task[1]]), tasks
        )

    def remove(self, name: str, groups: Mapping[str, list[str]]) -> None:
        """Delete what is there: a batch with an unknown id would fail as a whole."""

        def work(task: tuple[str, list[str]]) -> None:
            group, ids = task
            there = self.all(name, queries.IDS_OF, {"@ids": ids}, group)
            for start in range(0, len(there), OPERATIONS):
                batch = there[start : start + OPERATIONS]
                try:
                    self._batch(name, group, [("delete", (found,)) for found in batch])
                except CosmosBatchOperationError:
                    # Another deleted some of them meanwhile.
                    for found in batch:
                        self._delete_one(name, group, found)

        self._at_once(work, list(groups.items()))

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
