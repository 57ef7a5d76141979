"""Suggestions: what can be completed, under the keys by which it is found while somebody types."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from loccit.grammar.text.keys import typed_key
from loccit.index.port.names import SuggestionRow

if TYPE_CHECKING:
    from loccit.index.folder.database import Database

TITLE, TERM, LABEL, HEADING = range(4)
# Words of a text, after the first, by which it is found.
_WORDS = 5
# Limits: documents checked for one that is allowed, and keys checked for such a document.
_DOCUMENTS = 1000
_KEYS = 500
# Texts that are searched for those that contain what was typed anywhere.
_LOOKED_AT = 20_000
_DETAIL = 160
_END = "\U0010ffff"

_SOURCES = (
    (TITLE, "SELECT id, title FROM documents WHERE id = ?"),
    (TERM, "SELECT id, term FROM definitions WHERE document = ?"),
    (LABEL, "SELECT ordinal, label FROM places WHERE document = ? AND ordinal > 0 AND section = ordinal"),
    (
        HEADING,
        "SELECT p.ordinal, p.title FROM places p JOIN documents d ON d.id = p.document "
        "WHERE p.document = ? AND p.ordinal > 0 AND p.section = p.ordinal AND p.title != d.title",
    ),
)


def write_suggestions(connection: sqlite3.Connection, document: int) -> None:
    """Write the suggestions from a document, inside a transaction that stores it."""
    for kind, query in _SOURCES:
        rows = connection.execute(query, (document,))
        connection.executemany(
            "INSERT OR IGNORE INTO suggestions VALUES (?, ?, ?, ?, ?)",
            (
                (place > 0, key, kind, document, item)
                for item, text in rows
                for place, key in enumerate(_keys(text))
                if key
            ),
        )


def _keys(text: str) -> Iterator[str]:
    """The key of a text, and its suffixes from each further word on."""
    words = typed_key(text).split(" ")
    return (" ".join(words[at:]) for at in range(min(len(words), _WORDS + 1)))


class EmbeddedSuggestions:
    """Looks up suggestions in the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def beginning(
        self, key: str, allowed: Callable[[str], bool] | None = None, *, later_words: bool = False
    ) -> Iterator[SuggestionRow]:
        """Yield what has this prefix, or a later word with it, in alphabetical order."""
        at, kind = key, -1
        for _ in range(_KEYS):
            # Two queries: for one about both columns SQLite would scan all documents that have the same
            # words.
            found = self._database.rows(
                "SELECT key, kind FROM suggestions WHERE later = ? AND key = ? AND kind > ? "
                "ORDER BY kind LIMIT 1",
                (later_words, at, kind),
            ) or self._database.rows(
                "SELECT key, kind FROM suggestions WHERE later = ? AND key > ? AND key < ? "
                "ORDER BY key, kind LIMIT 1",
                (later_words, at, key + _END),
            )
            if not found:
                return
            at, kind = found[0]
            yield from self._of_key(later_words, at, kind, allowed)

    def _of_key(
        self, later: bool, key: str, kind: int, allowed: Callable[[str], bool] | None
    ) -> Iterator[SuggestionRow]:
        """What one key stands for: the same words in many documents, few of which spell it differently."""
        rows = self._database.stream(
            "SELECT s.document, s.item, d.source_path FROM suggestions s CROSS JOIN documents d ON d.id = s.document "
            "WHERE s.later = ? AND s.key = ? AND s.kind = ? LIMIT ?",
            (later, key, kind, _DOCUMENTS),
        )
        passing = sorted((row for row in rows if allowed is None or allowed(row[2])), key=lambda row: row[2])
        yield from self._written(kind, [(row[0], row[1]) for row in passing[:20]])

    def holding(self, key: str, allowed: Callable[[str], bool] | None = None) -> Iterator[SuggestionRow]:
        """Yield what contains this anywhere, among as many texts as can be scanned at once."""
        rows = self._database.stream(
            "SELECT s.kind, s.document, s.item, d.source_path FROM (SELECT key, kind, document, item FROM suggestions "
            "WHERE later = 0 LIMIT ?) s CROSS JOIN documents d ON d.id = s.document "
            "WHERE instr(s.key, ?) > 0",
            (_LOOKED_AT, key),
        )
        found = [row for row in islice(rows, _DOCUMENTS) if allowed is None or allowed(row[3])]
        for kind, document, item, _ in sorted(found, key=lambda row: (row[0], row[3], row[2])):
            yield from self._written(kind, [(document, item)])

    def _written(self, kind: int, items: list[tuple[int, int]]) -> Iterator[SuggestionRow]:
        for document, item in items:
            if kind == TITLE:
                query = "SELECT title, source_path, '', doc_summary FROM documents WHERE id = ? AND id = ?"
            elif kind == TERM:
                query = (
                    "SELECT f.term, d.source_path, f.source_section, f.definition_text FROM documents d "
                    "JOIN definitions f ON f.document = d.id WHERE d.id = ? AND f.id = ?"
                )
            else:
                query = (
                    "SELECT p.label, p.title, d.source_path, p.section_id, d.title FROM documents d "
                    "JOIN places p ON p.document = d.id WHERE d.id = ? AND p.ordinal = ?"
                )
            for row in self._database.rows(query, (document, item)):
                if kind in (TITLE, TERM):
                    text, path, section, detail = row
                else:
                    label, title, path, section, of = row
                    text, besides = (label, title) if kind == LABEL else (title, label)
                    detail = f"{besides} · {of}" if besides else of
                name = ("title", "term", "label", "label")[kind]
                yield SuggestionRow(text, name, path, section, detail[:_DETAIL] if kind <= TERM else detail)
