"""Contexts by a language model: its answers, which chunk has which answer, and which documents wait.

An answer is stored as soon as it arrives, keyed by the question, and outlives the document it was written for: a
document that is renamed, read again or continued after an interruption finds it. Documents apply their answers in one
transaction each.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from loccit.index.folder.database import Database, batches
from loccit.index.folder.record import has_all_vectors, insert_passages, log_changes, now
from loccit.index.folder.seals import CHUNKS, PASSAGES, TEXT, check_documents, insert, is_sound, seal
from loccit.model import Document, Passage

# Nothing but a heading: there is nothing to say about it that the heading does not.
_WITHOUT = "header"


class ChunkContext(NamedTuple):
    """What a chunk should have: its context, whose ``key`` is None if no model wrote it, and its passages."""

    chunk: int
    context: str
    key: bytes | None
    passages: tuple[Passage, ...]


class ContextStore:
    """The contexts in the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- answers ---------------------------------------------------------------------------------------------

    def known(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """Return the existing answers, by question."""
        found: dict[bytes, str] = {}
        for batch in batches(keys):
            marks = ",".join("?" * len(batch))
            rows = self._database.rows(
                f"SELECT key, context, written_at, digest FROM contexts WHERE key IN ({marks})", batch
            )
            found.update((bytes(row[0]), str(row[1])) for row in rows if is_sound(row))
        return found

    def keep(self, key: bytes, context: str) -> None:
        """Store an answer, so that the question is never asked again."""
        with self._database.transaction() as connection:
            insert(connection, "contexts", [(key, context, now())], "INSERT OR REPLACE")

    def forget_unused(self, days: int) -> None:
        """Delete old answers that no chunk uses."""
        before = (datetime.now(timezone.utc) - timedelta(days=days)).isoformat(timespec="seconds")
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM contexts WHERE written_at < ? AND NOT EXISTS "
                "(SELECT 1 FROM chunks c WHERE c.context_key = contexts.key AND c.context_key IS NOT NULL)",
                (before,),
            )

    # -- documents -------------------------------------------------------------------------------------------

    def wanting(self, settings: str) -> list[int]:
        """Return the documents that lack contexts under these settings, in order."""
        rows = self._database.rows(
            "SELECT id FROM documents WHERE id NOT IN (SELECT document FROM contextualized WHERE settings = ?) "
            "ORDER BY id",
            (settings,),
        )
        return [int(row[0]) for row in rows]

    def wanting_chunks(self, settings: str) -> int:
        """Return how many chunks of those documents are to get a context."""
        query = (
            "SELECT COUNT(*) FROM chunks WHERE chunk_type != ? AND document NOT IN "
            "(SELECT document FROM contextualized WHERE settings = ?)"
        )
        return int(self._database.value(query, (_WITHOUT, settings)))

    def written(self) -> list[int]:
        """Return the documents that have contexts by a model."""
        # SQLite would go through all chunks in the order of documents, though hardly any has such a context.
        rows = self._database.rows(
            "SELECT DISTINCT document FROM chunks INDEXED BY chunks_by_context WHERE context_key IS NOT NULL "
            "ORDER BY document"
        )
        return [int(row[0]) for row in rows]

    def keys(self, document: int) -> dict[int, bytes | None]:
        """Return the chunks of a document that are to get a context, with the key of their current one."""
        rows = self._database.rows(
            "SELECT id, context_key FROM chunks WHERE document = ? AND chunk_type != ? ORDER BY chunk_index",
            (document, _WITHOUT),
        )
        return {int(row[0]): row[1] and bytes(row[1]) for row in rows}

    def document(self, document: int) -> Document:
        """Return a document with its text."""
        check_documents(self._database, [document], TEXT)
        row = self._database.rows(
            "SELECT source_path, title, file_type, text, body_start, language, doc_summary, metadata FROM documents "
            "WHERE id = ?",
            (document,),
        )[0]
        values = {**dict(row), "metadata": json.loads(row["metadata"])}
        return Document(**values)

    def put(self, document: int, changes: Iterable[ChunkContext], settings: str) -> None:
        """Give chunks their contexts and passages; ``settings`` marks the document as done, unless it is empty."""
        parts = (CHUNKS, PASSAGES, "contextualized")
        check_documents(self._database, [document], *parts)
        with self._database.transaction() as connection:
            changed = False
            for change in changes:
                changed = True
                connection.execute(
                    "UPDATE chunks SET context = ?, context_key = ? WHERE id = ?",
                    (change.context, change.key, change.chunk),
                )
                connection.execute("DELETE FROM passages WHERE chunk = ?", (change.chunk,))
                insert_passages(connection, document, change.chunk, change.passages)
            connection.execute("DELETE FROM contextualized WHERE document = ?", (document,))
            if settings:
                connection.execute("INSERT INTO contextualized VALUES (?, ?)", (document, settings))
            seal(connection, document, parts)
            if changed:
                # The keyword index takes the whole document again, the vectors follow when all of them are there.
                log_changes(connection, [document], "added")
                if has_all_vectors(connection, document):
                    log_changes(connection, [document], "embedded")
