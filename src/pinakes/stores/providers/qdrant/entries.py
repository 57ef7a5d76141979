"""Entries in Qdrant: a collection without vectors."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

from qdrant_client import QdrantClient, models

from pinakes.stores.providers.qdrant import shape
from pinakes.stores.providers.qdrant.connection import SERVER, QdrantConnection
from pinakes.stores.providers.qdrant.requests import BATCH, QdrantCollection
from pinakes.stores.store import Entry

# How many writings of an entry are remembered in it: more than can happen between a write and the look at it.
_PAST = 32


class QdrantEntries:
    """The half of the store that keeps entries."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self._connection = connection
        self._collection = QdrantCollection(connection, name)

    def create(self, replicas: int) -> None:
        """Make the collection and its indexes."""
        name = self._collection.name
        if (info := self._collection.info()) is None:
            self._collection.make(
                lambda client: client.create_collection(
                    name, vectors_config={}, replication_factor=replicas or None, on_disk_payload=True
                )
            )
        else:
            shape.check_entries(name, info)
        for field in ("kind", "group", "mark"):
            self._collection.index(field)

    def drop(self) -> None:
        """Delete the collection, where it is ours."""
        if (info := self._collection.info()) is not None:
            shape.check_entries(self._collection.name, info)
            self._collection.drop()

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        for start in range(0, len(entries), BATCH):
            some = entries[start : start + BATCH]
            self._collection.write([shape.entry_struct(entry, uuid.uuid4().hex) for entry in some])

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return values by key."""
        found = map(shape.to_entry, self._collection.retrieve([shape.entry_id(key) for key in keys]))
        return {entry.key: entry.value for entry in found}

    def entries(self, kind: str, group: str | None) -> Iterator[list[Entry]]:
        """Scroll through the entries of a kind."""
        for batch in self._collection.scroll(shape.of_entries(kind, group)):
            yield [shape.to_entry(record) for record in batch]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._collection.delete([shape.entry_id(key) for key in keys])

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Write only over the very writing of the entry that was looked at, then see whether it was done.

        The server does not say whether a conditional update did anything. But a writing that happened has left its
        mark in the entry, also where others have written over it since.
        """
        self._connection.require(SERVER, "sharing the work of indexing")
        mark = uuid.uuid4().hex
        return self._connection.call(lambda client: self._swap(client, entry, expected, mark))

    def _swap(self, client: QdrantClient, entry: Entry, expected: str | None, mark: str) -> bool:
        value, marks = self._writing(client, entry.key)
        if mark in marks:
            # An earlier try, whose answer was lost.
            return True
        if value != expected:
            return False
        condition, mode = None, models.UpdateMode.INSERT_ONLY
        if marks:
            match = models.MatchValue(value=marks[0])
            condition = models.Filter(must=[models.FieldCondition(key="mark", match=match)])
            mode = models.UpdateMode.UPDATE_ONLY
        client.upsert(
            self._collection.name,
            [shape.entry_struct(entry, mark, marks[: _PAST - 1])],
            wait=True,
            ordering=models.WriteOrdering.STRONG,
            update_filter=condition,
            update_mode=mode,
        )
        return mark in self._writing(client, entry.key)[1]

    def _writing(self, client: QdrantClient, key: str) -> tuple[str | None, list[str]]:
        """Return the value of an entry and the marks of its last writings, the latest first."""
        found = client.retrieve(
            self._collection.name, [shape.entry_id(key)], consistency=models.ReadConsistencyType.MAJORITY
        )
        if not found:
            return None, []
        payload = found[0].payload or {}
        return str(payload["value"]), [str(payload["mark"]), *payload["past"]]
