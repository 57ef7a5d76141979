"""Taking along: a citation of a place, and the results of a search as a file."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from pinakes.library import Library
from pinakes.model import DocumentInfo, Lines, Pages, SearchResult
from pinakes.model.document import span
from pinakes.server.api.catalog import Catalog
from pinakes.server.api.citing import STYLES, cite_place
from pinakes.server.api.operations import LIBRARY, THE_DOC, Call, Operation, Reply, to_json
from pinakes.server.api.params import Param, choice, text
from pinakes.server.api.problems import ProblemError
from pinakes.server.api.schemas import CITATION, EXPORT, STRING
from pinakes.server.api.searching import SEARCH_PARAMS, find, mark_result

FORMATS = {"csv": "text/csv", "json": "application/json", "markdown": "text/markdown"}
_ENDINGS = {"csv": "csv", "json": "json", "markdown": "md"}
_SPAN = {"type": "string", "pattern": "^[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?$"}
# Spreadsheets take what begins like this for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cite(call: Call) -> Reply:
    """Answer with a citation of a document, a section of it, or some lines or pages."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.path(call["doc"])
        info = next((info for info in library.documents() if info.source_path == path), None)
        if info is None:
            raise ProblemError(404, "This document was removed from the library.")
        citation = cite_place(
            info, _chain(library, info, call["section_id"]), _where(call, path), call["style"]
        )
        return Reply({"citation": citation, "style": call["style"]})

    return call.ask(ask)


def _chain(library: Library, info: DocumentInfo, section_id: str | None) -> list[str]:
    """Return the headings from the document's own down to a section."""
    if section_id is None:
        return []
    found = library.section(section_id, document=info.source_path)
    if found.section_id != section_id:
        raise ProblemError(404, "There is no section with this id in the document.")
    return [name for name in found.parent_chain if name != info.title]


def _where(call: Call, path: str) -> str:
    lines, pages = (_span(call[name]) for name in ("lines", "pages"))
    return span(Lines(*lines) if lines else None, Pages(*pages) if pages else None, path)


def _span(value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    first, _, last = value.partition("-")
    return min(int(first), int(last or first)), max(int(first), int(last or first))


def export(call: Call) -> Reply:
    """Answer with the results of a search as a file."""
    found, catalog = find(call)
    kind = call["format"]
    if kind == "json":
        data = found.to_dict()
        for result in data["results"]:
            mark_result(result, catalog)
        body = to_json(data)
    elif kind == "csv":
        body = _csv(found.results, catalog)
    else:
        body = _markdown(call["q"], found.results)
    name = re.sub(r"[^a-z0-9]+", "-", call["q"].lower())[:40].strip("-") or "results"
    disposition = f'attachment; filename="{name}.{_ENDINGS[kind]}"'
    return Reply(body, f"{FORMATS[kind]}; charset=utf-8", {"Content-Disposition": disposition})


def _csv(results: list[SearchResult], catalog: Catalog) -> bytes:
    rows: list[list[Any]] = [
        [
            "rank",
            "score",
            "document",
            "section",
            "location",
            "lines",
            "pages",
            "doc",
            "source_path",
            "content",
        ]
    ]
    rows += [
        [
            result.rank,
            result.fused_score,
            result.document_title,
            result.section_label or result.heading,
            result.location,
            span(result.lines, None, result.source_path),
            span(None, result.pages, result.source_path),
            catalog.ids.get(result.source_path, ""),
            result.source_path,
            result.content,
        ]
        for result in results
    ]
    file = io.StringIO()
    csv.writer(file).writerows([_harmless(cell) for cell in row] for row in rows)
    # Spreadsheets know UTF-8 by its mark.
    return ("\ufeff" + file.getvalue()).encode("utf-8", "replace")


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _markdown(query: str, results: list[SearchResult]) -> bytes:
    parts = [f"# {_line(query)}", f"{len(results)} result{'' if len(results) == 1 else 's'}"]
    for result in results:
        parts.append(f"## {result.rank}. {_line(result.location)}")
        quoted = "\n".join(
            f"> {line}" if line.strip() else ">" for line in result.content.strip().splitlines()
        )
        parts += [quoted, f"— {_line(result.document_title)}"]
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def _line(text: str) -> str:
    """Return a text as one line that Markdown takes as it is."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


OPERATIONS = (
    Operation(
        "GET",
        "/api/cite",
        "cite",
        "A citation of a document, a section, lines or pages.",
        (
            THE_DOC,
            text("section_id", "Id of a section or clause of the document."),
            Param("lines", "A line, or the first and last: 12-18.", _SPAN),
            Param("pages", "A page, or the first and last: 3-4.", _SPAN),
            choice("style", "How it is written.", STYLES, "plain"),
            LIBRARY,
        ),
        cite,
        {"application/json": CITATION},
    ),
    Operation(
        "GET",
        "/api/export",
        "exportResults",
        "The results of a search as a file.",
        (*SEARCH_PARAMS, choice("format", "Kind of file.", tuple(FORMATS), "csv")),
        export,
        {"text/csv": STRING, "application/json": EXPORT, "text/markdown": STRING},
    ),
)
