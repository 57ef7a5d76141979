"""The record: the one place where what was read from documents is stored.

Everything else (keyword index, vector matrix) is derived from it. A document is replaced in one transaction, and each
change gets a generation, by which derived indexes know what they have missed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime, timezone
from typing import NamedTuple

import numpy as np

from loccit.errors import DamagedVectorsError, IndexStateError
from loccit.grammar.text.keys import title_key
from loccit.index.folder.database import Database, batches
from loccit.index.folder.fields import write_fields
from loccit.index.folder.names import write_keys
from loccit.index.folder.obligations import write_obligations
from loccit.index.folder.place_ids import choose_place_ids, remember_places
from loccit.index.folder.schema import recount
from loccit.index.folder.seals import (
    PASSAGES,
    PLACES,
    TEXT,
    check_documents,
    damaged_rows,
    delete_rows,
    insert,
    is_sound,
    path_of,
    seal,
    unsound,
)
from loccit.index.folder.suggestions import write_suggestions
from loccit.index.folder.terms import write_term_keys
from loccit.model import Chunk, ParsedDocument, Passage, Place, chunk_number
from loccit.models.embedding.protocol import Vectors

WITHDRAWN = "what was stored of it was damaged: run loccit index to read it again"
"""Why a document is missing that the doctor took out."""
OUTDATED = "an older version of Loccit read it: run loccit index to read it again"
"""Why a document is missing whose index was renewed."""
LOST = "lost"
"""The setting that says what was lost."""


class FileState(NamedTuple):
    """What is known about a file indexed before."""

    document: int
    size: int
    mtime_ns: int
    content_hash: str
    settings: str
    ingested_at: str


class Change(NamedTuple):
    """One entry of the change log."""

    generation: int
    document: int
    kind: str


class PendingPassage(NamedTuple):
    """A text without a vector; ``id`` is its passage's, ``start`` where that begins in the chunk."""

    id: int
    text_hash: bytes
    context: str
    text: str
    start: int


