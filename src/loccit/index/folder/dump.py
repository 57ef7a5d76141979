"""Dump: a document of the record as bytes, to be restored in the record of another machine.

It has everything but the vectors, which are found by the hash of their texts. Rows are written with the names of their
columns, so that a record with more columns can still restore older dumps.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from loccit.errors import DamagedIndexError, IndexVersionError
from loccit.index.folder.database import Database
from loccit.index.folder.fields import write_fields
from loccit.index.folder.names import write_keys
from loccit.index.folder.place_ids import choose_place_ids
from loccit.index.folder.record import forget_documents, has_all_vectors, log_changes
from loccit.index.folder.schema import SCHEMA_VERSION
from loccit.index.folder.seals import ROWS, check_documents, insert, seal
from loccit.index.folder.suggestions import write_suggestions
from loccit.index.folder.terms import write_term_keys
from loccit.models.embedding.protocol import Vectors

# Tables that name their document in a column of that name, and refer to nothing else by row.
_TABLES = (
    "places",
    "refs",
    "definitions",
    "links",
    "contextualized",
    "source_lines",
    "self_checks",
    "obligations",
)
_PARTS = ("documents", "chunks", "passages", *_TABLES)
_BYTES = "bytes:"
# The first format that has all of these.
_OLDEST = 15


def dump_document(database: Database, document: int) -> bytes:
    """Serialise what the record has of a document."""
    check_documents(database, [document], *_PARTS)
    chunks = _rows(database, "SELECT * FROM chunks WHERE document = ? ORDER BY chunk_index", document)
    numbers = {row["id"]: row["chunk_index"] for row in chunks}
    passages = _rows(database, "SELECT * FROM passages WHERE document = ? ORDER BY id", document)
    data = {
        "format": SCHEMA_VERSION,
        "documents": _table(_rows(database, "SELECT * FROM documents WHERE id = ?", document), ("id",)),
        "chunks": _table(chunks, ("id", "document")),
        "passages": _table([{**row, "chunk": numbers[row["chunk"]]} for row in passages], ("id", "document")),
        "contexts": _table(
            _rows(
                database,
                "SELECT * FROM contexts WHERE key IN (SELECT context_key FROM chunks WHERE document = ?)",
                document,
            )
        ),
    }
    for name in _TABLES:
        order = "rowid" if name in ("refs", "definitions", "links") else "1"
        rows = _rows(database, f"SELECT * FROM {name} WHERE document = ? ORDER BY {order}", document)
        data[name] = _table(rows, ("id", "document"))
    return zlib.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 6)


def restore_document(
    database: Database, data: Mapping[str, Any], vectors: Mapping[bytes, Vectors]
) -> tuple[int, str]:
    """Restore a document that ``read_dump`` read, replacing the one at its path; return its id here, and the path."""
    with database.transaction() as connection:
        path = str(_values(data, "documents")[0]["source_path"])
        forget_documents(connection, [path])
        connection.execute("DELETE FROM failures WHERE source_path = ?", (path,))
        (document,) = _insert(connection, "documents", _values(data, "documents"))
        write_fields(connection, document)
        chunks = _values(data, "chunks")
        ids = _insert(connection, "chunks", [{**row, "document": document} for row in chunks])
        by_number = {row["chunk_index"]: name for row, name in zip(chunks, ids, strict=True)}
        passages = _values(data, "passages")
        _insert(
            connection,
            "passages",
            [{**row, "document": document, "chunk": by_number[row["chunk"]]} for row in passages],
        )
        for name in _TABLES:
            rows = [{**row, "document": document} for row in _values(data, name)]
            if name == "places":
                names = [row["section_id"] for row in rows]
                given = choose_place_ids(connection, path, names, place_ids(data), roots=())
                rows = [{**row, "place_id": one} for row, one in zip(rows, given, strict=True)]
            _insert(connection, name, rows)
        write_keys(connection, document)
        write_term_keys(connection, document)
        write_suggestions(connection, document)
        contexts = [tuple(row[name] for name in ROWS["contexts"]) for row in _values(data, "contexts")]
        insert(connection, "contexts", contexts, "INSERT OR IGNORE")
        found = [(name, vector.tobytes()) for name, vector in vectors.items()]
        insert(connection, "vectors", found, "INSERT OR IGNORE")
        seal(connection, document)
        log_changes(connection, [document], "added")
        if has_all_vectors(connection, document):
            log_changes(connection, [document], "embedded")
    return document, path


def read_dump(body: bytes) -> dict[str, Any]:
    """Read what ``dump_document`` wrote."""
    try:
        data: dict[str, Any] = json.loads(zlib.decompress(body))
        written = int(data["format"])
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise DamagedIndexError(f"a stored document is unreadable: {error}") from error
    if written > SCHEMA_VERSION:
        raise IndexVersionError(
            f"A document in the database was written by a newer version of Loccit (format {written}, this one reads "
            f"up to {SCHEMA_VERSION}). Upgrade Loccit on this machine."
        )
    if written < _OLDEST:
        raise IndexVersionError(
            f"A document in the database was written by an older version of Loccit (format {written}, this one reads "
            f"{_OLDEST} and later). Index the files again into another collection."
        )
    return data


def place_ids(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of the places in a dump, by their ids within the document."""
    rows = _values(data, "places")
    return {row["section_id"]: row["place_id"] for row in rows if row.get("place_id")}


def passage_hashes(data: Mapping[str, Any]) -> list[tuple[int, bytes]]:
    """Return the chunk number and text hash of each passage in a dump, in order."""
    return [(int(row["chunk"]), row["text_hash"]) for row in _values(data, "passages")]


def _rows(database: Database, query: str, document: int) -> list[dict[str, Any]]:
    return [dict(row) for row in database.rows(query, (document,))]


def _table(rows: Sequence[Mapping[str, Any]], left_out: Sequence[str] = ()) -> dict[str, Any]:
    """Turn rows into a list of columns and one of values."""
    columns = [name for name in (rows[0] if rows else {}) if name not in left_out]
    return {"columns": columns, "rows": [[_plain(row[name]) for name in columns] for row in rows]}


def _values(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    table = data.get(name) or {"columns": [], "rows": []}
    return [
        {column: _original(value) for column, value in zip(table["columns"], row, strict=True)}
        for row in table["rows"]
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return _BYTES + value.hex()
    # A text that looks like one of our encodings is marked as well, to distinguish it.
    return (
        f"{_BYTES}{value.encode().hex()}:text"
        if isinstance(value, str) and value.startswith(_BYTES)
        else value
    )


def _original(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(_BYTES):
        return value
    digits, _, kind = value[len(_BYTES) :].partition(":")
    raw = bytes.fromhex(digits)
    return raw.decode() if kind == "text" else raw


def _insert(
    connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]], verb: str = "INSERT"
) -> list[int]:
    """Insert rows, with those of their columns that the table has; return their new ids."""
    if not rows:
        return []
    known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    columns = [name for name in rows[0] if name in known]
    names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
    ids = []
    for row in rows:
        cursor = connection.execute(
            f"{verb} INTO {table} ({names}) VALUES ({marks})", [row[name] for name in columns]
        )
        ids.append(int(cursor.lastrowid or 0))
    return ids
