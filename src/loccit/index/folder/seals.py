"""Seals: the checksums of what the record holds, written in the transaction that writes what they are about.

A document has one for each table that its rows are in; rows that belong to no document have one each. What does not
match is not quoted, nothing is derived from it, and writing to a part of a document never seals what was not sound
before.
"""

from __future__ import annotations

import marshal
import os
import sqlite3
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from loccit.errors import DamagedDocumentError
from loccit.index.folder.digests import checksum, row_checksum

if TYPE_CHECKING:
    from loccit.index.folder.database import Database

# In this order in a seal: new ones come last.
_PARTS = {
    "documents": "SELECT * FROM documents WHERE id = ?",
    "files": "SELECT f.source_path, f.document, f.size, f.mtime_ns, f.content_hash, r.settings, f.ingested_at "
    "FROM documents d JOIN files f ON f.source_path = d.source_path JOIN readings r ON r.id = f.reading WHERE d.id = ?",
    "places": "SELECT * FROM places WHERE document = ? ORDER BY ordinal",
    "chunks": "SELECT * FROM chunks WHERE document = ? ORDER BY chunk_index",
    "passages": "SELECT * FROM passages WHERE document = ? ORDER BY id",
    "refs": "SELECT * FROM refs WHERE document = ? ORDER BY rowid",
    "definitions": "SELECT * FROM definitions WHERE document = ? ORDER BY id",
    "links": "SELECT * FROM links WHERE document = ? ORDER BY rowid",
    "obligations": "SELECT * FROM obligations WHERE document = ? ORDER BY id",
    "source_lines": "SELECT * FROM source_lines WHERE document = ?",
    "self_checks": "SELECT * FROM self_checks WHERE document = ?",
    "contextualized": "SELECT * FROM contextualized WHERE document = ?",
    "document_fields": "SELECT * FROM document_fields WHERE document = ? ORDER BY name, value",
    "document_names": "SELECT * FROM document_names WHERE document = ? ORDER BY kind, key, folder",
    "numbered_files": "SELECT * FROM numbered_files WHERE document = ?",
    "leads": "SELECT * FROM leads WHERE document = ? ORDER BY rowid",
    "definition_keys": "SELECT * FROM definition_keys WHERE document = ? ORDER BY key, definition",
    "suggestions": "SELECT * FROM suggestions WHERE document = ? ORDER BY later, key, kind, item",
}
_NAMES = tuple(_PARTS)
TEXT, PLACES, CHUNKS, PASSAGES = "documents", "places", "chunks", "passages"
REFS, DEFINITIONS, LINKS, OBLIGATIONS, LINES = "refs", "definitions", "links", "obligations", "source_lines"

# The columns of rows that belong to no document, each of which has a ``digest``.
ROWS: dict[str, tuple[str, ...]] = {
    "meta": ("key", "value"),
    "roots": ("path",),
    "failures": ("source_path", "reason", "size", "mtime_ns", "failed_at"),
    "changes": ("generation", "document", "kind"),
    "vectors": ("text_hash", "vector"),
    "contexts": ("key", "context", "written_at"),
    "gone_places": ("place_id", "source_path", "section_id", "label", "heading", "text"),
}

# -- documents -------------------------------------------------------------------------------------------------


def seal(connection: sqlite3.Connection, document: int, parts: Collection[str] = _NAMES) -> None:
    """Seal a document, or some parts of it, as it is in this transaction, in which it was written."""
    row = next(_plain(connection, "SELECT sums FROM seals WHERE document = ?", (document,)), None)
    sums = list(_unpacked(row[0])) if row else [0] * len(_NAMES)
    for part in parts:
        sums[_NAMES.index(part)] = _sum(connection, document, part)
    connection.execute(
        "INSERT INTO seals VALUES (?, ?) ON CONFLICT (document) DO UPDATE SET sums = excluded.sums",
        (document, struct.pack(f"<{len(sums)}I", *sums)),
    )


def unsound(
    connection: sqlite3.Connection, document: int, parts: Collection[str] = _NAMES
) -> tuple[str, ...]:
    """Return which parts of a document are not as they were sealed."""
    try:
        row = next(_plain(connection, "SELECT sums FROM seals WHERE document = ?", (document,)), None)
        sums = dict(zip(_NAMES, _unpacked(row[0]), strict=False)) if row else {}
    except (sqlite3.Error, struct.error, TypeError):
        sums = {}
    return tuple(part for part in parts if not _matches(connection, document, part, sums.get(part)))


