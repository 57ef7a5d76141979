"""Navigate: documents, outlines and sections, asked for by name."""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import PurePath

from pinakes.errors import NotFoundError
from pinakes.model import DocumentInfo, Outline, OutlineNode, Section, SelfCheck
from pinakes.search.filters import allowed_documents
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.lookup import StoredClause, StoredSection
from pinakes.text.keys import title_key


def list_documents(index: EmbeddedIndex, filters: Mapping[str, object] | None) -> list[DocumentInfo]:
    """Return the documents that pass the filters, by path."""
    rows = index.lookup.documents()
    allowed = allowed_documents(rows, filters, code=index.keyword.documents_with_code) if filters else None
    checks = index.lookup.self_checks()
    return [
        _info(row, checks.get(row["id"], SelfCheck()))
        for row in rows
        if allowed is None or row["id"] in allowed
    ]


def _info(row: sqlite3.Row, check: SelfCheck) -> DocumentInfo:
    pages = json.loads(row["pages"])
    modified = datetime.fromtimestamp(row["mtime_ns"] / 1e9, tz=timezone.utc)
    return DocumentInfo(
        source_path=row["source_path"],
        title=row["title"],
        file_type=row["file_type"],
        language=row["language"],
        doc_summary=row["doc_summary"],
        total_chunks=row["total_chunks"],
        pages=pages[-1][1] if pages else 0,
        size=row["size"],
        modified=modified.isoformat(timespec="seconds"),
        ingested_at=row["ingested_at"],
        metadata=json.loads(row["metadata"]),
        warnings=json.loads(row["warnings"]),
        self_check=check,
    )


def find_documents(index: EmbeddedIndex, name: str) -> list[sqlite3.Row]:
    """Return the documents that a path, the end of a path, a file name or a title means."""
    rows = index.lookup.documents()
    parts = PurePath(name).parts
    key = title_key(name)
    tests = (
        lambda row: row["source_path"] == name,
        lambda row: bool(parts) and PurePath(row["source_path"]).parts[-len(parts) :] == parts,
        lambda row: PurePath(row["source_path"]).stem.casefold() == name.casefold(),
        lambda row: bool(key) and title_key(row["title"]) == key,
        lambda row: bool(key) and key in title_key(row["title"]),
    )
    for test in tests:
        found = [row for row in rows if test(row)]
        if found:
            return found
    names = [PurePath(row["source_path"]).name for row in rows] + [row["title"] for row in rows]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f" Did you mean: {', '.join(dict.fromkeys(near))}?" if near else ""
    raise NotFoundError(f"There is no document {name!r} in the library.{hint}")


def outlines(index: EmbeddedIndex, document: str | None, *, clauses: bool) -> list[Outline]:
    """Return the heading trees of the documents that ``document`` means, or of all."""
    rows = index.lookup.documents() if document is None else find_documents(index, document)
    checks = index.lookup.self_checks([row["id"] for row in rows])
    return [
        Outline(
            row["source_path"],
            row["title"],
            _whole_tree(index, row["id"], clauses),
            checks.get(row["id"], SelfCheck()),
        )
        for row in rows
    ]


def _whole_tree(index: EmbeddedIndex, document: int, clauses: bool) -> list[OutlineNode]:
    sections = index.lookup.sections_of_document(document)
    below: dict[int, list[OutlineNode]] = {}
    if clauses:
        by_section: dict[int, list[StoredClause]] = {}
        for stored in index.lookup.clauses_of_document(document):
            by_section.setdefault(stored.clause.section, []).append(stored)
        levels = {stored.section.ordinal: stored.section.level for stored in sections}
        below = {
            ordinal: clause_tree(found, None, levels.get(ordinal, 0)) for ordinal, found in by_section.items()
        }
    return [*below.get(0, []), *section_tree(sections, 0, below)]


def _node(section: Section) -> OutlineNode:
    return OutlineNode(
        section.heading, section.label, section.section_id, section.level, section.lines, section.pages
    )


def section_tree(
    sections: list[StoredSection], root: int, clauses: Mapping[int, list[OutlineNode]] | None = None
) -> list[OutlineNode]:
    """Return the nodes below one section, each with its clauses before its sub-sections."""
    nodes: dict[int, OutlineNode] = {}
    top: list[OutlineNode] = []
    for stored in sections:
        section = stored.section
        if section.ordinal <= root:
            continue
        node = nodes[section.ordinal] = _node(section)
        if clauses:
            node.children += clauses.get(section.ordinal, [])
        if section.parent == root:
            top.append(node)
        elif section.parent in nodes:
            nodes[section.parent].children.append(node)
    return top


def clause_tree(clauses: Sequence[StoredClause], root: int | None, level: int) -> list[OutlineNode]:
    """Return the nodes below a section's heading, or below one clause."""
    nodes: dict[int, OutlineNode] = {}
    top: list[OutlineNode] = []
    for stored in clauses:
        clause = stored.clause
        node = nodes[clause.ordinal] = OutlineNode(
            clause.marker, clause.label, clause.section_id, level + clause.depth, clause.lines, clause.pages
        )
        if clause.parent in nodes and clause.parent is not None:
            nodes[clause.parent].children.append(node)
        elif clause.parent == root or root is None:
            top.append(node)
    return top
