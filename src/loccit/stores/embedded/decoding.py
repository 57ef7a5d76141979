"""Invalid texts in the record: found by reading them all, and removed with their documents.

SQLite stores any bytes, and reports invalid text only on reading: a search would fail on a document that a faulty disk
or another program corrupted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from loccit.stores.embedded.database import Database
from loccit.stores.embedded.record import log_changes

# Without these nothing else can be trusted.
_ESSENTIAL = "meta"


class BadText(NamedTuple):
    """A value that cannot be decoded: its position, and the document it belongs to, if any."""

    table: str
    column: str
    document: int | None
    value: bytes


def bad_texts(database: Database) -> list[BadText]:
    """Read every text of the record, and return those that are not UTF-8."""
    with closing(database.open_read_only()) as connection:
        connection.text_factory = bytes
        tables = [
            row[0].decode()
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
        ]
        return [found for table in tables for found in _bad_in(connection, table)]


def _bad_in(connection: sqlite3.Connection, table: str) -> Iterator[BadText]:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    texts = [column[1].decode() for column in columns if column[2].upper() == b"TEXT"]
    if not texts:
        return
    owner = _owner(connection, table)
    wanted = ", ".join([owner or "NULL", *(f'"{name}"' for name in texts)])
    for document, *values in connection.execute(f'SELECT {wanted} FROM "{table}"'):
        for name, value in zip(texts, values, strict=True):
            if isinstance(value, bytes) and not _is_text(value):
                yield BadText(table, name, document, value)


def _owner(connection: sqlite3.Connection, table: str) -> str:
    """Return the column with the document that a row of a table belongs to; "" if there is none."""
    if table == "documents":
        return "id"
    keys = connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
    return next((f'"{key[3].decode()}"' for key in keys if key[2] == b"documents"), "")


def _is_text(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def take_out(database: Database, found: list[BadText]) -> bool:
    """Remove documents and notes with invalid texts; False if that is not enough. Needs the lock."""
    if any(bad.table == _ESSENTIAL for bad in found):
        return False
    documents = sorted({bad.document for bad in found if bad.document is not None})
    with database.transaction() as connection:
        for bad in found:
            if bad.document is None:
                connection.execute(
                    f'DELETE FROM "{bad.table}" WHERE CAST("{bad.column}" AS BLOB) = ?', (bad.value,)
                )
        connection.executemany("DELETE FROM documents WHERE id = ?", [(document,) for document in documents])
        log_changes(connection, documents, "removed")
    return True
