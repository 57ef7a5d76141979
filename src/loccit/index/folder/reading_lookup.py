"""Lookups for readers: one whole document, and what a map or suggestions need of all of them."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Collection, Sequence

from loccit.index.folder.database import Database, batches
from loccit.index.folder.lookup import PLACE, Lookup, place_of
from loccit.index.folder.seals import CHUNKS, LINKS, PLACES, TEXT, check_documents
from loccit.model import Lines, Link, Pages, Place, line_of


class ReadingLookup:
    """Read-only queries on the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def document(self, path: str) -> sqlite3.Row | None:
        """Return a document with its text."""
        rows = self._database.rows("SELECT * FROM documents WHERE source_path = ?", (path,))
        check_documents(self._database, [row["id"] for row in rows], TEXT)
        return rows[0] if rows else None

    def paths(self) -> dict[int, str]:
        """Return the paths of all documents."""
        return {row[0]: row[1] for row in self._database.rows("SELECT id, source_path FROM documents")}

    def file_state(self, path: str) -> tuple[str, int, int, str] | None:
        """Return type, size, modification time and hash of a document's file."""
        rows = self._database.rows(
            "SELECT file_type, size, mtime_ns, content_hash FROM documents WHERE source_path = ?", (path,)
        )
        return tuple(rows[0]) if rows else None

    def links(self, document: int) -> list[Link]:
        """Return the links of a document, in order."""
        check_documents(self._database, [document], LINKS)
        rows = self._database.rows(
            'SELECT target, text, kind, start, "end" FROM links WHERE document = ? ORDER BY start',
            (document,),
        )
        return [Link(*row) for row in rows]

    def headings(self) -> dict[int, list[Place]]:
        """Return the headings of all documents, by document and in order."""
        found: dict[int, list[Place]] = {}
        where = "WHERE p.ordinal > 0 AND p.section = p.ordinal ORDER BY p.document, p.ordinal"
        for row in self._database.rows(f"{PLACE} {where}"):
            found.setdefault(row[0], []).append(place_of(row).place)
        return found

    def heading_counts(self) -> dict[int, int]:
        """Return the number of headings of documents."""
        rows = self._database.rows(
            "SELECT document, COUNT(*) FROM places WHERE ordinal > 0 AND section = ordinal GROUP BY document"
        )
        return {row[0]: row[1] for row in rows}

    def chunk_counts(self, document: int) -> dict[int, int]:
        """Return the number of chunks directly in each section of a document, by ordinal."""
        rows = self._database.rows(
            "SELECT section, COUNT(*) FROM chunks WHERE document = ? GROUP BY section", (document,)
        )
        return {row[0]: row[1] for row in rows}

    def labels(self, document: int, section_ids: Collection[str]) -> dict[str, str]:
        """Return the names of places in a document: the label, or else the heading."""
        check_documents(self._database, [document], PLACES)
        found: dict[str, str] = {}
        for batch in batches(section_ids):
            marks = ",".join("?" * len(batch))
            rows = self._database.rows(
                "SELECT section_id, CASE label WHEN '' THEN heading ELSE label END FROM places WHERE document = ? "
                f"AND section_id IN ({marks})",
                [document, *batch],
            )
            found.update((row[0], row[1]) for row in rows)
        return found

    def place(self, document: int, start: int, end: int) -> tuple[Lines, Pages | None]:
        """Return the lines and pages of a part of a document."""
        check_documents(self._database, [document], CHUNKS, TEXT)
        line_starts = Lookup(self._database).line_starts(document)
        first, last = (self._line_at(document, at, line_starts) for at in (start, max(start, end - 1)))
        rows = self._database.rows("SELECT pages FROM documents WHERE id = ?", (document,))
        pages = json.loads(rows[0][0]) if rows else []
        return Lines(first, max(first, last)), _pages(pages, start, end) if pages else None

    def _line_at(self, document: int, offset: int, line_starts: Sequence[tuple[int, int]]) -> int:
        """Return the line of an offset, counted from the chunk there, so that the document need not be read."""
        rows = self._database.rows(
            'SELECT line_first, prefix, start, content, line_last, "end" FROM chunks '
            "WHERE document = ? AND start <= ? ORDER BY start DESC LIMIT 1",
            (document, offset),
        )
        if not rows:
            return 1
        first, prefix, start, content, last, end = rows[0]
        if offset >= end:
            return int(last)
        own = content[prefix:]
        lead = len(own) - len(own.lstrip())
        return line_of(line_starts, own[lead:], start + lead, first, offset)


def _pages(pages: list[tuple[int, int]], start: int, end: int) -> Pages:
    offsets = [offset for offset, _ in pages]
    first, last = (max(0, bisect_right(offsets, at) - 1) for at in (start, max(start, end - 1)))
    return Pages(pages[first][1], pages[last][1])
