"""Defined terms by key: written with each document, and looked up by the words of a query or a text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from loccit.grammar.text.keys import LONGEST_TERM, term_keys
from loccit.index.folder.seals import DEFINITIONS, check_documents
from loccit.index.port.names import MOST_DEFINITIONS, DefinedIn
from loccit.model import Definition

if TYPE_CHECKING:
    from loccit.index.folder.database import Database

_DEFINED = (
    "SELECT f.*, d.source_path AS source_path, d.title AS document_title FROM definitions f "
    "JOIN documents d ON d.id = f.document "
)
_ORDER = " ORDER BY d.source_path, f.start, f.id"
# Precedes a single word of a term that has several. No other key begins like this.
_WORD = "~"


def write_term_keys(connection: sqlite3.Connection, document: int) -> None:
    """Write the keys of the terms that a document defines, inside a transaction that stores it."""
    rows = connection.execute(
        "SELECT id, term, term_normalized FROM definitions WHERE document = ?", (document,)
    )
    connection.executemany(
        "INSERT OR IGNORE INTO definition_keys VALUES (?, ?, ?)",
        ((key, document, number) for number, term, normal in rows for key in _keys(term, normal)),
    )


def _keys(term: str, normal: str) -> set[str]:
    whole = {" ".join(words) for words in term_keys(term) if len(words) <= LONGEST_TERM}
    return whole | {_WORD + word for word in normal.split("_")[:LONGEST_TERM] if word}


class EmbeddedTerms:
    """Looks up definitions in the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, keys: Collection[str]) -> set[str]:
        """Return which of these keys belong to defined terms."""
        if not keys:
            return set()
        query = (
            "SELECT j.value FROM json_each(?) j "
            "WHERE EXISTS (SELECT 1 FROM definition_keys k WHERE k.key = j.value)"
        )
        return {row[0] for row in self._database.rows(query, (json.dumps(sorted(keys)),))}

    def by_keys(
        self,
        keys: Collection[str],
        documents: Collection[int] = (),
        paths: Collection[str] = (),
        *,
        limit: int = MOST_DEFINITIONS,
    ) -> list[DefinedIn]:
        """Return definitions of terms, by path and position: the first of each key, and those of some documents."""
        ids: set[int] = set()
        for key in keys if limit else ():
            rows = self._database.stream(
                "SELECT k.definition, d.source_path FROM (SELECT document, definition FROM definition_keys "
                "WHERE key = ? LIMIT ?) k CROSS JOIN documents d ON d.id = k.document",
                (key, MOST_DEFINITIONS),
            )
            ids.update(number for number, _ in sorted(rows, key=itemgetter(1, 0))[:limit])
        wanted = json.dumps(sorted(keys))
        at_hand = json.dumps([int(document) for document in documents])
        for names, given in (
            ("SELECT value AS id FROM json_each(?)", at_hand),
            (
                "SELECT d.id FROM json_each(?) p CROSS JOIN documents d ON d.source_path = p.value",
                _json(paths),
            ),
        ):
            if given != "[]":
                rows = self._database.stream(
                    f"SELECT k.definition FROM ({names}) o CROSS JOIN json_each(?) j CROSS JOIN definition_keys k "
                    "ON k.key = j.value AND k.document = o.id",
                    (given, wanted),
                )
                ids.update(row[0] for row in rows)
        if not ids:
            return []
        return self._defined("WHERE f.id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(ids)),))

    def in_documents(self, paths: Collection[str]) -> list[DefinedIn]:
        """Return the definitions of some documents, by path and position."""
        where = (
            "WHERE f.document IN "
            "(SELECT d.id FROM json_each(?) j CROSS JOIN documents d ON d.source_path = j.value)"
        )
        return self._defined(where, (_json(paths),))

    def like(self, words: Collection[str], limit: int = MOST_DEFINITIONS) -> list[DefinedIn]:
        """Return definitions of terms that share words, or a word's prefix, with some words; all, if few."""
        if len(self._database.rows("SELECT 1 FROM definitions LIMIT ?", (limit + 1,))) <= limit:
            return self._defined("", ())
        ranges = [
            *((f"{_WORD}{word}", f"{_WORD}{word}\0") for word in words),
            # Words with similar spelling mostly have the same beginning.
            *((f"{_WORD}{word[:2]}", f"{_WORD}{word[:2]}\U0010ffff") for word in words),
        ]
        query = (
            "SELECT definition FROM (SELECT MIN(k.definition) AS definition FROM json_each(:ranges) j CROSS JOIN "
            "definition_keys k ON k.key >= json_extract(j.value, '$[0]') AND k.key < json_extract(j.value, '$[1]') "
            "GROUP BY j.key, k.key LIMIT :limit)"
        )
        return self._defined(f"WHERE f.id IN ({query})", {"ranges": json.dumps(ranges), "limit": limit})

    def _defined(self, where: str, values: Sequence[Any] | dict[str, Any]) -> list[DefinedIn]:
        rows = self._database.rows(f"{_DEFINED}{where}{_ORDER}", values)
        check_documents(self._database, {row["document"] for row in rows}, DEFINITIONS)
        return [DefinedIn(row["source_path"], row["document_title"], definition_of(row)) for row in rows]


def _json(paths: Collection[str]) -> str:
    return json.dumps(sorted(path for path in paths if path))


def definition_of(row: sqlite3.Row) -> Definition:
    """Build a definition from a row that also has its document's path."""
    return Definition(
        source_path=row["source_path"],
        term=row["term"],
        term_normalized=row["term_normalized"],
        definition_text=row["definition_text"],
        source_section=row["source_section"],
        exceptions=tuple(json.loads(row["exceptions"])),
        start=row["start"],
        end=row["end"],
        sure=row["sure"],
    )
