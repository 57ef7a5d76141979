"""Navigate: documents, outlines and sections, asked for by name."""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import PurePath

from pinakes.errors import NotFoundError
from pinakes.model import DocumentInfo, Outline, OutlineNode, Place, SelfCheck
from pinakes.search.filters import allowed_documents
from pinakes.stores.embedded.index import EmbeddedIndex
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
    """Return the trees of the documents that ``document`` means, or of all: headings, and clauses where wanted."""
    rows = index.lookup.documents() if document is None else find_documents(index, document)
    checks = index.lookup.self_checks([row["id"] for row in rows])
    return [
        Outline(
            row["source_path"],
            row["title"],
            tree(index.lookup.places_of_document(row["id"], clauses=clauses), 0),
            checks.get(row["id"], SelfCheck()),
        )
        for row in rows
    ]


def tree(places: Iterable[Place], root: int) -> list[OutlineNode]:
    """Return the nodes below one of the places of a document, which come in the order of its text."""
    top: list[OutlineNode] = []
    children: dict[int | None, list[OutlineNode]] = {root: top}
    for place in places:
        siblings = children.get(place.parent)
        if siblings is not None and place.ordinal != root:
            name = place.heading or place.marker
            node = OutlineNode(name, place.label, place.section_id, place.level, place.lines, place.pages)
            siblings.append(node)
            children[place.ordinal] = node.children
    return top
