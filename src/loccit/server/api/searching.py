"""Searching: passages by meaning, keyword and exact reference, also as a file, and suggestions while typing."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from loccit.ask import questions
from loccit.config.bounds import MOST_SUGGESTIONS
from loccit.model import SearchResponse, SearchResult
from loccit.model.document import span
from loccit.server.api.operations import (
    LIBRARY,
    OFFSETS,
    Call,
    Catalog,
    Operation,
    Reply,
    convert,
    to_json,
    utf16,
)
from loccit.server.api.params import choice, number, of, text
from loccit.server.api.schemas import SEARCH, STRING, SUGGESTIONS

FORMATS = {"csv": "text/csv", "json": "application/json", "markdown": "text/markdown"}
_ENDINGS = {"csv": "csv", "json": "json", "markdown": "md"}
# Spreadsheets treat values that begin like this as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

SEARCH_PARAMS = (*of(questions.Search), LIBRARY)


def find(call: Call) -> tuple[SearchResponse, Catalog]:
    """Run the search of a request."""
    catalog = call.catalog()
    options = {name: call[name] for name in ("mode", "filters", "token_budget", "offset", "min_score")}
    found = call.service.search(
        call["q"],
        top_k=call["top_k"] or 10,
        document=catalog.named(call["doc"]),
        explain=call["explain"],
        **{name: value for name, value in options.items() if value is not None},
    )
    return found, catalog


def search(call: Call) -> Reply:
    """Answer a search."""
    found, catalog = find(call)
    data = found.to_dict()
    for result in data["results"]:
        mark_result(result, catalog)
        turn = utf16(result["content"]) if call["offsets"] == "utf16" else None
        if turn is not None:
            convert(result["matches"], turn)
    return Reply(data)


def mark_result(result: dict[str, Any], catalog: Catalog) -> None:
    """Add the ids of the documents that a result names."""
    catalog.mark(result)
    for item in (*result["also_in"], *result["definitions_context"]):
        catalog.mark(item)
    for item in result["cross_references"]:
        catalog.mark(item, "target_path")


def suggest(call: Call) -> Reply:
    """Answer with suggestions that begin with, or contain, the letters typed so far."""
    items = call.ask(
        lambda library, catalog: [
            catalog.mark(item.to_dict())
            for item in library.suggest(call["q"], call["limit"], paths=catalog.ids)
        ]
    )
    for item in items:
        del item["source_path"]
    return Reply({"suggestions": items})


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
    # Spreadsheets recognise UTF-8 by its byte order mark.
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
    """Return a text as one line of Markdown, escaped."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


_JSON = "application/json"
OPERATIONS = (
    Operation(
        "GET",
        "/api/search",
        "search",
        "Search, by meaning, keyword and exact reference.",
        (*SEARCH_PARAMS, OFFSETS),
        search,
        {_JSON: SEARCH},
    ),
    Operation(
        "POST",
        "/api/search",
        "searchByBody",
        "Search, for queries that do not fit into a URL.",
        (*SEARCH_PARAMS, OFFSETS),
        search,
        {_JSON: SEARCH},
        in_body=True,
    ),
    Operation(
        "GET",
        "/api/suggest",
        "suggest",
        "Titles, labels and defined terms that complete what is being typed.",
        (
            text("q", "What is typed so far.", least=0, required=True),
            number("limit", "How many.", 1, MOST_SUGGESTIONS, 8),
            LIBRARY,
        ),
        suggest,
        {_JSON: SUGGESTIONS},
    ),
    Operation(
        "GET",
        "/api/export",
        "exportResults",
        "The results of a search as a file.",
        (*SEARCH_PARAMS, choice("format", "Kind of file.", tuple(FORMATS), "csv")),
        export,
        {"text/csv": STRING, "application/json": SEARCH, "text/markdown": STRING},
    ),
)