def now() -> str:
    """Return the current time in the record's format."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class Record:
    """Reads and writes of whole documents, their vectors, and the change log."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # -- meta ------------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str:
        """Return a stored setting, or an empty string."""
        return self.metas(key)[0]

    def metas(self, *keys: str) -> list[str]:
        """Return stored settings, or empty strings."""
        marks = ",".join("?" * len(keys))
        rows = self.database.rows(f"SELECT key, value, digest FROM meta WHERE key IN ({marks})", keys)
        for row in rows:
            if not is_sound(row):
                raise IndexStateError(
                    f"The settings of the index at {self.database.path.parent} were damaged ({row[0]}). "
                    "Run loccit doctor."
                )
        found = {row[0]: str(row[1]) for row in rows}
        return [found.get(key, "") for key in keys]

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Store settings."""
        with self.database.transaction() as connection:
            insert(connection, "meta", values.items(), "INSERT OR REPLACE")

    # -- documents -------------------------------------------------------------------------------------------

    def file_states(self, places: Sequence[str] | None = None) -> dict[str, FileState]:
        """Return what is known about the indexed files at or below some paths, or about all, by path."""
        return self._file_states(_below(places))

    def count_files(self, places: Sequence[str]) -> int:
        """Return how many indexed files are at or below some paths; a file below two of them may count twice."""
        return sum(
            self.database.value(f"SELECT count(*) FROM files WHERE {where}", values)
            for where, values in _below(places)
        )

    def states_of(self, paths: Collection[str]) -> dict[str, FileState]:
        """Return what is known about some files, by path."""
        return self._file_states(
            (f"source_path IN ({','.join('?' * len(batch))})", batch) for batch in batches(paths)
        )

    def unsettled(self, places: Sequence[str], settings: str, seconds: float) -> dict[str, FileState]:
        """Return what is known about the files at or below some paths that are not settled."""
        settled, values = self._settled(settings, seconds)
        return self._file_states(
            (f"{where} AND coalesce({settled}, 0) = 0", [*at, *values]) for where, at in _below(places)
        )

    def settled(self, places: Sequence[str], settings: str, seconds: float) -> set[tuple[str, int, int]]:
        """Return path, size and modification time of files at or below some paths whose content these determine.

        They were read under the given settings, at least this many seconds after they had been written.
        """
        settled, values = self._settled(settings, seconds)
        found: set[tuple[str, int, int]] = set()
        for where, at in _below(places):
            query = f"SELECT source_path, size, mtime_ns FROM files WHERE {where} AND {settled}"
            found.update(self.database.stream(query, [*at, *values]))
        return found

    def _settled(self, settings: str, seconds: float) -> tuple[str, list[object]]:
        reading = self.database.value("SELECT id FROM readings WHERE settings = ?", (settings,))
        nanoseconds = "strftime('%s', ingested_at) * 1000000000 - mtime_ns"
        return f"(reading = ? AND {nanoseconds} >= ?)", [reading, int(seconds * 1e9)]

    def _file_states(self, spans: Iterable[tuple[str, Sequence[object]]]) -> dict[str, FileState]:
        settings = dict(self.database.stream("SELECT id, settings FROM readings"))
        query = "SELECT source_path, document, size, mtime_ns, content_hash, reading, ingested_at FROM files"
        return {
            path: FileState(document, size, mtime_ns, content_hash, settings[reading], at)
            for where, values in spans
            for path, document, size, mtime_ns, content_hash, reading, at in self.database.stream(
                f"{query} WHERE {where}", values
            )
        }

    def put(
        self,
        parsed: ParsedDocument,
        *,
        mtime_ns: int,
        settings: str,
        place_ids: Mapping[str, str] | None = None,
        renamed_from: str = "",
    ) -> int:
        """Store a document, replacing any older version; return its new id.

        ``place_ids`` are ids that its places have elsewhere, ``renamed_from`` is its previous path.
        """
        with self.database.transaction() as connection:
            forget_documents(connection, [parsed.document.source_path])
            document = _insert_document(connection, parsed, mtime_ns, settings)
            write_fields(connection, document)
            ids = choose_place_ids(
                connection,
                parsed.document.source_path,
                [place.section_id for place in parsed.places],
                place_ids,
                renamed_from=renamed_from,
            )
            _insert_places(connection, document, parsed.places, ids)
            _insert_chunks(connection, document, parsed.chunks)
            connection.executemany(
                "INSERT INTO refs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (document, x.start, x.end, x.text, x.kind, x.target_section)
                    + (
                        x.number_kind,
                        x.number_key,
                        x.document,
                        x.reason,
                        chunk_number(x.target_chunk),
                        x.sure,
                    )
                    for x in parsed.references
                ],
            )
            connection.executemany(
                "INSERT INTO definitions (document, term, term_normalized, definition_text, source_section, "
                'exceptions, start, "end", sure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
                [
                    (document, d.term, d.term_normalized, d.definition_text, d.source_section)
                    + (json.dumps(d.exceptions), d.start, d.end, d.sure)
                    for d in parsed.definitions
                ],
            )
            write_term_keys(connection, document)
            write_suggestions(connection, document)
            write_obligations(connection, document, parsed.obligations)
            connection.executemany(
                "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)",
                [(document, x.target, x.text, x.kind, x.start, x.end) for x in parsed.links],
            )
            write_keys(connection, document)
            seal(connection, document)
            connection.execute("DELETE FROM failures WHERE source_path = ?", (parsed.document.source_path,))
            log_changes(connection, [document], "added")
            if has_all_vectors(connection, document):
                log_changes(connection, [document], "embedded")
        return document

    def touch(self, path: str, mtime_ns: int) -> None:
        """Store a new modification time of a file with unchanged content."""
        parts = ("documents", "files", "document_fields")
        for (document,) in self.database.rows("SELECT id FROM documents WHERE source_path = ?", (path,)):
            check_documents(self.database, [document], *parts)
            with self.database.transaction() as connection:
                connection.execute(
                    "UPDATE documents SET mtime_ns = ?, ingested_at = ? WHERE id = ?",
                    (mtime_ns, now(), document),
                )
                write_fields(connection, document)
                seal(connection, document, parts)

    def remove(self, paths: Sequence[str]) -> None:
        """Remove documents and failures by path."""
        if not paths:
            return
        with self.database.transaction() as connection:
            forget_documents(connection, paths)
            connection.executemany("DELETE FROM failures WHERE source_path = ?", [(path,) for path in paths])

    def clear(self) -> None:
        """Remove everything but the settings."""
        with self.database.transaction() as connection:
            documents = [row[0] for row in connection.execute("SELECT id FROM documents")]
            connection.execute("DELETE FROM documents")
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM dropped")
            connection.execute("DELETE FROM failures")
            log_changes(connection, documents, "removed")

    # -- failures and roots ----------------------------------------------------------------------------------

    def put_failure(self, path: str, reason: str, size: int, mtime_ns: int) -> None:
        """Remember that a file could not be read, so that it is not tried again until it changes."""
        with self.database.transaction() as connection:
            insert(connection, "failures", [(path, reason, size, mtime_ns, now())], "INSERT OR REPLACE")

    def forget_failures(self, paths: Iterable[str]) -> None:
        """Forget that files could not be read; their stored documents stay."""
        with self.database.transaction() as connection:
            connection.executemany("DELETE FROM failures WHERE source_path = ?", [(path,) for path in paths])

    def failures(self) -> dict[str, tuple[str, int, int]]:
        """Return reason, size and modification time of each file that could not be read."""
        rows = self.database.rows(
            "SELECT source_path, reason, size, mtime_ns, failed_at, digest FROM failures"
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows if is_sound(row)}

    def add_roots(self, roots: Iterable[str]) -> None:
        """Remember which paths were indexed."""
        with self.database.transaction() as connection:
            insert(connection, "roots", [(root,) for root in roots], "INSERT OR IGNORE")

    def forget_roots(self, roots: Iterable[str]) -> None:
        """Forget indexed paths; their documents stay."""
        with self.database.transaction() as connection:
            connection.executemany("DELETE FROM roots WHERE path = ?", [(root,) for root in roots])

    def roots(self) -> list[str]:
        """Return the paths that were indexed."""
        rows = self.database.rows("SELECT path, digest FROM roots ORDER BY path")
        if not all(map(is_sound, rows)):
            raise IndexStateError(
                f"The list of folders of the index at {self.database.path.parent} was damaged. Run loccit doctor."
            )
        return [row[0] for row in rows]

    # -- vectors ---------------------------------------------------------------------------------------------

    def pending_count(self) -> int:
        """Return how many texts have no vector yet."""
        return self.database.stored_count("pending")

    def pending(self, limit: int) -> list[PendingPassage]:
        """Return up to ``limit`` texts without a vector, without duplicates, in document order."""
        rows = self.database.rows(f"{_PENDING} WHERE u.passage > 0 ORDER BY u.passage LIMIT ?", (limit,))
        return [PendingPassage(*row) for row in rows]

    def pending_at(self, passages: Sequence[int]) -> list[PendingPassage]:
        """Return the texts of some passages, in that order, without those that have a vector by now."""
        rows = {
            row[0]: PendingPassage(*row)
            for batch in batches(passages)
            for row in self.database.rows(
                f"{_PENDING} WHERE u.passage IN ({','.join('?' * len(batch))})", batch
            )
        }
        return [rows[passage] for passage in passages if passage in rows]

    def embedding_order(self) -> list[int]:
        """Return the passages whose texts have no vector, documents with few of them first."""
        rows = self.database.rows(
            "SELECT u.passage, p.document FROM unembedded u JOIN passages p ON p.id = u.passage"
        )
        counts = Counter(document for _, document in rows)
        return [
            passage for passage, document in sorted(rows, key=lambda row: (counts[row[1]], row[1], row[0]))
        ]

    def first_passages(self, after: int) -> list[int]:
        """Return the passages without a vector that begin a document, after a given passage."""
        rows = self.database.rows(
            "SELECT u.passage FROM unembedded u JOIN passages p ON p.id = u.passage JOIN chunks c ON c.id = p.chunk "
            "WHERE u.passage > ? AND c.chunk_index = 0 AND p.start = 0 ORDER BY u.passage",
            (after,),
        )
        return [row[0] for row in rows]

    def put_vectors(self, hashes: Sequence[bytes], vectors: Vectors, *, partly: bool = False) -> None:
        """Store vectors, and log the documents completed by them, or with ``partly`` all that have some."""
        with self.database.transaction() as connection:
            insert(
                connection,
                "vectors",
                [(name, row.tobytes()) for name, row in zip(hashes, vectors, strict=True)],
                "INSERT OR IGNORE",
            )
            touched: set[int] = set()
            for name in hashes:
                rows = connection.execute(
                    "SELECT DISTINCT document FROM passages WHERE text_hash = ?", (name,)
                )
                touched.update(row[0] for row in rows)
            told = [d for d in sorted(touched) if partly or has_all_vectors(connection, d)]
            log_changes(connection, told, "embedded")

    def vectors_of(self, hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Return the vectors of texts, by hash, without damaged ones."""
        query = "SELECT text_hash, vector, digest FROM vectors WHERE text_hash IN"
        return {
            row[0]: np.frombuffer(row[1], np.float32)
            for batch in batches(hashes)
            for row in self.database.rows(f"{query} ({','.join('?' * len(batch))})", batch)
            if is_sound(row)
        }

    def document_vectors(self, document: int, dimension: int) -> tuple[list[int], Vectors]:
        """Return the chunk id and the vector of each passage of a document."""
        rows = self.database.rows(
            "SELECT p.chunk, v.text_hash, v.vector, v.digest FROM passages p JOIN vectors v "
            "ON v.text_hash = p.text_hash WHERE p.document = ? ORDER BY p.id",
            (document,),
        )
        check_documents(self.database, [document], PASSAGES)
        if not all(is_sound(row[1:]) for row in rows):
            raise DamagedVectorsError(f"stored vectors of document {document} were changed by something else")
        data = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32)
        return [row[0] for row in rows], data.reshape(len(rows), dimension)

    def is_embedded(self, document: int) -> bool:
        """Whether every passage of a document has its vector."""
        return not self.database.rows(_NOT_EMBEDDED, (document,))

    def embedded_passages(self) -> int:
        """Return the number of passages in documents with all their vectors."""
        query = (
            "SELECT COUNT(*) FROM passages WHERE document NOT IN "
            "(SELECT p.document FROM unembedded u JOIN passages p ON p.text_hash = u.text_hash)"
        )
        return int(self.database.value(query))

    def drop_orphan_vectors(self) -> None:
        """Delete vectors of texts that no document contains any more, nor one that is still to be read again."""
        outdated = "SELECT 1 FROM failures WHERE reason = ? LIMIT 1"
        if not self.database.rows("SELECT 1 FROM dropped LIMIT 1") or self.database.rows(
            outdated, (OUTDATED,)
        ):
            return
        with self.database.transaction() as connection:
            connection.execute(
                "DELETE FROM vectors WHERE text_hash IN (SELECT text_hash FROM dropped d "
                "WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.text_hash = d.text_hash))"
            )
            connection.execute("DELETE FROM dropped")

    def drop_damaged(self) -> int:
        """Delete the vectors that were damaged, so that they are made again; return how many there were."""
        with self.database.transaction() as connection:
            damaged = damaged_rows(connection, ["vectors"])
            delete_rows(connection, damaged)
            recount(connection)
        return len(damaged)

    def withdraw(self, documents: Iterable[int]) -> list[str]:
        """Delete documents whose rows were damaged, to be read again from their files; return their paths.

        Nothing of them is remembered, and a database that holds the library is not told that they are gone.
        """
        paths = []
        with self.database.transaction() as connection:
            for document in documents:
                paths.append(path := path_of(connection, document))
                connection.execute("DELETE FROM documents WHERE id = ?", (document,))
                connection.execute("DELETE FROM files WHERE document = ?", (document,))
                connection.execute("DELETE FROM stored WHERE document = ?", (document,))
                row = (path, WITHDRAWN, 0, -1, now())
                insert(connection, "failures", [row], "INSERT OR REPLACE")
                log_changes(connection, [document], "removed")
            recount(connection)
        return sorted(paths)

    def withdrawn(self) -> list[str]:
        """Return the paths of the documents that were withdrawn and not read again since."""
        return sorted(path for path, (reason, _, _) in self.failures().items() if reason == WITHDRAWN)

    # -- the change log --------------------------------------------------------------------------------------

    def generation(self) -> int:
        """Return the number of the last change."""
        return int(self.database.value("SELECT MAX(generation) FROM changes") or 0)

    def changes_since(self, generation: int) -> list[Change]:
        """Return what happened after a generation, in order."""
        rows = self.database.rows(
            "SELECT generation, document, kind FROM changes WHERE generation > ? ORDER BY generation",
            (generation,),
        )
        return [Change(*row) for row in rows]

    def log_is_sound(self, generation: int) -> bool:
        """Whether what the log says of the changes after a generation is what was written there."""
        rows = self.database.rows(
            "SELECT generation, document, kind, digest FROM changes WHERE generation > ?", (generation,)
        )
        return all(map(is_sound, rows))

    def is_current(self, document: int) -> bool:
        """Whether a document id is the current version of its file."""
        return self.database.value("SELECT 1 FROM documents WHERE id = ?", (document,)) is not None

    def trim_changes(self, generation: int) -> None:
        """Remove changes that every derived index has seen, except for the last, which has the number."""
        with self.database.transaction() as connection:
            connection.execute(
                "DELETE FROM changes WHERE generation <= ? AND generation < (SELECT MAX(generation) FROM changes)",
                (generation,),
            )

    def oldest_change(self) -> int:
        """Return the first generation still in the log; an older index must be rebuilt."""
        return int(self.database.value("SELECT MIN(generation) FROM changes") or 0)

    def document_ids(self) -> list[int]:
        """Return the ids of all documents, in order."""
        return [int(row[0]) for row in self.database.rows("SELECT id FROM documents ORDER BY id")]


