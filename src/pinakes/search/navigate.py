"""Navigate: documents, outlines and sections, asked for by name."""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import PurePath

from pinakes.errors import NotFoundError
from pinakes.model import DocumentInfo, Outline, OutlineNode, Section, SectionView, chunk_id
from pinakes.search.exact import ExactSearch
from pinakes.search.filters import allowed_documents
from pinakes.search.understand import understand
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.lookup import StoredSection
from pinakes.text.keys import title_key

_MAX_ALTERNATIVES = 20


def list_documents(index: EmbeddedIndex, filters: Mapping[str, object] | None) -> list[DocumentInfo]:
    """Return the documents that pass the filters, by path."""
    rows = index.lookup.documents()
    allowed = allowed_documents(rows, filters) if filters else None
    return [_info(row) for row in rows if allowed is None or row["id"] in allowed]


def _info(row: sqlite3.Row) -> DocumentInfo:
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


def outlines(index: EmbeddedIndex, document: str | None) -> list[Outline]:
    """Return the heading trees of the documents that ``document`` means, or of all."""
    rows = index.lookup.documents() if document is None else find_documents(index, document)
    return [
        Outline(row["source_path"], row["title"], _tree(index.lookup.sections_of_document(row["id"]), 0))
        for row in rows
    ]


def _node(section: Section) -> OutlineNode:
    return OutlineNode(
        section.heading, section.label, section.section_id, section.level, section.lines, section.pages
    )


def _tree(sections: list[StoredSection], root: int) -> list[OutlineNode]:
    """Return the nodes below one section."""
    nodes: dict[int, OutlineNode] = {}
    top: list[OutlineNode] = []
    for stored in sections:
        section = stored.section
        if section.ordinal <= root:
            continue
        node = nodes[section.ordinal] = _node(section)
        if section.parent == root:
            top.append(node)
        elif section.parent in nodes:
            nodes[section.parent].children.append(node)
    return top


def find_section(index: EmbeddedIndex, reference: str, document: str | None) -> SectionView:
    """Return the section that a reference, an id or a heading names."""
    query = understand(reference)
    documents = {int(row["id"]) for row in find_documents(index, document)} if document else None
    exact = ExactSearch(index.lookup, index.keyword)
    resolved = exact.resolve_all(query, documents)
    found = [item.found for item in resolved]
    whole = not resolved or not resolved[0].rest
    if not found:
        found = index.lookup.sections_by_id(reference.strip(), documents)
    if not found:
        found = index.lookup.sections_by_title(query.title_key, documents)
    if not found:
        raise _unknown_section(index, reference, query.title_key)
    return _view(index, found[0], exact=whole, alternatives=found[1:])


def _view(
    index: EmbeddedIndex, found: StoredSection, *, exact: bool, alternatives: list[StoredSection]
) -> SectionView:
    section = found.section
    below = [
        stored
        for stored in index.lookup.sections_of_document(found.document)
        if section.start <= stored.section.start < section.end or stored.section.ordinal == section.ordinal
    ]
    chunks = index.lookup.chunk_indexes_between(found.document, section.start, section.end)
    return SectionView(
        source_path=found.source_path,
        document_title=found.document_title,
        section_id=section.section_id,
        section_label=section.label,
        heading=section.heading,
        heading_level=section.level,
        parent_chain=list(section.path),
        text=index.lookup.document_text(found.document, section.start, section.end).strip(),
        lines=section.lines,
        pages=section.pages,
        children=_tree(below, section.ordinal),
        chunk_ids=[chunk_id(found.source_path, number) for number in chunks],
        exact=exact,
        alternatives=[f"{x.source_path}#{x.section.section_id}" for x in alternatives[:_MAX_ALTERNATIVES]],
    )


def _unknown_section(index: EmbeddedIndex, reference: str, key: str) -> NotFoundError:
    near = index.lookup.similar_titles(key.split()[:6], 3)
    hint = f" Did you mean: {'; '.join(item.section.heading for item in near)}?" if near else ""
    return NotFoundError(f"No section is called {reference!r}.{hint}")
