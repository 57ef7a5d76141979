"""Links and references between documents in the record, looked up by key for ``port.links``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from loccit.model import Reference
from loccit.port.edges import Holder, LinkRow
from loccit.port.names import MOST, Entry
from loccit.stores.embedded.database import Database, joined
from loccit.stores.embedded.lookup import reference_of
from loccit.stores.embedded.seals import REFS, check_documents

_LEADS = "FROM leads WHERE key = ? AND source = ?"


class EmbeddedLinks:
    """Possible connections from one document to another."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def references(self, bounds: Collection[tuple[str, str, str]]) -> list[tuple[Entry, Reference]]:
        """Return all references that may lead to a document, in document and text order."""
        places = joined(
            self._database,
            "key, low, high",
            bounds,
            "SELECT DISTINCT l.document, l.start FROM t CROSS JOIN leads l ON l.key = t.key "
            "AND l.source = 'reference' AND l.number >= t.low AND l.number <= t.high",
        )
        rows = joined(
            self._database,
            "document, start",
            sorted({(row[0], row[1]) for row in places}),
            "SELECT r.*, d.source_path AS source_path, d.title AS document_title FROM t CROSS JOIN refs r "
            "ON r.document = t.document AND r.start = t.start JOIN documents d ON d.id = r.document "
            "WHERE r.target_section = ''",
        )
        check_documents(self._database, {row["document"] for row in rows}, REFS)
        found = [
            (Entry(row["document"], row["source_path"], row["document_title"]), reference_of(row))
            for row in rows
        ]
        return sorted(found, key=lambda item: (item[0].id, item[1].start))

    def links(self, keys: Collection[str]) -> list[LinkRow]:
        """Return the links with these keys, in document and text order."""
        return sorted(set(self._led("link", keys)), key=lambda row: (row.document, row.start))

    def _led(self, source: str, keys: Collection[str]) -> list[LinkRow]:
        exists = f"SELECT t.key FROM t WHERE EXISTS (SELECT 1 FROM leads WHERE key = t.key AND source = '{source}')"
        found: list[LinkRow] = []
        for (key,) in joined(self._database, "key", [(key,) for key in keys], exists):
            query = f"SELECT document, kind, target, start {_LEADS} LIMIT {MOST}"
            found += [LinkRow(*row) for row in self._database.rows(query, (key, source))]
        return found

    def count(self, keys: Mapping[int, Collection[str]]) -> dict[int, int]:
        """Return how many links of others may lead to some documents, given with their keys."""
        found = dict.fromkeys(keys, 0)
        rows = joined(
            self._database,
            "document, key",
            [(document, key) for document, own in keys.items() for key in own],
            "SELECT t.document, (SELECT count(*) FROM (SELECT 1 FROM leads WHERE key = t.key AND source = 'link' "
            f"AND document != t.document LIMIT {MOST})) FROM t WHERE t.key IS NOT NULL",
        )
        for document, count in rows:
            found[document] += count
        return found

    def related(self, keys: Collection[str], documents: Collection[int]) -> list[tuple[int, str]]:
        """Return what is named as related with one of these keys, or by these documents."""
        named = [(row.document, row.target) for row in self._led("related", keys)]
        own = joined(
            self._database,
            "document",
            [(document,) for document in documents],
            "SELECT l.document, l.target FROM t CROSS JOIN leads l ON l.document = t.document AND l.source = 'related' "
            "GROUP BY l.document, l.target ORDER BY min(l.rowid)",
        )
        return [*named, *((row[0], row[1]) for row in own)]

    def links_inside(self, holders: Collection[Holder]) -> list[tuple[int, LinkRow]]:
        """Return the links in some chunks, each with its chunk."""
        rows = joined(
            self._database,
            "chunk, document, first, last",
            [(holder.id, holder.document, holder.start, holder.end) for holder in holders],
            "SELECT DISTINCT t.chunk, l.document, l.kind, l.target, l.start FROM t CROSS JOIN leads l "
            "ON l.document = t.document AND l.source = 'link' AND l.start >= t.first AND l.start < t.last "
            "ORDER BY l.start",
        )
        return [(row[0], LinkRow(*row[1:])) for row in rows]