def _matches(connection: sqlite3.Connection, document: int, part: str, expected: int | None) -> bool:
    try:
        return expected == _sum(connection, document, part)
    except (sqlite3.Error, ValueError, OverflowError, MemoryError):
        # What cannot even be read, such as text that is not UTF-8.
        return False


def _sum(connection: sqlite3.Connection, document: int, part: str) -> int:
    rows = list(_plain(connection, _PARTS[part], (document,)))
    return checksum(marshal.dumps(rows, 2))


def _unpacked(sums: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(sums) // 4}I", sums)


def _plain(
    connection: sqlite3.Connection, query: str, values: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    cursor = connection.cursor()
    cursor.row_factory = None
    return iter(cursor.execute(query, values).fetchall())


def check_documents(database: Database, documents: Iterable[int], *parts: str) -> None:
    """Raise ``DamagedDocumentError`` if one of some documents is not as it was sealed; each is checked once."""
    for part in parts:
        known = database.sound.setdefault(part, set())
        for document in set(documents) - known:
            if unsound(database.connection, document, (part,)) and _is_there(database, document):
                raise _damage(database, document, part)
            known.add(document)


def _is_there(database: Database, document: int) -> bool:
    try:
        return bool(
            database.connection.execute("SELECT 1 FROM documents WHERE id = ?", (document,)).fetchone()
        )
    except sqlite3.Error:
        return True


def path_of(connection: sqlite3.Connection, document: int) -> str:
    """Return the path of a damaged document, as far as it can be told."""
    found = []
    for table, name in (("documents", "id"), ("files", "document")):
        with suppress(sqlite3.Error):
            query = f"SELECT source_path FROM {table} WHERE {name} = ?"
            found += [str(row[0]) for row in _plain(connection, query, (document,))]
    return next(filter(os.path.lexists, found), found[0] if found else f"document {document}")


def _damage(database: Database, document: int, part: str) -> DamagedDocumentError:
    path = path_of(database.connection, document)
    # The next run reads a file again that was read under other settings.
    with suppress(Exception):
        if not database.connection.in_transaction:
            with database.transaction() as connection:
                connection.execute("UPDATE documents SET settings = '' WHERE id = ?", (document,))
    return DamagedDocumentError(
        f"What is stored of {path} was damaged ({part}), and is not quoted. Read the file again with: loccit index",
        document,
    )


# -- rows that belong to no document -----------------------------------------------------------------------------


def insert(
    connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[Any]], verb: str = "INSERT"
) -> None:
    """Insert rows with their checksums."""
    columns = ROWS[table]
    marks = ", ".join("?" * (len(columns) + 1))
    connection.executemany(
        f"{verb} INTO {table} ({', '.join(columns)}, digest) VALUES ({marks})",
        [(*row, row_checksum(row)) for row in rows],
    )


def is_sound(row: Sequence[Any]) -> bool:
    """Whether a row is as it was written; its last value is its checksum."""
    *values, digest = row
    return bool(digest == row_checksum(values))


class DamagedRow(NamedTuple):
    """A row that does not match its checksum."""

    table: str
    rowid: int


def damaged_rows(connection: sqlite3.Connection, tables: Iterable[str] = tuple(ROWS)) -> list[DamagedRow]:
    """Return the damaged rows that belong to no document."""
    found = []
    for table in tables:
        number = "rowid" if table != "contexts" else "key"
        try:
            rows = _plain(connection, f"SELECT {', '.join((number, *ROWS[table]))}, digest FROM {table}")
            found += [DamagedRow(table, row[0]) for row in rows if not is_sound(row[1:])]
        except (sqlite3.Error, ValueError, OverflowError, MemoryError):
            found += list(_one_by_one(connection, table, number))
    return found


def _one_by_one(connection: sqlite3.Connection, table: str, number: str) -> Iterator[DamagedRow]:
    """Find the rows of a table of which one cannot be read."""
    query = f"SELECT {', '.join(ROWS[table])}, digest FROM {table} WHERE {number} = ?"
    for (name,) in _plain(connection, f"SELECT {number} FROM {table}"):
        try:
            if all(map(is_sound, _plain(connection, query, (name,)))):
                continue
        except (sqlite3.Error, ValueError, OverflowError, MemoryError):
            pass
        yield DamagedRow(table, name)


def delete_rows(connection: sqlite3.Connection, rows: Iterable[DamagedRow]) -> None:
    """Delete damaged rows, inside a transaction."""
    for table, name in rows:
        number = "rowid" if table != "contexts" else "key"
        connection.execute(f"DELETE FROM {table} WHERE {number} = ?", (name,))
