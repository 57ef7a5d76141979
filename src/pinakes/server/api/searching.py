"""Searching: passages by meaning, keyword and exact reference, and suggestions while one types."""

from __future__ import annotations

from typing import Any

from pinakes.model import SearchResponse
from pinakes.server.api.catalog import Catalog
from pinakes.server.api.offsets import convert, utf16
from pinakes.server.api.operations import DOC, FILTERS, LIBRARY, MAX_QUERY, OFFSETS, Call, Operation, Reply
from pinakes.server.api.params import flag, number, of_setting, text
from pinakes.server.api.schemas import SEARCH, SUGGESTIONS

SEARCH_PARAMS = (
    text("q", "What to look for.", most=MAX_QUERY, required=True),
    of_setting("search_mode", "mode"),
    of_setting("top_k"),
    FILTERS,
    DOC,
    number("token_budget", "The most tokens of all results together.", 1, 1_000_000),
    of_setting("min_score"),
    flag("explain", "Say how each result was found."),
    LIBRARY,
)


def find(call: Call) -> tuple[SearchResponse, Catalog]:
    """Search as a request says."""
    catalog = call.catalog()
    options = {name: call[name] for name in ("mode", "filters", "token_budget", "min_score")}
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
    """Answer with what begins with, or holds, the letters typed so far."""
    items = call.ask(
        lambda library, catalog: [
            catalog.mark(item.to_dict())
            for item in library.suggest(call["q"], call["limit"], paths=catalog.ids)
        ]
    )
    for item in items:
        del item["source_path"]
    return Reply({"suggestions": items})


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
        "Search; for queries that do not fit into an address.",
        (*SEARCH_PARAMS, OFFSETS),
        search,
        {_JSON: SEARCH},
        in_body=True,
    ),
    Operation(
        "GET",
        "/api/suggest",
        "suggest",
        "Titles, labels and defined terms for what is being typed.",
        (
            text("q", "What is typed so far.", most=MAX_QUERY, required=True),
            number("limit", "How many.", 1, 50, 8),
            LIBRARY,
        ),
        suggest,
        {_JSON: SUGGESTIONS},
    ),
)