def _below(places: Sequence[str] | None) -> list[tuple[str, list[object]]]:
    """Return conditions, each met by the files at or below one of some paths."""
    if places is None:
        return [("1", [])]
    spans: list[tuple[str, list[object]]] = [("source_path = ?", [place]) for place in places]
    for place in places:
        folder = place.rstrip(os.sep) + os.sep
        spans.append(("source_path >= ? AND source_path < ?", [folder, folder[:-1] + chr(ord(os.sep) + 1)]))
    return spans


def forget_documents(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Delete documents by path, inside a transaction, and tell the derived indexes."""
    documents = []
    for path in paths:
        row = connection.execute("SELECT id FROM documents WHERE source_path = ?", (path,)).fetchone()
        if row:
            if not unsound(connection, row[0], (TEXT, PLACES)):
                remember_places(connection, row[0])
            connection.execute("DELETE FROM documents WHERE id = ?", (row[0],))
            documents.append(int(row[0]))
    log_changes(connection, documents, "removed")


def log_changes(connection: sqlite3.Connection, documents: Iterable[int], kind: str) -> None:
    """Log changes of documents for derived indexes, inside the transaction in which they happen."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    first = (last[0] if last else 0) + 1
    insert(connection, "changes", [(number, d, kind) for number, d in enumerate(documents, first)])


_PENDING = (
    'SELECT p.id, p.text_hash, c.context, substr(c.content, p.start + 1, p."end" - p.start), p.start '
    "FROM unembedded u JOIN passages p ON p.id = u.passage JOIN chunks c ON c.id = p.chunk"
)
_NOT_EMBEDDED = (
    "SELECT 1 FROM passages p WHERE p.document = ? "
    "AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_hash = p.text_hash) LIMIT 1"
)


def has_all_vectors(connection: sqlite3.Connection, document: int) -> bool:
    """Whether every passage of a document has its vector, inside a transaction."""
    return connection.execute(_NOT_EMBEDDED, (document,)).fetchone() is None


def _insert_document(
    connection: sqlite3.Connection, parsed: ParsedDocument, mtime_ns: int, settings: str
) -> int:
    document = parsed.document
    cursor = connection.execute(
        "INSERT INTO documents (source_path, title, file_type, language, doc_summary, metadata, text, body_start, "
        "pages, warnings, mtime_ns, size, content_hash, settings, total_chunks, ingested_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.source_path,
            document.title,
            document.file_type,
            document.language,
            document.doc_summary,
            json.dumps(document.metadata, ensure_ascii=False),
            document.text,
            document.body_start,
            json.dumps(document.pages),
            json.dumps(document.warnings, ensure_ascii=False),
            mtime_ns,
            document.size,
            document.content_hash,
            settings,
            len(parsed.chunks),
            now(),
        ),
    )
    assert cursor.lastrowid is not None
    counts = astuple(document.self_check)
    if any(counts):
        connection.execute(
            "INSERT INTO self_checks VALUES (?, ?, ?, ?, ?, ?, ?)", (cursor.lastrowid, *counts)
        )
    if document.line_starts:
        connection.execute(
            "INSERT INTO source_lines VALUES (?, ?)", (cursor.lastrowid, json.dumps(document.line_starts))
        )
    return cursor.lastrowid


