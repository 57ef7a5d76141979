"""FAISS: a library in the files of a folder, searched in memory.

SQLite is authoritative: entries, and points with their vectors, in one transaction per batch. The FAISS index is built
from it. Every process keeps an index in memory and adds what others wrote before it searches, so writing never waits
for an index and a crash loses nothing. The index file only speeds up the start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import numpy as np
from filelock import FileLock, Timeout

from loccit.embedding.protocol import Vectors
from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, UsageError
from loccit.stores.providers.faiss_index import (
    FaissIndex,
    Knobs,
    State,
    remove_saved,
    saved_files,
    saved_state,
)
from loccit.stores.providers.faiss_points import FILE_NAME, FaissPoints
from loccit.stores.providers.ledger import LedgerStore, SqliteLedger
from loccit.stores.providers.tables import batches
from loccit.stores.settings import DatabaseSettings
from loccit.stores.store import Capabilities, Entry, Found, Point

logger: logging.Logger = logging.getLogger("loccit")

_BATCH = 1000
# The index file is rewritten when this many rows, and this share of the graph, are missing from it.
_WORTH_SAVING = 1000
_SHARE_WORTH_SAVING = 0.05


class FaissStore(LedgerStore):
    """Files in a folder; every process has the vectors in its memory."""

    provider = "faiss"
    capabilities: ClassVar[Capabilities] = Capabilities(claims=True, max_filter=10_000, batch=_BATCH)
    known_options: ClassVar[Mapping[str, str]] = {
        "exact_below": "Up to this many points all are compared; more go into an HNSW graph (100000).",
        "ef_search": "How many candidates a search in the graph looks at, at least (1000).",
        "ef_construction": "How many candidates are looked at when a point goes into the graph (128).",
        "neighbors": "How many neighbours a point has in the graph (32).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        folder = settings.connection_string
        if not folder or "://" in folder:
            raise UsageError(
                "The database provider faiss needs connection_string to be a folder for its files, such as ./faiss."
            )
        root = Path(folder).expanduser()
        if root.exists() and not root.is_dir():
            raise UsageError(
                "The connection_string of the database provider faiss is a file; it must be a folder."
            )
        self._folder = root / settings.collection
        defaults = zip(Knobs._fields, (100_000, 1000, 128, 32), strict=True)
        self._knobs = Knobs(*(settings.number(name, default) for name, default in defaults))
        self._guard = threading.RLock()
        self._opened: FaissPoints | None = None
        self._index: FaissIndex | None = None
        self._wrote = False

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None before the collection is created."""
        points = self._open()
        return points.dimension() if points else None

    def create(self, dimension: int) -> None:
        """Make the folder and its files."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreAccessError(
                f"faiss: the folder in connection_string cannot be created: {error.strerror}."
            ) from error
        with self._guard:
            self._opened = self._opened or self._connect()
            self.check_dimension(self._opened.create(dimension), dimension)

    def drop(self) -> None:
        """Delete everything in the collection's files."""
        points = self._open()
        if not points:
            return
        with self._guard:
            points.clear()
            self._index, self._wrote = None, False
            for path in saved_files(self._folder):
                remove_saved(path)

    def close(self) -> None:
        """Write the index file if it is worth it, and close the rest."""
        with self._guard:
            if self._opened is None:
                return
            try:
                if self._wrote:
                    self._save(self._opened, _WORTH_SAVING)
            finally:
                self._opened.file.close()
                self._opened = self._index = None
                self._wrote = False

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points; each batch is atomic."""
        held = self._need()
        dimension = self._dimension_of(held)
        for batch in batches(points, _BATCH):
            held.upsert([(point, self._bytes(point, dimension)) for point in batch])
            self._wrote = True
        # In a long run the index grows with the points, instead of all at once at the end.
        self._save(held, self._knobs.exact_below)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        if ids:
            self._need().delete(ids)
            self._wrote = True

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        return self._need().fetch(ids)

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in batches."""
        return self._need().scan(document, vectors=vectors)

    def count(self) -> int:
        """Return the number of points."""
        return self._need().count()

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the index after adding what was written since."""
        held = self._need()
        with self._guard:
            index = self._current(held)
            self.check_dimension(index.dimension, int(np.asarray(vector).size))
            rows = held.rows_of(documents) if documents is not None else None
            hits = index.search(vector, limit, rows)
        return held.named(hits)

    # -- entries ---------------------------------------------------------------------------------------------

    def ledger(self) -> SqliteLedger:
        """Return the entries."""
        return self._need().ledger

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry if it is as expected."""
        return self.ledger().swap(entry, expected)

    # -- inside ----------------------------------------------------------------------------------------------

    def _connect(self) -> FaissPoints:
        return FaissPoints(self._folder, provider=self.provider, timeout=self.settings.timeout)

    def _open(self) -> FaissPoints | None:
        """Return the points if there are any files; checking must not create some in a wrongly named folder."""
        with self._guard:
            if self._opened is None and (self._folder / FILE_NAME).exists():
                self._opened = self._connect()
            return self._opened

    def _need(self) -> FaissPoints:
        if points := self._open():
            return points
        raise StoreSchemaError(
            f"faiss: there is no collection {self.settings.collection} in the folder in connection_string."
        )

    def _dimension_of(self, held: FaissPoints) -> int:
        if (dimension := held.dimension()) is None:
            raise StoreSchemaError(
                f"faiss: the collection {self.settings.collection} was dropped; create it."
            )
        return dimension

    def _bytes(self, point: Point, dimension: int) -> bytes:
        if point.vector is None:
            raise StoreError(f"faiss: the point {point.id} has no vector.")
        self.check_dimension(dimension, int(point.vector.size))
        return np.asarray(point.vector, "<f4").tobytes()

    def _current(self, held: FaissPoints) -> FaissIndex:
        """Return the index with everything stored so far."""
        for _ in range(3):
            if self._index is None:
                state = held.state()
                self._index = FaissIndex.load(
                    self._folder, state.epoch, self._dimension_of(held), self._knobs
                )
                if self._index.in_graph:
                    self._index.bury(held.rows())
            changes = held.since(self._index.state, self._index.dimension)
            if changes.complete:
                self._index.advance(changes.state, changes.rows, changes.vectors, changes.gone)
                return self._index
            self._index = None
        raise StoreError(f"faiss: the collection {self.settings.collection} is being rebuilt; try again.")

    def _save(self, held: FaissPoints, least: int) -> None:
        """Write the index file if enough is missing from it, unless another process is doing so."""
        state = held.state()
        files = [saved_state(path) for path in saved_files(self._folder)]
        saved = max((past for past in files if past.epoch == state.epoch), default=State(state.epoch, 0, 0))
        missing = state.row - saved.row + state.gone - saved.gone
        if missing < least or not state.epoch:
            return
        lock = FileLock(str(self._folder / "save.lock"))
        with self._guard, suppress(Timeout), lock.acquire(timeout=0):
            index = self._current(held)
            if missing < _SHARE_WORTH_SAVING * index.in_graph:
                return
            try:
                index.save(self._folder)
            except (OSError, RuntimeError) as error:
                # The points are stored; the next search reads them from there.
                logger.warning("faiss: the index file could not be written: %s", error)
                return
            # A process that missed deletions before the last file reads this one.
            held.forget(saved.gone)
