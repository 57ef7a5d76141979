"""Entries in SQLite, for stores that are files on this machine and cannot hold them in their own format."""

from __future__ import annotations

import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError
from loccit.index.folder.database import use_wal
from loccit.index.providers.tables import batches
from loccit.index.store import Entry, Store

IN_MEMORY = ":memory:"
_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, grp TEXT NOT NULL, value TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_kind ON entries (kind, grp);
"""
_BATCH = 500
_CANNOT_OPEN = ("readonly database", "unable to open database file")


class SqliteFile:
    """A SQLite file: one connection shared by the threads of a process; processes wait for each other."""

    def __init__(self, path: str, schema: str, *, provider: str, timeout: float = 30.0) -> None:
        self.provider = provider
        self._guard = threading.RLock()
        with self._errors():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=timeout
            )
            if path != IN_MEMORY:
                use_wal(self._connection)
            # Needed for a replaced row to count as deleted for triggers.
            self._connection.execute("PRAGMA recursive_triggers = ON")
            self._connection.executescript(schema)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for reading one state of the file, whatever is written meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for a transaction."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._guard, self._errors():
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def shrink(self) -> None:
        """Return the space of deleted rows to the disk, unless somebody is reading: then it is reused."""
        with self._guard, suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _translated(error, self.provider) from error


class SqliteLedger:
    """The part of a store that keeps entries."""

    schema = _TABLE

    def __init__(self, file: SqliteFile | None = None) -> None:
        self._file = file or SqliteFile(IN_MEMORY, _TABLE, provider="in-memory")

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries in place of those with the same keys."""
        with self._file.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", entries)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of the entries that exist, by key."""
        found: dict[str, str] = {}
        with self._file.reading() as connection:
            for batch in batches(keys, _BATCH):
                rows = connection.execute(
                    f"SELECT key, value FROM entries WHERE key IN ({marks(batch)})", list(batch)
                )
                found.update(rows.fetchall())
        return found

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return the entries of a kind, or those of a kind and a group, in batches."""
        query, values = "SELECT key, kind, grp, value FROM entries WHERE kind = ?", [kind]
        if group is not None:
            query, values = f"{query} AND grp = ?", [kind, group]
        last = ""
        while True:
            # The transaction ends before the batch is yielded: the reader may write in between.
            with self._file.reading() as connection:
                rows = connection.execute(
                    f"{query} AND key > ? ORDER BY key LIMIT {_BATCH}", [*values, last]
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield [Entry(*row) for row in rows]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries by key."""
        with self._file.writing() as connection:
            connection.executemany("DELETE FROM entries WHERE key = ?", [(key,) for key in keys])

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry only if its current value is ``expected``."""
        with self._file.writing() as connection:
            row = connection.execute("SELECT value FROM entries WHERE key = ?", (entry.key,)).fetchone()
            fits = (row[0] if row else None) == expected
            if fits:
                connection.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", entry)
        return fits

    def clear(self) -> None:
        """Delete everything."""
        with self._file.writing() as connection:
            connection.execute("DELETE FROM entries")


class LedgerStore(Store):
    """A store whose entries are in a ledger."""

    @abstractmethod
    def ledger(self) -> SqliteLedger:
        """Return the ledger."""

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        self.ledger().put(entries)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return self.ledger().get(keys)

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches."""
        return self.ledger().entries(kind, group)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self.ledger().remove(keys)


def marks(values: Sequence[object]) -> str:
    """Return the placeholders for values in a query."""
    return ",".join("?" * len(values))


def _translated(error: sqlite3.Error, provider: str) -> StoreError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreUnavailableError(f"{provider}: another process has been writing for longer than timeout.")
    if any(reason in text for reason in _CANNOT_OPEN):
        return StoreAccessError(
            f"{provider}: the files of the collection cannot be opened or written ({text}): check the permissions of "
            "the folder in connection_string."
        )
    if isinstance(error, sqlite3.DatabaseError) and ("not a database" in text or "malformed" in text):
        return StoreSchemaError(
            f"{provider}: the file of the collection is not ours or is damaged ({text}): drop it and index again, or "
            "name another folder in connection_string."
        )
    return StoreError(f"{provider}: the files of the collection could not be used: {text}.")
