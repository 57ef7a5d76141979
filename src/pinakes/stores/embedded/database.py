"""Connections to the record: one for writing, one per thread for reading."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinakes.errors import IndexReadOnlyError, IndexStateError
from pinakes.stores.embedded.schema import check_version, migrate

_BUSY_MS = 30_000


class Database:
    """The SQLite file of an index."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self.read_only = not _writable(path, create)
        with explain_errors(path):
            connection = self._connect()
            if self.read_only:
                if check_version(connection, str(path.parent)) == 0:
                    raise IndexReadOnlyError(f"{path.parent} cannot be written to, and holds no index yet.")
            else:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection, str(path.parent))

    def _connect(self) -> sqlite3.Connection:
        if self.read_only:
            # A folder that cannot be written to cannot hold SQLite's shared memory either: nobody else writes.
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?immutable=1", uri=True, check_same_thread=False
            )
        else:
            connection = sqlite3.connect(self.path, timeout=_BUSY_MS / 1000, check_same_thread=False)
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16000")
        connection.row_factory = sqlite3.Row
        self._local.connection = connection
        with self._guard:
            self._all.append(connection)
        return connection

    @property
    def connection(self) -> sqlite3.Connection:
        """The calling thread's connection."""
        existing: sqlite3.Connection | None = getattr(self._local, "connection", None)
        return existing if existing is not None else self._connect()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and one writer at a time."""
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
        """Make every commit so far survive a power cut; derived indexes may then speak of it."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the connections of every thread."""
        with self._guard:
            for connection in self._all:
                connection.close()
            self._all.clear()
        self._local = threading.local()


def _writable(path: Path, create: bool) -> bool:
    if path.exists():
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not create:
        raise IndexStateError(f"There is no index at {path.parent}.")
    return True


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's errors into messages that say what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text:
            raise IndexStateError(
                f"The disk that holds {path.parent} is full. Free some space and run the command again: it goes on "
                "where it stopped."
            ) from error
        if "readonly" in text or "read-only" in text:
            raise IndexReadOnlyError(
                f"The index at {path.parent} is read-only; it cannot be changed."
            ) from error
        if "malformed" in text or "not a database" in text:
            raise IndexStateError(
                f"The record at {path} is damaged ({text}). Delete the folder {path.parent} and index again."
            ) from error
        raise IndexStateError(f"The record at {path} could not be used: {text}.") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise IndexStateError(
                f"The disk that holds {path.parent} is full. Free some space and run the command again: it goes on "
                "where it stopped."
            ) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise IndexReadOnlyError(
                f"The index at {path.parent} cannot be written to: {error.strerror}. Check its permissions."
            ) from error
        raise
