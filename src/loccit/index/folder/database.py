"""Connections to the record, one for writing and one per thread for reading, and batch queries."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from loccit.errors import DamagedIndexError, IndexReadOnlyError, IndexStateError
from loccit.index.folder.schema import check_version, ensure_tables

_BUSY_MS = 30_000
_WAL_ATTEMPTS = 100
_SHARED_MEMORY = 1 << 16
# Answers that a thread caches: those of some fifty searches, a few megabytes with the texts shown.
_REMEMBERED = 2000


class Database:
    """The SQLite file of an index."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._guard = threading.Lock()
        self.read_only: bool = not _writable(path, create)
        self._full = False
        # Which documents are known to be as they were written, by what was checked of them; see seals.py.
        self.sound: dict[str, set[int]] = {}
        with explain_errors(path):
            try:
                connection = self._connect()
            except sqlite3.OperationalError as error:
                if not is_disk_full(error, path) or not path.exists():
                    raise
                # There is no room for SQLite's auxiliary files; reading still works.
                self.read_only = self._full = True
                connection = self._connect()
            if self.read_only:
                if not check_version(connection, str(path.parent)):
                    raise IndexReadOnlyError(
                        f"{path.parent} holds no index yet, and cannot be written to. Check its permissions."
                    )
            else:
                use_wal(connection)
                ensure_tables(connection, str(path.parent))

    def _connect(self) -> sqlite3.Connection:
        connection = self.open_read_only() if self.read_only else self._open(str(self.path))
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16000")
        connection.row_factory = sqlite3.Row
        self._local.connection = connection
        with self._guard:
            # Threads come and go; connections of finished ones are closed when the next one starts.
            left = [one for thread, one in self._all if not thread.is_alive()]
            self._all = [(thread, one) for thread, one in self._all if thread.is_alive()]
            self._all.append((threading.current_thread(), connection))
        for one in left:
            one.close()
        return connection

    def _open(self, name: str) -> sqlite3.Connection:
        return sqlite3.connect(
            name, timeout=_BUSY_MS / 1000, check_same_thread=False, uri=name.startswith("file:")
        )

    def open_read_only(self) -> sqlite3.Connection:
        """Return a new read-only connection.

        If another process is writing, SQLite's auxiliary files exist, and are needed to see the latest state.

        Otherwise SQLite could only create them in a writable folder; so it must do without.
        """
        connection = self._open(f"{self.path.as_uri()}?mode=ro")
        try:
            connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            connection = self._open(f"{self.path.as_uri()}?immutable=1")
        return connection

    @property
    def connection(self) -> sqlite3.Connection:
        """The calling thread's connection."""
        existing: sqlite3.Connection | None = getattr(self._local, "connection", None)
        return existing if existing is not None else self._connect()

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Answer this thread's repeated queries from memory, as long as nobody changes the file.

        A search runs some forty small queries, many of them the same: about the library as a whole, and about documents
        that are found again and again. This also gives a search a consistent view.
        """
        connection = self.connection
        version = (connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes)
        known = getattr(self._local, "known", None)
        if known is None or known[0] != version or len(known[1]) > _REMEMBERED:
            known = self._local.known = (version, {})
        self._local.answers = known[1]
        try:
            yield
        finally:
            self._local.answers = None

    def rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[sqlite3.Row]:
        """Run a query."""
        answers: dict[Any, list[sqlite3.Row]] | None = getattr(self._local, "answers", None)
        if answers is None or isinstance(values, Mapping):
            return self._ask(query, values)
        key = (query, *values)
        found = answers.get(key)
        if found is None:
            found = answers[key] = self._ask(query, values)
        return found

    def _ask(self, query: str, values: Sequence[Any] | Mapping[str, Any]) -> list[sqlite3.Row]:
        try:
            return self.connection.execute(query, values).fetchall()
        except (sqlite3.Error, OSError, DamagedIndexError, UnicodeDecodeError):
            # Only now: a search runs dozens of queries, and hardly any fails.
            with explain_errors(self.path):
                raise

    def stream(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query with a possibly long result, which is read only as far as needed."""
        with explain_errors(self.path):
            cursor = self.connection.cursor()
            cursor.row_factory = None
            yield from cursor.execute(query, values)

    def value(self, query: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        rows = self.rows(query, values)
        return rows[0][0] if rows else None

    def stored_count(self, kind: str) -> int:
        """Return one of the counts that are kept with every change."""
        count = self.value("SELECT count FROM counters WHERE kind = ? AND name = ''", (kind,))
        if not isinstance(count, int):
            raise IndexStateError(f"The counts in {self.path} were damaged. Mend them with: loccit doctor")
        return count

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, with one writer at a time."""
        if self._full:
            raise _disk_full(self.path)
        if self.read_only:
            raise IndexReadOnlyError(f"The index at {self.path.parent} is read-only; it cannot be changed.")
        connection = self.connection
        with explain_errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def checkpoint(self) -> None:
        """Make all commits so far survive a power cut, so that derived indexes may refer to them."""
        self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Close the connections of every thread."""
        with self._guard:
            for _, connection in self._all:
                connection.close()
            self._all.clear()
        self._local = threading.local()


def _writable(path: Path, create: bool) -> bool:
    if path.exists():
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not create:
        raise IndexStateError(f"There is no index at {path.parent}.")
    if not os.access(path.parent, os.W_OK):
        raise IndexReadOnlyError(f"{path.parent} cannot be written to. Check its permissions.")
    return True


def use_wal(connection: sqlite3.Connection) -> None:
    """Let readers and the writer work concurrently; the file remembers this, so it is set once."""
    for attempt in range(_WAL_ATTEMPTS):
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            return
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # Another process is doing the same right now, and SQLite does not wait here.
            if attempt == _WAL_ATTEMPTS - 1 or "locked" not in str(error):
                raise
            time.sleep(0.05)


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the system into messages that say what to do."""
    try:
        yield
    except DamagedIndexError as error:
        if is_disk_full(error):
            raise _disk_full(path) from error
        raise
    except sqlite3.DatabaseError as error:
        text = str(error)
        if is_disk_full(error, path):
            raise _disk_full(path) from error
        if "readonly" in text or "read-only" in text:
            raise IndexReadOnlyError(
                f"The index at {path.parent} is read-only; it cannot be changed."
            ) from error
        if "malformed" in text or "not a database" in text:
            raise IndexStateError(
                f"The record at {path} is damaged ({text}). Delete the folder {path.parent} and index again."
            ) from error
        if "decode to utf-8" in text.casefold():
            raise IndexStateError(
                f"The record at {path} is damaged ({text.rstrip('.')}). See what can be kept with: loccit doctor"
            ) from error
        raise IndexStateError(f"The record at {path} could not be used: {text}.") from error
    except UnicodeDecodeError as error:
        raise IndexStateError(
            f"The record at {path} is damaged (a name in it is no text). Delete the folder {path.parent} and index "
            "again."
        ) from error
    except OSError as error:
        if is_disk_full(error):
            raise _disk_full(path) from error
        if isinstance(error, (NotADirectoryError, FileExistsError)):
            raise IndexStateError(
                f"{path.parent} cannot be a folder: a part of that path is a file. Choose another with --index."
            ) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise IndexReadOnlyError(
                f"The index at {path.parent} cannot be written to: {error.strerror}. Check its permissions."
            ) from error
        raise


def is_disk_full(error: BaseException, path: Path | None = None) -> bool:
    """Whether an error of SQLite, the keyword index or the system means that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    text = str(error)
    if "disk I/O error" in text and path is not None:
        # SQLite's error if there is no room for its shared memory.
        return shutil.disk_usage(path.parent).free < _SHARED_MEMORY
    return "disk is full" in text or f"os error {errno.ENOSPC})" in text or "No space left" in text


def _disk_full(path: Path) -> IndexStateError:
    return IndexStateError(
        f"The disk that holds {path.parent} is full. Free some space and run the command again: it continues where "
        "it stopped."
    )


# SQLite may be compiled to accept no more values than this in a query.
_MAX_VALUES = 900
BATCH = 500

Value = TypeVar("Value")


def batches(values: Collection[Value]) -> Iterator[list[Value]]:
    """Split values into lists that a query can take."""
    ordered = list(values)
    return (ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH))


def joined(database: Database, columns: str, rows: Collection[Sequence[Any]], query: str) -> list[Any]:
    """Run a query that begins with a table ``t`` of given values; each of its rows is answered separately.

    Empty rows, which match nothing, fill the table up to one of a few sizes: a query with the same text need not be
    parsed again.
    """
    width = columns.count(",") + 1
    largest = _MAX_VALUES // width
    ordered = list(rows)
    found: list[Any] = []
    for first in range(0, len(ordered), largest):
        batch = ordered[first : first + largest]
        size = min(largest, 1 << (len(batch) - 1).bit_length())
        marks = ",".join(["(" + ",".join("?" * width) + ")"] * size)
        values = [value for row in batch for value in row] + [None] * (width * (size - len(batch)))
        found += database.rows(f"WITH t ({columns}) AS (VALUES {marks}) {query}", values)
    return found
