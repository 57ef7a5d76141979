"""Reading: documents, sections, terms and references, and the map of references."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loccit.ask import questions
from loccit.library import Library
from loccit.server.api.operations import (
    LIBRARY,
    OFFSETS,
    THE_DOC,
    Call,
    Catalog,
    Operation,
    Reply,
    convert,
    utf16,
)
from loccit.server.api.params import flag, of
from loccit.server.api.schemas import (
    DEFINITIONS,
    DOCUMENT,
    DOCUMENTS,
    MAP,
    OUTLINES,
    REFERENCES,
    SECTION,
    SECTIONS,
    TERMS,
)

if TYPE_CHECKING:
    from loccit.answers.reading import DocumentView


def show_map(call: Call) -> Reply:
    """Answer with the map of the library, or of one document."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.named(call["doc"])
        return call.conditional(
            catalog.generation,
            lambda: (
                _map_of_library(library, catalog)
                if path is None
                else _map_of_document(library, catalog, path)
            ),
        )

    return call.ask(ask)


def _map_of_library(library: Library, catalog: Catalog) -> dict[str, Any]:
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


def _map_of_document(library: Library, catalog: Catalog, path: str) -> dict[str, Any]:
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
            "cites": found.cites[row.ordinal],
            "citations": found.cited_by[row.ordinal],
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
    return {"sections": sections, "links": links, "document_citations": found.whole}


def documents(call: Call) -> Reply:
    """Answer with the list of documents."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        return call.conditional(
            catalog.generation,
            lambda: {
                "documents": [
                    catalog.mark(info.to_dict(), name="id")
                    for info in call.made(questions.Documents, catalog).ask(library)
                ]
            },
        )

    return call.ask(ask)


def document(call: Call) -> Reply:
    """Answer with everything that a reader view needs of one document."""

    def read(view: DocumentView, catalog: Catalog) -> dict[str, Any]:
        data = {"doc": call["doc"], "generation": catalog.generation, **view.to_dict()}
        for item in (*data["references"], *data["links"]):
            _replace_path(item, catalog, "target_path", "doc")
        for item in data["back_references"]:
            _replace_path(item, catalog, "from_path", "from_doc")
        for section in data["sections"]:
            section["parent"] = section["parent"] or None
        if not call["without_terms"]:
            data |= used_terms(view, catalog)
        turn = utf16(data["text"]) if call["offsets"] == "utf16" else None
        if turn is not None:
            data["pages"] = [turn(offset) for offset in data["pages"]]
            data["line_starts"] = [(turn(offset), line) for offset, line in data["line_starts"]]
            convert([data], turn)
            for name in ("sections", "clauses", "references", "terms", "links"):
                convert(data.get(name, []), turn)
        return data

    return _of_document(call, read)


def terms(call: Call) -> Reply:
    """Answer with the defined terms that a document uses; a reader view can load them after the text."""

    def read(view: DocumentView, catalog: Catalog) -> dict[str, Any]:
        data = {"doc": call["doc"], "generation": catalog.generation, **used_terms(view, catalog)}
        turn = utf16(view.text) if call["offsets"] == "utf16" else None
        if turn is not None:
            convert(data["terms"], turn)
        return data

    return _of_document(call, read)


def _of_document(call: Call, read: Callable[[DocumentView, Catalog], dict[str, Any]]) -> Reply:
    """Answer with something read from a document, unless the client already has it."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.path(call["doc"])
        return call.conditional(catalog.generation, lambda: read(catalog.view(library, path), catalog))

    return call.ask(ask)


def used_terms(view: DocumentView, catalog: Catalog) -> dict[str, Any]:
    """Return the terms that a document uses as JSON values, with ids instead of paths."""
    data = view.terms.to_dict()
    for item in data["definitions"]:
        _replace_path(item, catalog, "source_path", "source_doc")
    shown = [number for number, item in enumerate(data["definitions"]) if item["source_doc"]]
    if len(shown) == len(data["definitions"]):
        return data
    # The library has more documents than this tool shows: their definitions are left out.
    numbers = {before: now for now, before in enumerate(shown)}
    kept = [item for item in data["terms"] if item["definition"] in numbers]
    return {
        "definitions": [data["definitions"][number] for number in shown],
        "terms": [{**item, "definition": numbers[item["definition"]]} for item in kept],
    }


