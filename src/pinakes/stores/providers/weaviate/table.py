"""One Weaviate collection: storing, deleting and listing objects, within what the server takes at a time."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weaviate.classes.query import Filter
from weaviate.collections import Collection as WeaviateCollection
from weaviate.exceptions import WeaviateInsertManyAllFailedError

from pinakes.errors import StoreError, StoreSchemaError
from pinakes.stores.providers.weaviate.link import Result, TooLargeError, WeaviateLink
from pinakes.stores.providers.weaviate.objects import Object, batches

# QUERY_MAXIMUM_RESULTS of a server as it comes.
WINDOW = 10_000
PAGE = 1_000
# Of objects with what is in them.
FULL_PAGE = 250
_DELETES = 1_000
FIRST = uuid.UUID(int=0)


class WeaviateTable:
    """A collection by its name."""

    def __init__(self, link: WeaviateLink, name: str) -> None:
        self._link = link
        self.name = name

    def run(self, call: Callable[[WeaviateCollection[Any, Any]], Result]) -> Result:
        """Return what a call of the collection returns."""
        return self._link.run(lambda client: call(client.collections.use(self.name)))

    def insert(self, objects: Sequence[Object], most: int) -> None:
        """Store objects in place of those with the same ids, so many at a time."""
        for batch in batches(objects, most):
            try:
                done = self.run(lambda table, batch=batch: table.data.insert_many(batch))  # type: ignore[misc]
            except StoreError as error:
                if isinstance(error.__cause__, WeaviateInsertManyAllFailedError):
                    raise self._refused(str(error.__cause__)) from error
                raise
            if done.has_errors:
                raise self._refused(next(iter(done.errors.values())).message)

    def _refused(self, why: str) -> StoreError:
        told = str(self._link.error(f"the collection {self.name} refused an object: {why}"))
        return StoreSchemaError(told) if "vector" in why and "length" in why else StoreError(told)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete objects by id."""
        for start in range(0, len(ids), _DELETES):
            some = Filter.by_id().contains_any(list(ids[start : start + _DELETES]))
            done = self.run(lambda table, some=some: table.data.delete_many(where=some))  # type: ignore[misc]
            if done.failed:
                raise self._link.error(f"{done.failed} objects of {self.name} could not be deleted.")

    def by_id(self, ids: Sequence[str], fields: Sequence[str], *, vectors: bool = False) -> Iterator[Any]:
        """Return the objects that exist of some ids."""
        for start in range(0, len(ids), FULL_PAGE):
            yield from self._named(list(ids[start : start + FULL_PAGE]), list(fields), vectors)

    def _named(self, ids: list[str], fields: list[str], vectors: bool) -> list[Any]:
        try:
            found = self.run(
                lambda table: table.query.fetch_objects(
                    filters=Filter.by_id().contains_any(ids),
                    limit=len(ids),
                    return_properties=fields,
                    include_vector=vectors,
                )
            )
        except TooLargeError:
            if len(ids) == 1:
                raise
            half = len(ids) // 2
            return self._named(ids[:half], fields, vectors) + self._named(ids[half:], fields, vectors)
        return list(found.objects)

    def walk(self, after: uuid.UUID, fields: Sequence[str], *, vectors: bool = False) -> Iterator[list[Any]]:
        """Return all objects behind an id, in pages and in the order of their ids."""
        size = FULL_PAGE if vectors else PAGE
        while True:
            try:
                found = self.run(
                    lambda table, after=after, size=size: table.query.fetch_objects(  # type: ignore[misc]
                        limit=size, after=after, return_properties=list(fields), include_vector=vectors
                    )
                )
            except TooLargeError:
                if size == 1:
                    raise
                size //= 2
                continue
            page = list(found.objects)
            if page:
                yield page
            if len(page) < size:
                return
            after = page[-1].uuid

    def matching(self, wanted: Any) -> list[str] | None:
        """Return the ids of the objects that pass a filter; None when there are more than one answer can hold."""
        found = self.run(
            lambda table: table.query.fetch_objects(filters=wanted, limit=WINDOW, return_properties=False)
        )
        ids = [str(item.uuid) for item in found.objects]
        return ids if len(ids) < WINDOW else None
