"""Lookups in the record: chunks by id, places by number, title or id, documents by filter."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from loccit.index.folder.database import BATCH, Database, batches, joined
from loccit.index.folder.place_ids import gone_place
from loccit.index.folder.seals import CHUNKS, LINES, PLACES, REFS, TEXT, check_documents
from loccit.index.port.filters import among
from loccit.index.port.names import MOST
from loccit.index.port.records import (
    GonePlace,
    NumberedPlace,
    PlaceStart,
    Standing,
    StoredChunk,
    StoredPlace,
    StoredText,
)
from loccit.model import Lines, Pages, Place, Reference, SelfCheck, chunk_id
from loccit.model.document import IMAGE_PAGES

# What is quoted of a chunk is from these.
_OF_CHUNK = (CHUNKS, PLACES, TEXT)

# Places in more documents than this are not quoted one by one.
_QUOTED = 20
# Places to read if those of many documents are requested.
_LOOKED_AT = 10_000


_CHUNK = (
    'SELECT c.id, c.document, c.chunk_index, c.section, c.content, c.prefix, c.start, c."end" AS "end", c.line_first, '
    "c.line_last, c.page_first, c.page_last, c.tokens, c.chunk_type, c.context, d.source_path, "
    "d.title AS document_title, d.language, s.path AS parent_chain, s.section_id, s.label AS section_label, "
    "s.heading, s.level AS heading_level, s.place_id "
    "FROM chunks c JOIN documents d ON d.id = c.document "
    "JOIN places s ON s.document = c.document AND s.ordinal = c.section "
)
PLACE = (
    'SELECT p.document, d.source_path, d.title, p.ordinal, p.parent, p.section, p.level, p.start, p.body, p."end", '
    "p.line_first, p.line_last, p.heading, p.marker, p.label, p.title, p.kind, p.number_key, p.section_id, p.path, "
    "p.page_first, p.page_last, p.place_id FROM places p JOIN documents d ON d.id = p.document "
)
_PLACE_OF_T = "FROM t CROSS JOIN places p ON p.document = t.in_document AND p.ordinal = t.number"
_REFERENCE = "SELECT r.*, d.source_path AS source_path FROM refs r JOIN documents d ON d.id = r.document "


class Lookup:
    """Read-only queries on the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self._database.rows(query, values)

    def _quoted(
        self, parts: Sequence[str], query: str, values: Sequence[Any] = (), owner: int = 0
    ) -> list[sqlite3.Row]:
        """Run a query for what may be quoted: of documents that are as they were written; their ids are a column."""
        rows = self._database.rows(query, values)
        check_documents(self._database, {row[owner] for row in rows}, *parts)
        return rows

    def _joined(
        self,
        parts: Sequence[str],
        columns: str,
        wanted: Collection[Sequence[Any]],
        query: str,
        owner: int = 0,
    ) -> list[Any]:
        rows = joined(self._database, columns, wanted, query)
        check_documents(self._database, {row[owner] for row in rows}, *parts)
        return rows

    # -- chunks ----------------------------------------------------------------------------------------------

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, without those of deleted documents."""
        found = {}
        for batch in batches(ids):
            marks = ",".join("?" * len(batch))
            for row in self._quoted(_OF_CHUNK, f"{_CHUNK} WHERE c.id IN ({marks})", batch, 1):
                found[int(row[0])] = _chunk(row)
        return found

    def headers(self, ids: Collection[int]) -> set[int]:
        """Return which of these chunks are only a heading."""
        found: set[int] = set()
        for batch in batches(ids):
            marks = ",".join("?" * len(batch))
            query = f"SELECT id FROM chunks WHERE id IN ({marks}) AND chunk_type = 'header'"
            found.update(int(row[0]) for row in self._rows(query, batch))
        return found

    def chunks_of_document(self, document: int) -> list[StoredChunk]:
        """Return all chunks of a document, in order."""
        return [
            _chunk(row)
            for row in self._quoted(
                _OF_CHUNK, f"{_CHUNK} WHERE c.document = ? ORDER BY c.chunk_index", (document,), 1
            )
        ]

    def chunk_ids_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the chunks that begin inside a span of a document's text, in order."""
        rows = self._rows(
            "SELECT id FROM chunks WHERE document = ? AND start >= ? AND start < ? ORDER BY chunk_index",
            (document, start, end),
        )
        return [int(row[0]) for row in rows]

    def chunks_holding(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[int]]:
        """Return the chunks that contain some spans of texts, given as document, start and end, in order."""
        found: dict[tuple[int, int, int], list[int]] = {span: [] for span in spans}
        rows = joined(
            self._database,
            "document, first, last",
            found,
            "SELECT t.document, t.first, t.last, c.id FROM t CROSS JOIN chunks c ON c.document = t.document "
            "AND c.start >= coalesce((SELECT max(start) FROM chunks WHERE document = t.document AND start <= t.first), "
            "t.first) AND c.start < max(t.last, t.first + 1) ORDER BY c.start, c.chunk_index",
        )
        for document, first, last, chunk in rows:
            found[document, first, last].append(chunk)
        return found

    def chunk_indexes_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the numbers of the chunks that overlap a span of a document's text."""
        rows = self._rows(
            'SELECT chunk_index FROM chunks WHERE document = ? AND "end" > ? AND start < ? ORDER BY chunk_index',
            (document, start, end),
        )
        return [int(row[0]) for row in rows]

    # -- places ----------------------------------------------------------------------------------------------

    def numbered(
        self, number_key: str, kinds: Collection[str], documents: Collection[int] | None = None
    ) -> list[NumberedPlace]:
        """Return the places of some kinds with a number: headings, then clauses, both in document order.

        Of very many, some of each, one more than ``MOST``.
        """
        found: list[NumberedPlace] = []
        for heading in (True, False):
            some = self._numbered(number_key, kinds, documents, heading)
            found += sorted(some, key=lambda place: (place.source_path, place.ordinal))
        return found

    def _numbered(
        self, number_key: str, kinds: Collection[str], documents: Collection[int] | None, heading: bool
    ) -> list[NumberedPlace]:
        inner = (
            "SELECT document, ordinal, kind, label FROM places INDEXED BY places_numbered WHERE number_key = ? "
            f"AND number_key != '' AND (section != ordinal) = {int(not heading)} AND kind IN ({_marks(kinds)})"
        )
        within, limit = _within(documents, MOST + 1)
        rows = self._rows(
            "SELECT n.document, n.ordinal, d.source_path, n.kind, n.label "
            f"FROM ({inner}{within} LIMIT {limit}) n JOIN documents d ON d.id = n.document",
            [number_key, *kinds, *(documents if within and documents else ())],
        )
        allowed = among({row[0] for row in rows}, documents)
        found = (NumberedPlace(row[0], row[1], row[2], row[3], row[4], heading) for row in rows)
        return [place for place in found if place.document in allowed][: MOST + 1]

    def is_numbered(self, number_key: str) -> bool:
        """Whether any document has a place with a number."""
        query = "SELECT 1 FROM places WHERE number_key = ? AND number_key != '' LIMIT 1"
        return bool(self._rows(query, (number_key,)))

    def documents_with_number(self, number_key: str, kinds: Collection[str]) -> int:
        """Return how many documents have a place of some kinds with a number, up to ``MOST`` + 1."""
        query = (
            "SELECT COUNT(*) FROM (SELECT DISTINCT document FROM places INDEXED BY places_numbered "
            "WHERE number_key = ? "
            f"AND number_key != '' AND (section != ordinal) IN (0, 1) AND kind IN ({_marks(kinds)}) LIMIT {MOST + 1})"
        )
        return int(self._rows(query, [number_key, *kinds])[0][0])

    def places_at(self, wanted: Sequence[tuple[int, int]]) -> list[StoredPlace]:
        """Return places by document and number, in the order requested, without deleted ones."""
        query = PLACE.replace("FROM places p", _PLACE_OF_T)
        rows = self._joined((PLACES,), "in_document, number", wanted, query)
        found = {(row[0], row[3]): place_of(row) for row in rows}
        return [found[place] for place in wanted if place in found]

    def places_by_title(self, title_key: str, documents: Collection[int] | None = None) -> list[StoredPlace]:
        """Return the headings with exactly this title, ignoring the label."""
        return self._places("title_key = ? AND title_key != ''", (title_key,), documents)

    def places_by_first_words(
        self, title_key: str, documents: Collection[int] | None = None
    ) -> list[StoredPlace]:
        """Return the headings whose title is, or begins with, these words."""
        begins = self._places(
            "title_key >= ? AND title_key < ? AND title_key != ''",
            (f"{title_key} ", f"{title_key}!"),
            documents,
        )
        return [*self.places_by_title(title_key, documents), *begins]

    def places_by_id(self, section_id: str, documents: Collection[int] | None = None) -> list[StoredPlace]:
        """Return the places with this id, at most one per document: headings, then clauses."""
        return self._places("section_id = ?", (section_id,), documents)

    def places_with(self, place_ids: Collection[str]) -> dict[str, StoredPlace]:
        """Return places by their ids in the library, without missing ones."""
        query = PLACE.replace(
            "FROM places p", "FROM t CROSS JOIN places p ON p.place_id = t.wanted AND p.place_id != ''"
        )
        rows = self._joined((PLACES,), "wanted", [(one,) for one in place_ids], query)
        return {row["place_id"]: place_of(row) for row in rows}

    def place_ids(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the ids of places in the library, by the paths of their documents and their ids within these."""
        rows = joined(
            self._database,
            "path, section_id",
            wanted,
            "SELECT t.path, t.section_id, p.place_id FROM t CROSS JOIN documents d ON d.source_path = t.path "
            "CROSS JOIN places p ON p.section_id = t.section_id AND p.document = d.id",
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def gone_place(self, place_id: str) -> GonePlace | None:
        """Return what is remembered of a deleted place."""
        return gone_place(self._database, place_id)

    def places_of_document(self, document: int, *, clauses: bool = True) -> list[Place]:
        """Return the places of a document in text order, outer ones first."""
        where = "p.document = ?" if clauses else "p.document = ? AND p.section = p.ordinal"
        rows = self._quoted((PLACES,), f"{PLACE} WHERE {where} ORDER BY p.start, p.ordinal", (document,))
        return [place_of(row).place for row in rows]

    def place(self, document: int, ordinal: int) -> StoredPlace | None:
        """Return one place of a document."""
        rows = self._quoted((PLACES,), f"{PLACE} WHERE p.document = ? AND p.ordinal = ?", (document, ordinal))
        return place_of(rows[0]) if rows else None

    def _places(
        self, where: str, values: Sequence[str], documents: Collection[int] | None
    ) -> list[StoredPlace]:
        within, limit = _within(documents, 2 * MOST)
        rows = self._rows(
            f"{PLACE} WHERE (p.document, p.ordinal) IN (SELECT document, ordinal FROM places WHERE {where}{within} "
            f"LIMIT {limit}) ORDER BY d.source_path, p.ordinal",
            [*values, *(documents if within and documents else ())],
        )
        headings: list[sqlite3.Row] = []
        clauses: list[sqlite3.Row] = []
        allowed = among({row["document"] for row in rows}, documents)
        for row in rows:
            if row["document"] in allowed:
                (headings if row["section"] == row["ordinal"] else clauses).append(row)
        found = [*headings[:MOST], *clauses[:MOST]]
        documents_found = {row["document"] for row in found}
        if len(documents_found) <= _QUOTED:
            check_documents(self._database, documents_found, PLACES)
        return [place_of(row) for row in found]

    def documents_with_kind(self, kind: str, documents: Collection[int]) -> set[int]:
        """Return which of these documents have more than two places of a kind, and so are numbered by it."""
        found: set[int] = set()
        for batch in batches(documents):
            marks = ",".join("?" * len(batch))
            query = (
                f"SELECT document FROM places WHERE kind = ? AND document IN ({marks}) "
                "GROUP BY document HAVING count(*) > 2"
            )
            found.update(row[0] for row in self._rows(query, (kind, *batch)))
        return found

    def similar_titles(self, words: Sequence[str], limit: int) -> list[StoredPlace]:
        """Return headings whose title contains all the words, for suggestions; not all are considered."""
        if not words:
            return []
        where = " AND ".join(["title_key LIKE ? ESCAPE '\\'"] * len(words))
        patterns = [
            "%" + word.replace("\\", "").replace("%", r"\%").replace("_", r"\_") + "%" for word in words
        ]
        some = (
            f"SELECT document, ordinal, title_key FROM places WHERE section = ordinal LIMIT {2 * _LOOKED_AT}"
        )
        rows = self._rows(
            f"{PLACE} WHERE (p.document, p.ordinal) IN (SELECT document, ordinal FROM ({some}) WHERE {where} LIMIT ?)",
            (*patterns, limit),
        )
        return [place_of(row) for row in rows]

    def chunk_at(self, document: int, offset: int) -> tuple[int, int] | None:
        """Return id and number of the chunk at an offset of a document's text."""
        rows = self._rows(
            "SELECT id, chunk_index FROM chunks WHERE document = ? AND start <= ? ORDER BY start DESC LIMIT 1",
            (document, offset),
        )
        return (int(rows[0][0]), int(rows[0][1])) if rows else None

    def starts_by_number(
        self, wanted: Collection[tuple[int, str]]
    ) -> dict[tuple[int, str], list[PlaceStart]]:
        """Return where the places of some documents with some numbers begin, by document and number."""
        found: dict[tuple[int, str], list[PlaceStart]] = {}
        rows = joined(
            self._database,
            "document, number_key",
            wanted,
            "SELECT t.number_key, p.document, p.kind, p.section_id, p.start FROM t CROSS JOIN places p "
            "ON p.number_key = t.number_key AND p.number_key != '' AND p.document = t.document ORDER BY p.ordinal",
        )
        for row in rows:
            found.setdefault((row[1], row[0]), []).append(PlaceStart(*row[1:]))
        return found

    def heading_names(self, document: int) -> list[tuple[str, str, str]]:
        """Return id, heading and title of the headings of a document, in order."""
        rows = self._rows(
            "SELECT section_id, heading, title FROM places WHERE document = ? AND ordinal > 0 AND section = ordinal "
            "ORDER BY ordinal",
            (document,),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def standing(self, offsets: Collection[tuple[int, int]]) -> dict[tuple[int, int], Standing]:
        """Return the innermost places at some offsets of documents."""
        rows = self._joined(
            (PLACES,),
            "document, offset",
            offsets,
            "SELECT t.document, t.offset, p.section_id, p.label, h.heading, CASE p.label WHEN '' THEN p.heading "
            "ELSE p.label END, p.start, p.line_first, p.place_id FROM t "
            "CROSS JOIN places p ON p.document = t.document AND p.ordinal = (SELECT ordinal FROM places "
            'WHERE document = t.document AND start <= t.offset AND (section = ordinal OR "end" > t.offset) '
            "ORDER BY start DESC, ordinal DESC LIMIT 1) "
            "CROSS JOIN places h ON h.document = p.document AND h.ordinal = p.section",
        )
        return {(row[0], row[1]): Standing(*row[2:]) for row in rows}

    # -- references ------------------------------------------------------------------------------------------

    def references_between(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[Reference]]:
        """Return the references in some spans of texts, given as document, start and end, in order."""
        found: dict[tuple[int, int, int], list[Reference]] = {span: [] for span in spans}
        rows = self._joined(
            (REFS,),
            "in_document, first, last",
            found,
            "SELECT r.document, t.first, t.last, r.*, d.source_path AS source_path FROM t CROSS JOIN refs r "
            "ON r.document = t.in_document AND r.start >= t.first AND r.start < t.last "
            "JOIN documents d ON d.id = r.document ORDER BY r.start",
        )
        for row in rows:
            found[row["document"], row["first"], row["last"]].append(reference_of(row))
        return found

    def references_to(self, document: int, section_ids: Sequence[str]) -> list[Reference]:
        """Return the references of a document to some of its own sections, in order."""
        found = []
        for batch in batches(section_ids):
            marks = ",".join("?" * len(batch))
            rows = self._quoted(
                (REFS,),
                f"{_REFERENCE} WHERE r.document = ? AND r.target_section IN ({marks}) ORDER BY r.start",
                [document, *batch],
            )
            found += [reference_of(row) for row in rows]
        return found

    def references_out(self, document: int) -> list[Reference]:
        """Return what a document refers to outside itself, each wording once and without its position."""
        return [reference for _, reference, _ in self.references_outward([document])]

    def references_outward(self, documents: Collection[int]) -> list[tuple[int, Reference, list[int]]]:
        """Return what documents refer to outside themselves, each wording once, with its positions."""
        rows = self._joined(
            (REFS,),
            "document",
            [(document,) for document in documents],
            "SELECT r.document, r.kind, r.number_kind, r.number_key, r.target, json_group_array(r.start) FROM t "
            "CROSS JOIN refs r "
            "ON r.document = t.document AND r.target_section = '' GROUP BY 1, 2, 3, 4, 5",
        )
        return [
            (row[0], Reference("", 0, 0, row[1], "", row[2], row[3], row[4]), json.loads(row[5]))
            for row in rows
        ]

    # -- documents -------------------------------------------------------------------------------------------

    def documents(self) -> list[sqlite3.Row]:
        """Return all documents without their text."""
        return self._rows(
            "SELECT id, source_path, title, file_type, language, doc_summary, metadata, pages, warnings, mtime_ns, "
            "size, total_chunks, ingested_at FROM documents ORDER BY source_path"
        )

    def self_checks(self, documents: Collection[int] | None = None) -> dict[int, SelfCheck]:
        """Return how far each document confirms its own places, if it says anything about them."""
        if documents is None:
            rows = self._rows("SELECT * FROM self_checks")
        else:
            rows = []
            for batch in batches(documents):
                marks = ",".join("?" * len(batch))
                rows += self._rows(f"SELECT * FROM self_checks WHERE document IN ({marks})", batch)
        return {row[0]: SelfCheck(*tuple(row)[1:]) for row in rows}

    def passages(self, chunks: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """Return the spans of chunks' passages in their content, in order."""
        found: dict[int, list[tuple[int, int]]] = {}
        for batch in batches(chunks):
            marks = ",".join("?" * len(batch))
            query = f'SELECT chunk, start, "end" FROM passages WHERE chunk IN ({marks}) ORDER BY id'
            for row in self._rows(query, batch):
                found.setdefault(row[0], []).append((row[1], row[2]))
        return found

    def page_starts(self, document: int) -> list[tuple[int, int]]:
        """Return where the pages of a document's text begin, with their numbers."""
        rows = self._quoted((TEXT,), "SELECT id, pages FROM documents WHERE id = ?", (document,))
        return [(start, page) for start, page in json.loads(rows[0][1])] if rows else []

    def line_starts(self, document: int) -> list[tuple[int, int]]:
        """Return where the numbering of lines in a document's text restarts, with the numbers."""
        check_documents(self._database, [document], LINES)
        rows = self._rows("SELECT starts FROM source_lines WHERE document = ?", (document,))
        return [(start, line) for start, line in json.loads(rows[0][0])] if rows else []

    def document_text(self, document: int, start: int, end: int) -> str:
        """Return a part of a document's text."""
        check_documents(self._database, [document], TEXT)
        rows = self._rows(
            "SELECT substr(text, ?, ?) FROM documents WHERE id = ?", (start + 1, end - start, document)
        )
        return str(rows[0][0]) if rows else ""

    def texts(self, documents: Collection[int]) -> list[StoredText]:
        """Return some documents with their texts."""
        query = f"SELECT id, source_path, title, body_start, text FROM documents WHERE id IN ({_marks(documents)})"
        return [StoredText(*row) for row in self._quoted((TEXT,), query, list(documents))]

    def every_text(self, documents: Collection[int]) -> Iterator[StoredText]:
        """Read documents one after another."""
        for document in documents:
            yield from self.texts([document])

    def metadata(self, document: int) -> dict[str, Any]:
        """Return a document's frontmatter and properties."""
        check_documents(self._database, [document], TEXT)
        rows = self._rows("SELECT metadata FROM documents WHERE id = ?", (document,))
        return dict(json.loads(rows[0][0])) if rows else {}

    def image_pages(self, documents: Collection[str]) -> dict[str, str]:
        """Return the pages that were read from images, by document path."""
        return self.noted(documents, IMAGE_PAGES)

    def noted(self, documents: Collection[str], name: str) -> dict[str, str]:
        """Return what documents have in their metadata under a name, by path."""
        found: dict[str, str] = {}
        for batch in batches(documents):
            marks = ",".join("?" * len(batch))
            rows = self._rows(
                f"SELECT source_path, metadata FROM documents WHERE source_path IN ({marks}) AND metadata LIKE ?",
                [*batch, f'%"{name}"%'],
            )
            found.update((row[0], str(json.loads(row[1]).get(name, ""))) for row in rows)
        return found

    def documents_of(self, chunks: Collection[int]) -> dict[int, int]:
        """Return the documents of chunks, by chunk."""
        found: dict[int, int] = {}
        for batch in batches(chunks):
            marks = ",".join("?" * len(batch))
            rows = self._rows(f"SELECT id, document FROM chunks WHERE id IN ({marks})", batch)
            found.update((int(row[0]), int(row[1])) for row in rows)
        return found

    def paths(self, documents: Collection[int]) -> dict[int, str]:
        """Return the paths of some documents."""
        found: dict[int, str] = {}
        for batch in batches(documents):
            marks = ",".join("?" * len(batch))
            rows = self._rows(f"SELECT id, source_path FROM documents WHERE id IN ({marks})", batch)
            found.update((int(row[0]), str(row[1])) for row in rows)
        return found

    # -- counters, kept by the record with every change ------------------------------------------------------

    def languages(self) -> dict[str, int]:
        """Return the number of documents in each language, most frequent first."""
        return self._counted("language")

    def file_types(self) -> dict[str, int]:
        """Return the number of documents of each type, most frequent first."""
        return self._counted("type")

    def _counted(self, kind: str) -> dict[str, int]:
        rows = self._rows("SELECT name, count FROM counters WHERE kind = ? ORDER BY 2 DESC, 1", (kind,))
        return {row[0]: row[1] for row in rows}

    def count(self, kind: str) -> int:
        """Return the number of ``documents``, ``chunks``, ``passages``, or ``scanned`` documents."""
        return self._database.stored_count(kind)


def _marks(values: Collection[object]) -> str:
    """Return what stands in ``IN (…)``: for nothing NULL, since SQLite uses no index for an empty list."""
    return ",".join("?" * len(values)) or "NULL"


def _within(documents: Collection[int] | None, most: int) -> tuple[str, int]:
    """Return the condition for a few documents, and the row limit, which is low if all documents match."""
    if documents is None:
        return "", most
    return (f" AND document IN ({_marks(documents)})", -1) if len(documents) <= BATCH else ("", _LOOKED_AT)


def _pages(first: int | None, last: int | None) -> Pages | None:
    return None if first is None or last is None else Pages(first, last)


def _chunk(row: sqlite3.Row) -> StoredChunk:
    """Build a chunk from a row of ``_CHUNK``, whose columns are in the order of the fields."""
    lines, pages, chain = Lines(row[8], row[9]), _pages(row[10], row[11]), tuple(json.loads(row[18]))
    values: tuple[Any, ...] = (*row[:8], lines, pages, *row[12:18], chain, *row[19:])
    return StoredChunk(*values)


def place_of(row: sqlite3.Row) -> StoredPlace:
    """Build a place from a row of ``PLACE``, whose columns are in the order of the fields."""
    lines, pages = Lines(row[10], row[11]), _pages(row[20], row[21])
    number = tuple(row[17].split("_")) if row[17] else ()
    values: tuple[Any, ...] = (
        *row[3:10],
        lines,
        *row[12:17],
        number,
        row[18],
        tuple(json.loads(row[19])),
        pages,
        row[22],
    )
    return StoredPlace(row[0], row[1], row[2], Place(*values))


def reference_of(row: sqlite3.Row) -> Reference:
    """Build a reference from a row that also has its document's path."""
    return Reference(
        text=row["text"],
        start=row["start"],
        end=row["end"],
        kind=row["kind"],
        target_section=row["target_section"],
        number_kind=row["number_kind"],
        number_key=row["number_key"],
        document=row["target"],
        reason=row["reason"],
        target_path=row["source_path"] if row["target_section"] else "",
        target_chunk=chunk_id(row["source_path"], row["target_chunk"])
        if row["target_chunk"] is not None
        else "",
        sure=row["sure"],
    )