def _replace_path(item: dict[str, Any], catalog: Catalog, path_field: str, name: str) -> None:
    item[name] = catalog.ids.get(item.pop(path_field))


def section(call: Call) -> Reply:
    """Answer with a section."""
    return Reply(
        call.ask(
            lambda library, catalog: catalog.mark(
                library.section(
                    call["ref"],
                    document=catalog.named(call["doc"]),
                    step=call["step"],
                    lines=call["lines"],
                    exact=call["exact"],
                ).to_dict()
            )
        )
    )


def sections(call: Call) -> Reply:
    """Answer with several sections, and with what they cite if requested."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        data = call.made(questions.Sections, catalog).ask(library).to_dict()
        for item in (*data["sections"], *(cited["section"] for cited in data["cited"])):
            if item is not None:
                catalog.mark(item)
        return Reply(data)

    return call.ask(ask)


def define(call: Call) -> Reply:
    """Answer with the definitions of a term."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        data = call.made(questions.Define, catalog).ask(library).to_dict()
        for item in data["definitions"]:
            catalog.mark(item["definition"])
        return Reply(data)

    return call.ask(ask)


def outline(call: Call) -> Reply:
    """Answer with the heading tree of one document, or of all."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        asked = call.made(questions.Outlines, catalog)
        return call.conditional(
            catalog.generation,
            lambda: {"outlines": [catalog.mark(found.to_dict()) for found in asked.ask(library)]},
        )

    return call.ask(ask)


def references(call: Call) -> Reply:
    """Answer with what a section refers to and what refers to it; or with that of several."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        data = call.made(questions.References, catalog).ask(library).to_dict()
        for one in (data, *data.get("also", [])):
            catalog.mark(one["section"])
            one["doc"] = one["section"]["doc"]
            for item in (*one["cites"], *one["cited_by"], *one["around"], *one["document_cited_by"]):
                catalog.mark(item)
                catalog.mark(item["reference"], "target_path")
        return Reply(data)

    return call.ask(ask)


_JSON = "application/json"
OPERATIONS = (
    Operation(
        "GET",
        "/api/documents",
        "listDocuments",
        "The documents of a library.",
        (*of(questions.Documents), LIBRARY),
        documents,
        {_JSON: DOCUMENTS},
    ),
    Operation(
        "GET",
        "/api/document",
        "readDocument",
        "One document with its places, references and terms.",
        (THE_DOC, OFFSETS, flag("without_terms", "Leave out the terms; /api/terms returns them."), LIBRARY),
        document,
        {_JSON: DOCUMENT},
    ),
    Operation(
        "GET",
        "/api/terms",
        "readTerms",
        "The defined terms that a document uses, and what they mean there.",
        (THE_DOC, OFFSETS, LIBRARY),
        terms,
        {_JSON: TERMS},
    ),
    Operation(
        "GET",
        "/api/section",
        "readSection",
        "A section or clause, by number, heading or id.",
        (*of(questions.Sections, without=["with_references"]), LIBRARY),
        section,
        {_JSON: SECTION},
    ),
    Operation(
        "GET",
        "/api/sections",
        "readSections",
        "Several sections: a list such as 4.2, 4.3 and 7, a range, or ids, and what they refer to.",
        (*of(questions.Sections), LIBRARY),
        sections,
        {_JSON: SECTIONS},
    ),
    Operation(
        "GET",
        "/api/define",
        "defineTerm",
        "What the documents say a term means.",
        (*of(questions.Define), LIBRARY),
        define,
        {_JSON: DEFINITIONS},
    ),
    Operation(
        "GET",
        "/api/outline",
        "readOutline",
        "The headings of one document, or of all.",
        (*of(questions.Outlines), LIBRARY),
        outline,
        {_JSON: OUTLINES},
    ),
    Operation(
        "GET",
        "/api/references",
        "followReferences",
        "What a section refers to, and what refers to it; or several, as a list or a range.",
        (*of(questions.References), LIBRARY),
        references,
        {_JSON: REFERENCES},
    ),
    Operation(
        "GET",
        "/api/map",
        "readMap",
        "The documents of a library, or the sections of one, and the references between them.",
        (*of(questions.Outlines, without=["clauses"]), LIBRARY),
        show_map,
        {_JSON: MAP},
    ),
)
