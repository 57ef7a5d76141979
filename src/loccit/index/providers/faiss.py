"""FAISS: a library in the files of a folder, searched in memory.

SQLite is authoritative: entries, and points with their vectors, in one transaction per batch. The FAISS index is built
from it. Every process keeps an index in memory and adds what others wrote before it searches, so writing never waits
for an index and a crash loses nothing. The index file only speeds up the start.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, UsageError
from loccit.index.providers.ledger import LedgerStore, SqliteFile, SqliteLedger, marks
from loccit.index.providers.tables import batches
from loccit.index.settings import DatabaseSettings
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

Rows = npt.NDArray[np.int64]


class State(NamedTuple):
    """A version of the points: the incarnation of the collection, its last row, and its last deletion."""

    epoch: str
    row: int
    gone: int


# The state is in the name: renaming the finished file is the one step that makes it valid.
_NAME = re.compile(r"index-([0-9a-f]{16})-(\d+)-(\d+)\.faiss")
_NOTHING = State("", 0, 0)
# A graph keeps deleted rows; with this share it is rebuilt.
_DEAD_SHARE = 0.2


class Knobs(NamedTuple):
    """The user's options."""

    exact_below: int
    ef_search: int
    ef_construction: int
    neighbors: int


class FaissIndex:
    """The vectors of a collection in some state. Not thread-safe."""

    def __init__(self, dimension: int, knobs: Knobs) -> None:
        self.dimension = dimension
        self.state: State = _NOTHING
        self._knobs = knobs
        self._flat: Any = _exact(dimension)
        self._graph: Any = None
        # The rows in the graph in its order, which is ascending, and those of them that are deleted.
        self._graph_rows: Rows = np.zeros(0, np.int64)
        self._dead: set[int] = set()

    @property
    def in_graph(self) -> int:
        """The number of rows in the graph."""
        return len(self._graph_rows)

    def advance(self, state: State, rows: Rows, vectors: Vectors, gone: Rows) -> None:
        """Add the changes up to a state."""
        if len(rows):
            self._flat.add_with_ids(np.ascontiguousarray(vectors, np.float32), rows)
        if len(gone):
            self._dead.update(np.intersect1d(gone, self._graph_rows).tolist())
            self._flat.remove_ids(faiss.IDSelectorBatch(gone))
        self.state = state

    def bury(self, living: Rows) -> None:
        """Set which rows of a loaded graph are deleted: the graph itself cannot store that."""
        self._dead.update(np.setdiff1d(self._graph_rows, living).tolist())

    def search(self, vector: Vectors, limit: int, rows: Rows | None = None) -> list[tuple[int, float]]:
        """Return the rows nearest to a vector with their scores, best first; only of some rows if any are named."""
        query = np.ascontiguousarray(vector, np.float32).reshape(1, -1)
        parts = [self._in_flat(query, limit, rows)]
        if self._graph is not None:
            near = self._in_graph(query, limit) if rows is None else self._in_rows(query, limit, rows)
            parts.append(near)
        found = np.concatenate([ids for ids, _ in parts])
        scores = np.concatenate([values for _, values in parts])
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(int(found[at]), float(scores[at])) for at in order]

    def _in_flat(self, query: Vectors, limit: int, rows: Rows | None) -> tuple[Rows, Vectors]:
        selector = None if rows is None else faiss.IDSelectorBatch(rows)
        most = self._flat.ntotal if rows is None else min(len(rows), self._flat.ntotal)
        return _ask(self._flat, query, min(limit, most), selector)

    def _in_graph(self, query: Vectors, limit: int) -> tuple[Rows, Vectors]:
        living = self.in_graph - len(self._dead)
        wanted = min(limit, living)
        dead = faiss.IDSelectorBatch(np.array(sorted(self._dead), np.int64)) if self._dead else None
        selector = faiss.IDSelectorNot(dead) if dead is not None else None
        found = _ask(self._graph, query, wanted, selector, ef=max(self._knobs.ef_search, 2 * wanted))
        if len(found[0]) < wanted:
            # Many identical points make disconnected parts in a graph: then everything is compared.
            return self._in_rows(query, limit, self._graph_rows)
        return found

    def _in_rows(self, query: Vectors, limit: int, rows: Rows) -> tuple[Rows, Vectors]:
        """Compare rows of the graph one by one: walking a graph finds too few if most are excluded."""
        if self._dead:
            rows = np.setdiff1d(rows, np.array(sorted(self._dead), np.int64))
        places = np.searchsorted(self._graph_rows, rows)
        places[places == self.in_graph] = 0
        places = places[self._graph_rows[places] == rows]
        vectors = faiss.downcast_index(_inner(self._graph).storage)
        found, scores = _ask(vectors, query, min(limit, len(places)), faiss.IDSelectorBatch(places))
        return self._graph_rows[found], scores

    def settle(self) -> None:
        """Move new rows into the graph, if there is one or it is time for one."""
        rows, vectors = faiss.vector_to_array(self._flat.id_map), _vectors(_inner(self._flat))
        if len(self._dead) > _DEAD_SHARE * self.in_graph:
            alive = ~np.isin(self._graph_rows, np.array(sorted(self._dead), np.int64))
            old = _vectors(faiss.downcast_index(_inner(self._graph).storage))[alive]
            rows, vectors = np.concatenate([self._graph_rows[alive], rows]), np.concatenate([old, vectors])
            self._graph, self._graph_rows, self._dead = None, self._graph_rows[:0], set()
        self._flat = _exact(self.dimension)
        if self._graph is None and len(rows) < self._knobs.exact_below:
            self._flat.add_with_ids(vectors, rows)
            return
        if self._graph is None:
            graph = faiss.IndexHNSWFlat(self.dimension, self._knobs.neighbors, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = self._knobs.ef_construction
            self._graph = faiss.IndexIDMap(graph)
        faiss.omp_set_num_threads(os.cpu_count() or 1)
        self._graph.add_with_ids(vectors, rows)
        self._graph_rows = np.concatenate([self._graph_rows, rows])

    def save(self, folder: Path) -> None:
        """Write the index next to the older ones, atomically."""
        self.settle()
        path = folder / f"index-{self.state.epoch}-{self.state.row}-{self.state.gone}.faiss"
        half = folder / f"index-{os.getpid()}.half"
        try:
            faiss.write_index(self._flat if self._graph is None else self._graph, str(half))
            half.replace(path)
        finally:
            with suppress(OSError):
                half.unlink()
        for other in saved_files(folder):
            if other != path:
                remove_saved(other)
        # One process saves at a time: a partial file is from one that was killed.
        for other in folder.glob("index-*.half"):
            remove_saved(other)

    @classmethod
    def load(cls, folder: Path, epoch: str, dimension: int, knobs: Knobs) -> FaissIndex:
        """Read the newest file of the collection's incarnation; without one, an empty index."""
        index = cls(dimension, knobs)
        index.state = State(epoch, 0, 0)
        files = [path for path in saved_files(folder) if saved_state(path).epoch == epoch]
        for path in sorted(files, key=saved_state, reverse=True):
            try:
                read: Any = faiss.read_index(str(path))
            except RuntimeError:
                # Another process may have replaced it; or it is damaged, and SQLite has its content too.
                logger.info("The index file %s could not be read; the points are read instead.", path.name)
                continue
            if isinstance(_inner(read), faiss.IndexHNSW):
                index._graph, index._graph_rows = read, faiss.vector_to_array(read.id_map)
            else:
                index._flat = read
            index.state = saved_state(path)
            break
        return index


def saved_files(folder: Path) -> list[Path]:
    """Return the index files of a folder."""
    return [path for path in folder.glob("index-*.faiss") if _NAME.fullmatch(path.name)]


def saved_state(path: Path) -> State:
    """Return the state of an index file."""
    match = _NAME.fullmatch(path.name)
    return State(match[1], int(match[2]), int(match[3])) if match else _NOTHING


def remove_saved(path: Path) -> None:
    """Delete an index file; one that another process is reading is left for the next time."""
    with suppress(OSError):
        path.unlink()


def _exact(dimension: int) -> Any:
    return faiss.IndexIDMap(faiss.IndexFlatIP(dimension))


def _inner(index: Any) -> Any:
    return faiss.downcast_index(index.index)


def _vectors(flat: Any) -> Vectors:
    if not flat.ntotal:
        return np.zeros((0, flat.d), np.float32)
    return np.asarray(flat.reconstruct_n(0, flat.ntotal), np.float32)


def _ask(
    index: Any, query: Vectors, limit: int, selector: Any = None, ef: int | None = None
) -> tuple[Rows, Vectors]:
    if limit <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    choice = {} if selector is None else {"sel": selector}
    if ef is None:
        how: Any = faiss.SearchParameters(**choice)
    else:
        # The types that come with the package leave this one out.
        how = faiss.SearchParametersHNSW(efSearch=ef, **choice)  # type: ignore[attr-defined]
    # One query is work for one thread: several only get in each other's way. This affects the calling thread
    # alone.
    faiss.omp_set_num_threads(1)
    scores, found = index.search(query, limit, params=how)
    real = found[0] >= 0
    return found[0][real], scores[0][real]


FILE_NAME = "ledger.sqlite3"
# Says in the head of a SQLite file that it is one of these ("pnkf").
_APPLICATION = 0x706E6B66
_VERSION = 1
# A replaced row gets a new number, so that a reader that has seen the numbers up to some point needs only
# those after it, and the list of those deleted since.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points (
    row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL, vector BLOB NOT NULL,
    terms TEXT NOT NULL, source_path TEXT NOT NULL, heading TEXT NOT NULL, language TEXT NOT NULL,
    file_type TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS points_by_document ON points (document);
CREATE INDEX IF NOT EXISTS points_by_row ON points (row, id);
CREATE TABLE IF NOT EXISTS gone (number INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS points_gone AFTER DELETE ON points BEGIN INSERT INTO gone (row) VALUES (old.row); END
"""
_STATE = """
SELECT (SELECT value FROM facts WHERE name = 'epoch'),
       (SELECT seq FROM sqlite_sequence WHERE name = 'points'),
       (SELECT seq FROM sqlite_sequence WHERE name = 'gone'),
       (SELECT value FROM facts WHERE name = 'forgotten')
"""
_ROWS_AT_ONCE = 500
_WHOLE = f"id, document, vector, {', '.join(PAYLOAD)}"


class Changes(NamedTuple):
    """The changes since a state; ``complete`` is false if too much was forgotten to tell."""

    state: State
    complete: bool
    rows: Rows
    vectors: Vectors
    gone: Rows


class FaissPoints:
    """The points of a collection in a folder of its own."""

    def __init__(self, folder: Path, *, provider: str, timeout: float) -> None:
        self._folder = folder
        self.file: SqliteFile = SqliteFile(str(folder / FILE_NAME), "", provider=provider, timeout=timeout)
        self.ledger: SqliteLedger = SqliteLedger(self.file)
        with self.file.reading() as connection:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and application != _APPLICATION:
            self.file.close()
            raise StoreSchemaError(
                f"{provider}: the file {FILE_NAME} in the folder of this collection is a database of something else; "
                "name another folder in connection_string, or another collection."
            )
        if tables and version != _VERSION:
            self.file.close()
            raise StoreSchemaError(
                f"{provider}: this collection was written by another version of Loccit (format {version}, not "
                f"{_VERSION}); use that one, or index again into another folder or collection."
            )
        if not tables:
            with self.file.writing() as connection:
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                for statement in (SqliteLedger.schema + _SCHEMA).split(";\n"):
                    connection.execute(statement)

    def dimension(self) -> int | None:
        """Return the length of the vectors; None if not set."""
        with self.file.reading() as connection:
            return _dimension(connection)

    def create(self, dimension: int) -> int:
        """Set the length of the vectors unless it is set; return it."""
        with self.file.writing() as connection:
            if (present := _dimension(connection)) is not None:
                return present
            facts = [("dimension", dimension), ("epoch", secrets.token_hex(8)), ("forgotten", 0)]
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts)
        return dimension

    def clear(self) -> None:
        """Delete everything. The file stays, for other processes that have it open."""
        with self.file.writing() as connection:
            for table in ("entries", "points", "gone", "facts"):
                connection.execute(f"DELETE FROM {table}")
        self.file.shrink()

    def upsert(self, points: Sequence[tuple[Point, bytes]]) -> None:
        """Store points with their vectors as bytes."""
        rows = [
            (point.id, point.document, vector, *(getattr(point, name) for name in PAYLOAD))
            for point, vector in points
        ]
        with self.file.writing() as connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO points ({_WHOLE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        with self.file.writing() as connection:
            connection.executemany("DELETE FROM points WHERE id = ?", [(name,) for name in ids])

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        found: list[Point] = []
        with self.file.reading() as connection:
            for batch in batches(ids, _ROWS_AT_ONCE):
                rows = connection.execute(f"SELECT {_WHOLE} FROM points WHERE id IN ({marks(batch)})", batch)
                found += map(_point, rows)
        return found

    def scan(self, document: str | None, *, vectors: bool) -> Iterator[list[Point]]:
        """Return all points, or those of a document, in batches."""
        where, values = ("AND document = ?", [document]) if document is not None else ("", [])
        columns, last = _WHOLE if vectors else "id, document", 0
        while True:
            with self.file.reading() as connection:
                rows = connection.execute(
                    f"SELECT {columns}, row FROM points WHERE row > ? {where} ORDER BY row LIMIT {_ROWS_AT_ONCE}",
                    [last, *values],
                ).fetchall()
            if not rows:
                return
            last = rows[-1][-1]
            yield [_point(row[:-1]) for row in rows]

    def count(self) -> int:
        """Return the number of points."""
        with self.file.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM points").fetchone()[0])

    def rows_of(self, documents: Collection[str]) -> Rows:
        """Return the rows of the points of some documents."""
        found: list[int] = []
        with self.file.reading() as connection:
            for batch in batches(list(documents), _ROWS_AT_ONCE):
                rows = connection.execute(f"SELECT row FROM points WHERE document IN ({marks(batch)})", batch)
                found += [row[0] for row in rows]
        return np.array(found, np.int64)

    def rows(self) -> Rows:
        """Return the rows of all points."""
        with self.file.reading() as connection:
            found = connection.execute("SELECT row FROM points INDEXED BY points_by_row").fetchall()
        return np.array(found, np.int64).reshape(-1)

    def named(self, hits: Sequence[tuple[int, float]]) -> list[Found]:
        """Turn rows and scores into ids and scores, without rows deleted meanwhile."""
        names: dict[int, str] = {}
        with self.file.reading() as connection:
            for batch in batches([row for row, _ in hits], _ROWS_AT_ONCE):
                # The index has the ids close together; the table has vectors and texts in between.
                query = f"SELECT row, id FROM points INDEXED BY points_by_row WHERE row IN ({marks(batch)})"
                names.update(connection.execute(query, batch))
        return [Found(names[row], score) for row, score in hits if row in names]

    def state(self) -> State:
        """Return the current state."""
        with self.file.reading() as connection:
            return _state(connection)[0]

    def since(self, state: State, dimension: int) -> Changes:
        """Return the changes since a state."""
        with self.file.reading() as connection:
            now, forgotten = _state(connection)
            # A reader without rows does not need to know which of them were deleted.
            complete = now.epoch == state.epoch and (state.gone >= forgotten or not state.row)
            if not complete or now == state:
                rows = np.zeros(0, np.int64)
                return Changes(now, complete, rows, np.zeros((0, dimension), np.float32), rows)
            numbers, vectors = list[int](), bytearray()
            for row, vector in connection.execute(
                "SELECT row, vector FROM points WHERE row > ? ORDER BY row", (state.row,)
            ):
                numbers.append(row)
                vectors += vector
            gone = connection.execute("SELECT row FROM gone WHERE number > ?", (state.gone,)).fetchall()
        matrix = np.frombuffer(vectors, "<f4").reshape(len(numbers), dimension)
        return Changes(now, True, np.array(numbers, np.int64), matrix, np.array(gone, np.int64).reshape(-1))

    def forget(self, gone: int) -> None:
        """Forget deletions that no file needs any more."""
        with self.file.writing() as connection:
            connection.execute("DELETE FROM gone WHERE number <= ?", (gone,))
            connection.execute("UPDATE facts SET value = max(value, ?) WHERE name = 'forgotten'", (gone,))


def _point(row: Sequence[Any]) -> Point:
    name, document, *rest = row
    return Point(name, document, np.frombuffer(rest[0], "<f4"), *rest[1:]) if rest else Point(name, document)


def _dimension(connection: sqlite3.Connection) -> int | None:
    row = connection.execute("SELECT value FROM facts WHERE name = 'dimension'").fetchone()
    return int(row[0]) if row else None


def _state(connection: sqlite3.Connection) -> tuple[State, int]:
    epoch, row, gone, forgotten = connection.execute(_STATE).fetchone()
    return State(epoch or "", row or 0, gone or 0), forgotten or 0


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
