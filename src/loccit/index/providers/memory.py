"""In memory: a library that disappears with its process.

Stores with the same collection name share its content; one without a name has a collection of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from loccit.index.providers.ledger import LedgerStore, SqliteLedger
from loccit.index.providers.tables import batches
from loccit.index.settings import UNNAMED, DatabaseSettings
from loccit.index.store import Capabilities, Found, Point
from loccit.models.embedding.protocol import Vectors

_BATCH = 500


class _Collection:
    """What all stores that name a collection see."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.ledger = SqliteLedger()
        self.dimension: int | None = None
        self.points: dict[str, Point] = {}
        # The vectors as one array, created on the first search after a change.
        self.matrix: tuple[list[str], list[str], Vectors] | None = None


_collections: dict[str, _Collection] = {}
_guard = threading.Lock()


class MemoryStore(LedgerStore):
    """Points in a dictionary, searched exactly."""

    provider = "in-memory"
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        if settings.collection == UNNAMED:
            self._data = _Collection()
            return
        with _guard:
            self._data = _collections.setdefault(settings.collection, _Collection())

    def dimension(self) -> int | None:
        """Return the length of the vectors; None before the collection is created."""
        return self._data.dimension

    def create(self, dimension: int) -> None:
        """Make the collection."""
        with self._data.guard:
            self.check_dimension(self._data.dimension or dimension, dimension)
            self._data.dimension = dimension

    def drop(self) -> None:
        """Delete everything."""
        with self._data.guard:
            self._data.points.clear()
            self._data.ledger.clear()
            self._data.matrix = self._data.dimension = None

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points."""
        with self._data.guard:
            self._data.points.update((point.id, point) for point in points)
            self._data.matrix = None

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        with self._data.guard:
            for name in ids:
                self._data.points.pop(name, None)
            self._data.matrix = None

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        with self._data.guard:
            return [self._data.points[name] for name in ids if name in self._data.points]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in batches."""
        with self._data.guard:
            found = [p for p in self._data.points.values() if document is None or p.document == document]
        for batch in batches(found, _BATCH):
            yield batch if vectors else [replace(point, vector=None) for point in batch]

    def count(self) -> int:
        """Return the number of points."""
        return len(self._data.points)

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Compare every point."""
        ids, owners, matrix = self._matrix()
        scores = np.einsum("ij,j->i", matrix, vector) if ids else np.zeros(0, np.float32)
        if documents is not None:
            allowed = frozenset(documents)
            scores = np.where([owner in allowed for owner in owners], scores, -np.inf)
        order = np.lexsort((np.arange(len(ids)), -scores))[:limit]
        return [Found(ids[at], float(scores[at])) for at in order if scores[at] > -np.inf]

    def _matrix(self) -> tuple[list[str], list[str], Vectors]:
        with self._data.guard:
            if self._data.matrix is None:
                held = [point for point in self._data.points.values() if point.vector is not None]
                rows = [point.vector for point in held if point.vector is not None]
                matrix = np.stack(rows) if rows else np.zeros((0, self._data.dimension or 0), np.float32)
                self._data.matrix = [point.id for point in held], [point.document for point in held], matrix
            return self._data.matrix

    def ledger(self) -> SqliteLedger:
        """Return the entries."""
        return self._data.ledger
