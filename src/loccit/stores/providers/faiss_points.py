"""Points in SQLite: the authoritative data behind the FAISS indexes, with a number for every row ever written."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from loccit.embedding.protocol import Vectors
from loccit.errors import StoreSchemaError
from loccit.stores.providers.faiss_index import Rows, State
from loccit.stores.providers.ledger import SqliteFile, SqliteLedger, marks
from loccit.stores.providers.tables import batches
from loccit.stores.store import PAYLOAD, Found, Point

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
_BATCH = 500
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
            for batch in batches(ids, _BATCH):
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
                    f"SELECT {columns}, row FROM points WHERE row > ? {where} ORDER BY row LIMIT {_BATCH}",
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
            for batch in batches(list(documents), _BATCH):
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
            for batch in batches([row for row, _ in hits], _BATCH):
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