def _insert_places(
    connection: sqlite3.Connection, document: int, places: Iterable[Place], ids: Iterable[str]
) -> None:
    connection.executemany(
        f"INSERT INTO places VALUES ({', '.join('?' * 22)})",
        [
            (document, p.ordinal, p.parent, p.section, p.level, p.heading, p.marker, p.label, p.title)
            + (title_key(p.title), p.kind, "_".join(p.number), p.section_id)
            + (json.dumps(p.path, ensure_ascii=False),)
            + (p.start, p.body, p.end, *p.lines, *(p.pages or (None, None)), place_id)
            for p, place_id in zip(places, ids, strict=True)
        ],
    )


def insert_passages(
    connection: sqlite3.Connection, document: int, chunk: int, passages: Iterable[Passage]
) -> None:
    """Store the passages of a chunk."""
    connection.executemany(
        'INSERT INTO passages (document, chunk, start, "end", text_hash) VALUES (?, ?, ?, ?, ?)',
        [(document, chunk, p.start, p.end, bytes.fromhex(p.text_hash)) for p in passages],
    )


def _insert_chunks(connection: sqlite3.Connection, document: int, chunks: Iterable[Chunk]) -> None:
    for chunk in chunks:
        cursor = connection.execute(
            'INSERT INTO chunks (document, chunk_index, section, content, prefix, start, "end", line_first, line_last, '
            "page_first, page_last, tokens, chunk_type, context, cross_references, defined_term, "
            "defined_term_normalized, clauses) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (document, chunk.chunk_index, chunk.section, chunk.content, chunk.prefix, chunk.start, chunk.end)
            + (
                *chunk.lines,
                *(chunk.pages or (None, None)),
                chunk.tokens,
                chunk.chunk_type.value,
                chunk.context,
            )
            + (json.dumps(chunk.cross_references), chunk.defined_term, chunk.defined_term_normalized)
            + (json.dumps(chunk.clauses),),
        )
        assert cursor.lastrowid is not None
        insert_passages(connection, document, cursor.lastrowid, chunk.passages)
