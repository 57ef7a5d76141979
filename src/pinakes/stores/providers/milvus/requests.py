"""Requests to one collection of Milvus, each of a size that the server takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pymilvus.exceptions import MilvusException

from pinakes.errors import StoreError
from pinakes.stores.providers.milvus.connection import MilvusConnection
from pinakes.stores.providers.milvus.shape import one_of

_NOT_LOADED = 101
_IDS = 1000
# Milvus Lite compares what is not yet on disk row by row; from this many rows on it is worth writing them there.
_UNSORTED = 2000

Result = TypeVar("Result")


class MilvusCollection:
    """A collection by its name, whether it is there or not."""

    def __init__(
        self, connection: MilvusConnection, name: str, key: str, consistency: str, batch: int
    ) -> None:
        self.connection = connection
        self.name = name
        self._key = key
        self._consistency = consistency
        self._batch = batch
        self._loaded = False
        self._unsorted = 0

    def info(self) -> Mapping[str, Any] | None:
        """Return what the collection is made of; None when it is not there."""

        def look(client: Any) -> Mapping[str, Any] | None:
            if not client.has_collection(self.name, timeout=self.connection.timeout):
                return None
            found: Mapping[str, Any] = client.describe_collection(self.name, timeout=self.connection.timeout)
            return found

        return self.connection.call(look)

    def make(self, schema: Any) -> None:
        """Make the collection, unless another does so at the same moment."""

        def add(client: Any) -> None:
            with self.connection.writing():
                client.create_collection(
                    self.name,
                    schema=schema,
                    consistency_level=self._consistency,
                    timeout=self.connection.timeout,
                )

        try:
            self.connection.call(add)
        except StoreError:
            if self.info() is None:
                raise

    def finish(self, indexes: Mapping[str, Mapping[str, Any]]) -> None:
        """Make the indexes that are missing, and load the collection."""
        for field, index in indexes.items():
            if field not in self._indexed():
                self._index(field, index)
        self.ready(lambda client: None)

    def _indexed(self) -> list[str]:
        def look(client: Any) -> list[str]:
            names: list[str] = client.list_indexes(self.name)
            return names

        return self.connection.call(look)

    def _index(self, field: str, index: Mapping[str, Any]) -> None:
        def add(client: Any) -> None:
            wanted = client.prepare_index_params()
            wanted.add_index(field, index_name=field, **index)
            with self.connection.writing():
                # There is nothing in it yet that would be worth waiting for.
                client.create_index(self.name, wanted, timeout=self.connection.timeout, sync=False)

        try:
            self.connection.call(add)
        except StoreError:
            # Another made it a moment before.
            if field not in self._indexed():
                raise

    def drop(self) -> None:
        """Delete the collection."""

        def remove(client: Any) -> None:
            with self.connection.writing():
                client.drop_collection(self.name, timeout=self.connection.timeout)

        self.connection.call(remove)
        self._loaded = False

    def ready(self, work: Callable[[Any], Result]) -> Result:
        """Do something with the collection in memory; a server that was started again has to load it first."""

        def attempt(client: Any) -> Result:
            if self._loaded:
                try:
                    return work(client)
                except MilvusException as error:
                    if error.code != _NOT_LOADED and "not loaded" not in error.message:
                        raise
            with self.connection.writing():
                client.load_collection(self.name, timeout=self.connection.timeout)
            self._loaded = True
            return work(client)

        return self.connection.call(attempt)

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store things, in one request."""
        # The last of a key counts; the server wants each only once.
        unique = list({row[self._key]: dict(row) for row in rows}.values())

        def send(client: Any) -> None:
            with self.connection.writing():
                client.upsert(self.name, unique, timeout=self.connection.timeout)
                self._unsorted += len(unique)
                if self._unsorted >= _UNSORTED and self.connection.path is not None:
                    client.flush(self.name, timeout=self.connection.timeout)
                    self._unsorted = 0

        if unique:
            self.ready(send)

    def delete(self, keys: Sequence[str]) -> None:
        """Delete things by key."""
        for start in range(0, len(keys), _IDS):
            self._delete(list(keys[start : start + _IDS]))

    def _delete(self, keys: list[str]) -> None:
        def send(client: Any) -> None:
            with self.connection.writing():
                client.delete(self.name, ids=keys, timeout=self.connection.timeout)

        self.ready(send)

    def fetch(self, keys: Sequence[str], fields: list[str]) -> Iterator[Mapping[str, Any]]:
        """Return things by key."""
        for start in range(0, len(keys), self._batch):
            yield from self.query(one_of(self._key, keys[start : start + self._batch]), fields)

    def query(self, condition: str, fields: list[str]) -> list[Mapping[str, Any]]:
        """Return what meets a condition, all at once."""
        return self.ready(
            lambda client: list(
                client.query(
                    self.name,
                    filter=condition,
                    output_fields=fields,
                    consistency_level=self._consistency,
                    timeout=self.connection.timeout,
                )
            )
        )

    def scan(self, condition: str, fields: list[str]) -> Iterator[list[Mapping[str, Any]]]:
        """Return what meets a condition, in batches."""
        pages = self.ready(
            lambda client: client.query_iterator(
                self.name,
                batch_size=self._batch,
                filter=condition,
                output_fields=fields,
                consistency_level=self._consistency,
                timeout=self.connection.timeout,
            )
        )
        try:
            while batch := self.connection.call(lambda _: list(pages.next())):
                yield batch
        finally:
            pages.close()

    def count(self) -> int:
        """Return how many things there are."""
        return int(self.query("", ["count(*)"])[0]["count(*)"])

    def search(self, work: Callable[[Any, Mapping[str, Any]], Any], limit: int) -> list[tuple[str, float]]:
        """Return the keys and scores that a search gives."""
        common = {
            "limit": limit,
            "output_fields": [self._key],
            "consistency_level": self._consistency,
            "timeout": self.connection.timeout,
        }
        (found,) = self.ready(lambda client: work(client, common))
        return [(str(hit[self._key]), float(hit["distance"])) for hit in found]
