"""Navigate: documents, outlines and sections, asked for by name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import PurePath

from pinakes.errors import NotFoundError
from pinakes.labels.document_keys import path_key, path_parts
from pinakes.model import DocumentInfo, Outline, OutlineNode, Place, SelfCheck
from pinakes.port.index import SearchIndex
from pinakes.port.names import Entry, NameLookup
from pinakes.port.records import Row
from pinakes.search.query.filters import compile_filters
from pinakes.text.keys import title_key

# Documents whose names are compared with one that none has.
_LOOKED_AT = 2000


def list_documents(index: SearchIndex, filters: Mapping[str, object] | None) -> list[DocumentInfo]:
    """Return the documents that pass the filters, by path."""
    rows = index.lookup.documents()
    allowed = _allowed(index, filters) if filters else None
    checks = index.lookup.self_checks()
    return [
        _info(row, checks.get(row["id"], SelfCheck()))
        for row in rows
        if allowed is None or row["id"] in allowed
    ]


def _allowed(index: SearchIndex, filters: Mapping[str, object]) -> set[int]:
    """Return the documents that pass; of code, those that have some in the language."""
    compiled = compile_filters([filters], spoken=index.lookup.languages)
    allowed = set(index.fields.matching(compiled.documents))
    for test in compiled.code:
        allowed &= index.keyword.documents_with_code(test.languages)
    return allowed


def _info(row: Row, check: SelfCheck) -> DocumentInfo:
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


def find_documents(names: NameLookup, name: str) -> list[Entry]:
    """Return the documents that a path, the end of a path, a file name or a title means, in the order of paths."""
    parts, key = PurePath(name).parts, title_key(name)
    if exactly := names.at([name]):
        return list(exactly.values())
    end = path_key(path_parts(name))
    ending = names.ending([end], whole=False).get(end, []) if end else []
    found = [entry for entry in ending if parts and PurePath(entry.source_path).parts[-len(parts) :] == parts]
    found = found or [
        entry for entry in ending if PurePath(entry.source_path).stem.casefold() == name.casefold()
    ]
    found = list({entry.id: entry for entry in found}.values()) or (names.titled(key) if key else [])
    if found:
        return sorted(found, key=lambda entry: entry.source_path)
    some = names.first(_LOOKED_AT)
    called = [PurePath(entry.source_path).name for entry in some] + [entry.title for entry in some]
    near = difflib.get_close_matches(name, called, n=3, cutoff=0.5)
    hint = f" Did you mean: {', '.join(dict.fromkeys(near))}?" if near else ""
    raise NotFoundError(f"There is no document {name!r} in the library.{hint}")


def outlines(index: SearchIndex, document: str | None, *, clauses: bool) -> list[Outline]:
    """Return the trees of the documents that ``document`` means, or of all: headings, and clauses where wanted."""
    entries = index.names.first() if document is None else find_documents(index.names, document)
    checks = index.lookup.self_checks([entry.id for entry in entries])
    return [
        Outline(
            entry.source_path,
            entry.title,
            tree(index.lookup.places_of_document(entry.id, clauses=clauses), 0),
            checks.get(entry.id, SelfCheck()),
        )
        for entry in entries
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
