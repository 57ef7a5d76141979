"""Lookups for the graph: edges between chunks, and links and references between documents, by key.

Each query begins with a table of values, so that ten chunks cost one query and not ten.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from loccit.index.folder.database import Database, joined
from loccit.index.folder.lookup import reference_of
from loccit.index.folder.seals import REFS, check_documents
from loccit.index.port.edges import MENTIONS, Backward, Holder, LinkRow, Mention, Outward, SectionOf
from loccit.index.port.names import MOST, Entry
from loccit.model import Reference

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


class GraphLookup:
    """Read-only queries about edges."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._database.rows(query, values)

    def _join(self, columns: str, rows: Collection[Sequence[Any]], query: str) -> list[Any]:
        return joined(self._database, columns, rows, query)

    # -- chunks ----------------------------------------------------------------------------------------------

    def holders(self, chunks: Collection[int]) -> dict[int, Holder]:
        """Return the positions of chunks, without deleted ones."""
        rows = self._join(
            "chunk",
            [(chunk,) for chunk in chunks],
            'SELECT c.id, c.document, c.section, c.start, c."end" FROM t CROSS JOIN chunks c ON c.id = t.chunk',
        )
        return {row[0]: Holder(*row) for row in rows}

    def sections(self, holders: Collection[Holder]) -> dict[int, SectionOf]:
        """Return the sections of some chunks, by chunk."""
        rows = self._join(
            "chunk, document, section",
            [(holder.id, holder.document, holder.section) for holder in holders],
            'SELECT t.chunk, s.start, s."end", s.number_key, s.section_id, c.clauses FROM t '
            "CROSS JOIN places s ON s.document = t.document AND s.ordinal = t.section "
            "CROSS JOIN chunks c ON c.id = t.chunk",
        )
        return {
            row[0]: SectionOf(row[1], row[2], row[3], tuple(filter(None, (row[4], *json.loads(row[5])))))
            for row in rows
        }

    def first_texts(self, spans: Collection[tuple[int, int, int]]) -> dict[tuple[int, int, int], Holder]:
        """Return the first chunk in each span of a document that is more than a heading, by span."""
        rows = self._join(
            "document, first, last",
            spans,
            ", found AS (SELECT t.*, (SELECT id FROM chunks WHERE document = t.document AND start < t.last "
            "AND start >= coalesce((SELECT max(start) FROM chunks WHERE document = t.document AND start <= t.first), "
            "t.first) AND chunk_type != 'header' ORDER BY start LIMIT 1) AS chunk FROM t) "
            'SELECT f.document, f.first, f.last, c.id, c.document, c.section, c.start, c."end" '
            "FROM found f CROSS JOIN chunks c ON c.id = f.chunk",
        )
        return {(row[0], row[1], row[2]): Holder(*row[3:]) for row in rows}

    # -- references ------------------------------------------------------------------------------------------

    def mentions_inside(self, holders: Collection[Holder]) -> list[Mention]:
        """Return what chunks refer to in their own documents, without references to their own section."""
        rows = self._join(
            "chunk, document, first, last",
            [(holder.id, holder.document, holder.start, holder.end) for holder in holders],
            'SELECT DISTINCT t.chunk, r.kind, coalesce(s.start, k.start), coalesce(s."end", k."end"), '
            "(SELECT count(*) FROM (SELECT 1 FROM refs WHERE document = r.document "
            f"AND target_section = r.target_section AND kind != 'relative' LIMIT {MENTIONS})) "
            "FROM t CROSS JOIN refs r ON r.document = t.document AND r.start >= t.first AND r.start < t.last "
            "CROSS JOIN chunks k ON k.document = r.document AND k.chunk_index = r.target_chunk "
            f"LEFT JOIN places s ON s.section_id = r.target_section AND s.document = r.document AND {_IS_HEADING} "
            "WHERE r.target_chunk IS NOT NULL "
            'AND NOT (coalesce(s.start, k.start) <= t.first AND coalesce(s."end", k."end") > t.first)',
        )
        return [Mention(*row) for row in rows]

    def mentions_of(self, holders: Collection[Holder], sections: dict[int, SectionOf]) -> list[Backward]:
        """Return the places in the same documents that refer to chunks, from outside their sections."""
        named = [
            (holder.id, holder.document, name, sections[holder.id].start, sections[holder.id].end)
            for holder in holders
            for name in sections[holder.id].ids
        ]
        columns = "chunk, document, name, first, last"
        counts = self._join(
            columns,
            named,
            "SELECT t.*, (SELECT count(*) FROM (SELECT 1 FROM refs r WHERE "
            f"{_MENTIONED} LIMIT {MENTIONS})) FROM t",
        )
        rows = self._join(
            f"{columns}, mentions",
            [tuple(row) for row in counts if 0 < row[-1] < MENTIONS],
            f"SELECT t.chunk, r.kind, r.document, r.start, t.mentions FROM t CROSS JOIN refs r ON {_MENTIONED}",
        )
        return [Backward(*row) for row in rows]

    def references_out(self, holders: Collection[Holder]) -> list[tuple[int, int, int, Outward]]:
        """Return the references of chunks that may lead to another document.

        Each comes as chunk, its document, how often the number is mentioned anywhere, and reference.
        """
        rows = self._join(
            "chunk, document, first, last",
            [(holder.id, holder.document, holder.start, holder.end) for holder in holders],
            "SELECT DISTINCT t.chunk, r.document, CASE r.number_key WHEN '' THEN 1 ELSE (SELECT count(*) FROM "
            f"(SELECT 1 FROM refs WHERE number_key = r.number_key LIMIT {MENTIONS})) END, {_OUTWARD} "
            "FROM t CROSS JOIN refs r ON r.document = t.document AND r.start >= t.first AND r.start < t.last "
            "WHERE r.target_section = '' AND r.kind IN ('number', 'named', 'document')",
        )
        return [(row[0], row[1], row[2], Outward(*row[3:])) for row in rows]

    def references_in(
        self, holders: Collection[Holder], sections: dict[int, SectionOf]
    ) -> list[tuple[Backward, Outward]]:
        """Return references in other documents to the numbers of some sections, or to numbers below them.

        They may mean a third document that has the same number.
        """
        # Numbers are joined by `_`: those below 4 are between `4_` and the character after it, a backtick.
        numbered = [(one, sections[one.id].number_key) for one in holders if sections[one.id].number_key]
        bounds = {(key, key) for _, key in numbered} | {(f"{key}_", f"{key}`") for _, key in numbered}
        counts = self._join(
            "low, high",
            bounds,
            f"SELECT t.low, t.high, (SELECT count(*) FROM (SELECT 1 FROM refs r WHERE {_NUMBERED} LIMIT {MENTIONS})) "
            "FROM t",
        )
        few = {(row[0], row[1]): row[2] for row in counts if 0 < row[2] < MENTIONS}
        rows = self._join(
            "chunk, document, mentions, low, high",
            [
                (holder.id, holder.document, few[bound], *bound)
                for holder, key in numbered
                for bound in ((key, key), (f"{key}_", f"{key}`"))
                if bound in few
            ],
            f"SELECT t.chunk, r.kind, r.document, r.start, t.mentions, {_OUTWARD} FROM t CROSS JOIN refs r "
            f"ON {_NUMBERED} WHERE r.document != t.document AND r.target_section = ''",
        )
        return [(Backward(*row[:5]), Outward(*row[5:])) for row in rows]

    def spans(self, places: Collection[tuple[int, int, str]]) -> dict[tuple[int, int, str], tuple[int, int]]:
        """Return the spans of section ids, given with document and chunk; of a clause, that of the chunk."""
        rows = self._join(
            "document, number, name",
            places,
            'SELECT t.document, t.number, t.name, coalesce(s.start, k.start), coalesce(s."end", k."end") '
            "FROM t CROSS JOIN chunks k ON k.document = t.document AND k.chunk_index = t.number "
            f"LEFT JOIN places s ON s.section_id = t.name AND s.document = t.document AND {_IS_HEADING}",
        )
        return {(row[0], row[1], row[2]): (row[3], row[4]) for row in rows}

    def fan_out(self, holders: Collection[Holder]) -> dict[int, int]:
        """Return the number of places that each chunk refers or links to."""
        rows = self._join(
            "chunk, document, first, last",
            [(holder.id, holder.document, holder.start, holder.end) for holder in holders],
            "SELECT t.chunk, (SELECT count(DISTINCT target_section || ' ' || number_key || ' ' || target) FROM refs r "
            "WHERE r.document = t.document AND r.start >= t.first AND r.start < t.last AND r.kind != 'relative') "
            "FROM t",
        )
        return {row[0]: row[1] for row in rows}

    # -- links between documents -----------------------------------------------------------------------------

    def headings(self, names: Collection[tuple[int, str]]) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the spans of the first sections with some titles, by document and title key."""
        rows = self._join(
            "document, name",
            names,
            'SELECT t.document, t.name, s.start, s."end" FROM t CROSS JOIN places s ON s.title_key = t.name '
            "AND s.title_key != '' AND s.document = t.document ORDER BY s.start DESC",
        )
        return {(row[0], row[1]): (row[2], row[3]) for row in rows}

    def marked(self, ids: Collection[tuple[int, str]]) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the spans of the sections with some ids, `{#id}` or `id="id"`, by document and id."""
        rows = self._join(
            "document, id",
            ids,
            f", found AS (SELECT t.document, t.id, {_MARK} - 1 AS offset FROM t CROSS JOIN documents d "
            "ON d.id = t.document) "
            'SELECT f.document, f.id, s.start, s."end" FROM found f CROSS JOIN places s ON s.document = f.document '
            "AND s.ordinal = (SELECT max(section) FROM places WHERE document = f.document AND start <= f.offset)",
        )
        return {(row[0], row[1]): (row[2], row[3]) for row in rows}


_IS_HEADING = "s.section = s.ordinal"
_MARK = (
    "coalesce(nullif(instr(d.text, '{#' || t.id || '}'), 0), nullif(instr(d.text, 'id=\"' || t.id || '\"'), 0), "
    "nullif(instr(d.text, 'name=\"' || t.id || '\"'), 0))"
)
# The plus keeps SQLite from searching by position, of which there are many, instead of by name.
_MENTIONED = "r.document = t.document AND r.target_section = t.name AND NOT (+r.start >= t.first AND +r.start < t.last)"
_NUMBERED = "r.number_key >= t.low AND r.number_key <= t.high"
_OUTWARD = "r.kind, r.number_kind, r.number_key, r.target"
