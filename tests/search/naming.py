"""A record that holds nothing but documents with names, for tests of what they are called."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loccit.index.folder.database import Database
from loccit.index.folder.names import EmbeddedNames, write_keys


@contextmanager
def names_of_all(
    documents: Sequence[tuple[int, str, str]], metadata: Mapping[int, Mapping[str, Any]] | None = None
) -> Iterator[EmbeddedNames]:
    """Store documents, given as id, path and title, with their properties by id."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "record.sqlite3", create=True)
        with database.transaction() as connection:
            for number, path, title in documents:
                connection.execute(
                    "INSERT INTO documents (id, source_path, title, file_type, language, doc_summary, metadata, text, "
                    "body_start, pages, warnings, mtime_ns, size, content_hash, settings, total_chunks, ingested_at) "
                    "VALUES (?, ?, ?, 'md', 'en', '', ?, '', 0, '[]', '[]', 0, 0, '', '', 0, '')",
                    (number, path, title, json.dumps((metadata or {}).get(number, {}))),
                )
                write_keys(connection, number)
        yield EmbeddedNames(database)
        database.close()
