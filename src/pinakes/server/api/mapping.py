"""Mapping: documents, sections and the references between them."""

from __future__ import annotations

from typing import Any

from pinakes.library import Library
from pinakes.server.api.catalog import Catalog
from pinakes.server.api.operations import DOC, LIBRARY, Call, Operation, Reply
from pinakes.server.api.schemas import MAP


def show(call: Call) -> Reply:
    """Answer with the map of the library, or of one document."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.named(call["doc"])
        return call.conditional(
            catalog.generation,
            lambda: _of_library(library, catalog) if path is None else _of_document(library, catalog, path),
        )

    return call.ask(ask)


def _of_library(library: Library, catalog: Catalog) -> dict[str, Any]:
    found = library.map()
    documents = [
        {
            "doc": catalog.ids[info.source_path],
            "title": info.title,
            "chunks": info.total_chunks,
            "sections": found.sections.get(info.source_path, 0),
            "file_type": info.file_type,
        }
        for info in library.documents()
        if info.source_path in catalog.ids
    ]
    links = [
        {"from": catalog.ids[source], "to": catalog.ids[target], "count": count}
        for (source, target), count in sorted(found.links.items())
        if source in catalog.ids and target in catalog.ids
    ]
    return {"documents": documents, "links": links}


def _of_document(library: Library, catalog: Catalog, path: str) -> dict[str, Any]:
    found = library.map_of(path)
    rows = found.sections
    ids = {row.ordinal: row.section_id for row in rows}
    sections = [
        {
            "section_id": row.section_id,
            "label": row.label,
            "title": row.title,
            "level": row.level,
            "parent": ids.get(row.parent or 0),
            "chunks": found.chunks.get(row.ordinal, 0),
        }
        for row in rows
    ]
    links = [
        {
            "from_section": source,
            "to_doc": catalog.ids[target],
            "to_section": section,
            "count": count,
        }
        for (source, target, section), count in sorted(found.links.items())
        if target in catalog.ids
    ]
    return {"sections": sections, "links": links}


OPERATIONS = (
    Operation(
        "GET",
        "/api/map",
        "readMap",
        "The documents of a library, or the sections of one, and the references between them.",
        (DOC, LIBRARY),
        show,
        {"application/json": MAP},
    ),
)
