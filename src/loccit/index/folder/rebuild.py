"""Rebuild: a new index is built next to the old one, and replaces it when it is complete.

Until then the old one answers, whatever ends the run. The new record begins as an emptied copy of the old one, so that
ids and generations continue and no reader confuses the two states. A record of an older format cannot be copied: it is
emptied where it is.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from loccit.errors import IndexStateError
from loccit.index.folder.database import explain_errors
from loccit.index.folder.files import WriterLock
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.folder.local import BESIDE, COLUMNS, CONCEPTS, KEYWORD, RECORD, TEXTS, VECTORS, LocalIndex
from loccit.index.folder.place_ids import remember_places
from loccit.index.folder.record import OUTDATED, log_changes, now
from loccit.index.folder.schema import SCHEMA_VERSION, is_ours, make_tables, recount
from loccit.index.folder.seals import ROWS, insert, is_sound

_PURPOSE = "rebuild"
# What costs to make again, or what only the record knows.
_KEPT = ("meta", "roots", "vectors", "contexts", "gone_places")


def begin_rebuild(index: LocalIndex, purpose: str) -> EmbeddedIndex:
    """Return an empty index next to another; or the remains of an interrupted one for the same purpose.

    The caller holds the writer lock of ``index``.
    """
    folder = index.folder / BESIDE
    wanted = f"{index.record.generation()} {purpose}"
    if (left := _left(folder, wanted, index.folder)) is not None:
        return left
    shutil.rmtree(folder, ignore_errors=True)
    with explain_errors(index.database.path):
        folder.mkdir(mode=index.folder.stat().st_mode & 0o777)
        with closing(sqlite3.connect(folder / RECORD)) as copy:
            index.database.connection.backup(copy)
    built = EmbeddedIndex(folder, create=False, part_of=index.folder)
    try:
        built.record.clear()
        # Written last: without it, this is not known to be empty.
        built.record.set_meta({"model": "", "dimension": "0", _PURPOSE: wanted})
    except BaseException:
        built.close()
        raise
    return built


def _left(folder: Path, wanted: str, home: Path) -> EmbeddedIndex | None:
    if not (folder / RECORD).exists():
        return None
    try:
        left = EmbeddedIndex(folder, create=False, part_of=home)
    except IndexStateError:
        return None
    if left.record.meta(_PURPOSE) == wanted:
        return left
    left.close()
    return None


def finish_rebuild(index: LocalIndex, built: EmbeddedIndex) -> None:
    """Replace an index by the one built next to it. The caller holds the writer lock of ``index``."""
    built.record.set_meta({_PURPOSE: ""})
    with explain_errors(index.database.path):
        # One SQLite transaction: others read the old record until it is done, and then the new one.
        built.database.connection.backup(index.database.connection)
    built.close()
    names = (
        (COLUMNS, KEYWORD, TEXTS, CONCEPTS, VECTORS)
        if isinstance(index, EmbeddedIndex)
        else (COLUMNS, KEYWORD, TEXTS, CONCEPTS)
    )
    index.replace_derived(built.folder, names)
    shutil.rmtree(built.folder, ignore_errors=True)


def renew(folder: Path) -> bool:
    """Empty a record of an older format, so that its files are read again; return whether it was one.

    Vectors and contexts stay, by the texts that they were made of, and so do the folders and the ids of places.
    """
    path = folder / RECORD
    if not is_ours(path):
        return False
    with (
        explain_errors(path),
        WriterLock(folder).held(wait=True),
        closing(sqlite3.connect(path, isolation_level=None)) as connection,
    ):
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version < SCHEMA_VERSION:
                _start_over(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return bool(version < SCHEMA_VERSION)


def _start_over(connection: sqlite3.Connection) -> None:
    documents = [row[0] for row in connection.execute("SELECT id FROM documents ORDER BY id")]
    if "digest" in _columns(connection, "gone_places"):
        for document in documents:
            remember_places(connection, document)
    paths = connection.execute(
        "SELECT source_path FROM documents UNION SELECT source_path FROM failures"
    ).fetchall()
    # Numbers are never used twice: what is derived learns from the change log what is gone.
    numbers = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    for kind in ("trigger", "index", "table"):
        query = "SELECT name FROM sqlite_master WHERE type = ? AND sql != '' AND name NOT GLOB 'sqlite_*'"
        for (name,) in connection.execute(query, (kind,)).fetchall():
            kept = kind == "table" and name in _KEPT
            connection.execute(f"ALTER TABLE {name} RENAME TO old_{name}" if kept else f"DROP {kind} {name}")
    make_tables(connection)
    for table in _KEPT:
        if columns := _columns(connection, f"old_{table}"):
            _take_over(connection, table, sealed="digest" in columns)
    # What a database that holds the library was known to have is asked for anew.
    connection.execute("DELETE FROM meta WHERE key LIKE 'stored%'")
    connection.executemany("INSERT INTO sqlite_sequence VALUES (?, ?)", numbers)
    insert(connection, "failures", [(path, OUTDATED, 0, -1, now()) for (path,) in paths])
    log_changes(connection, documents, "removed")
    recount(connection)


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _take_over(connection: sqlite3.Connection, table: str, *, sealed: bool) -> None:
    names = ", ".join(ROWS[table])
    rows = connection.execute(f"SELECT {names}{', digest' if sealed else ''} FROM old_{table}")
    whole = (row[: len(ROWS[table])] for row in rows if not sealed or is_sound(row))
    insert(connection, table, whole)
    connection.execute(f"DROP TABLE old_{table}")
