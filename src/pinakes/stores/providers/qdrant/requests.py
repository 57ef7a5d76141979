"""Requests to one collection of Qdrant, each of a size that the server takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from qdrant_client import QdrantClient, models

from pinakes.errors import StoreError
from pinakes.stores.providers.qdrant.connection import QdrantConnection
from pinakes.stores.providers.qdrant.errors import is_missing

BATCH = 200
_IDS = 1000


class QdrantCollection:
    """A collection by its name, whether it is there or not."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self.connection = connection
        self.name = name

    def info(self) -> models.CollectionInfo | None:
        """Return what the collection is made of; None when it is not there."""

        def look(client: QdrantClient) -> models.CollectionInfo | None:
            return client.get_collection(self.name) if client.collection_exists(self.name) else None

        try:
            return self.connection.call(look)
        except StoreError as error:
            if is_missing(error):
                return None
            raise

    def make(self, work: Callable[[QdrantClient], object]) -> None:
        """Make the collection, unless another does so at the same moment."""
        try:
            self.connection.call(work)
        except StoreError:
            if self.info() is None:
                raise

    def index(self, field: str) -> None:
        """Let the server find things by a field; local mode looks at everything anyway."""
        if self.connection.folder is None:
            schema = models.PayloadSchemaType.KEYWORD
            self.connection.call(
                lambda client: client.create_payload_index(self.name, field, field_schema=schema, wait=True)
            )

    def drop(self) -> None:
        """Delete the collection."""
        self.connection.call(lambda client: client.delete_collection(self.name))
        self.connection.forget(self.name)

    def write(self, structs: list[models.PointStruct]) -> None:
        """Store things, in one request."""
        if structs:
            self.connection.ease(self.name)
            self.connection.call(lambda client: client.upsert(self.name, structs, wait=True))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete things by id."""
        for start in range(0, len(ids), _IDS):
            self._delete(models.PointIdsList(points=[*ids[start : start + _IDS]]))

    def _delete(self, chosen: models.PointIdsList) -> None:
        self.connection.call(lambda client: client.delete(self.name, chosen, wait=True))

    def retrieve(self, ids: Sequence[str], *, vector: str = "") -> Iterator[models.Record]:
        """Return things by id, with one of their vectors where it is named."""
        for start in range(0, len(ids), _IDS):
            yield from self._retrieve(ids[start : start + _IDS], [vector] if vector else False)

    def _retrieve(self, ids: Sequence[str], vectors: list[str] | bool) -> list[models.Record]:
        return self.connection.call(lambda client: client.retrieve(self.name, ids, with_vectors=vectors))

    def scroll(
        self, condition: models.Filter | None, *, payload: bool = True, vector: str = ""
    ) -> Iterator[list[models.Record]]:
        """Return everything that meets a condition, in the order of ids."""
        start: models.ExtendedPointId | None = None
        while True:
            found, start = self._page(condition, start, payload, [vector] if vector else False)
            if found:
                yield found
            if start is None:
                return

    def _page(
        self,
        condition: models.Filter | None,
        start: models.ExtendedPointId | None,
        payload: bool,
        vectors: list[str] | bool,
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        return self.connection.call(
            lambda client: client.scroll(
                self.name, condition, limit=_IDS, offset=start, with_payload=payload, with_vectors=vectors
            )
        )

    def count(self, *, exact: bool) -> int:
        """Return how many things there are, or about how many."""
        return self.connection.call(lambda client: client.count(self.name, exact=exact)).count
