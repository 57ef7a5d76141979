"""Verbatim: occurrences of a pattern, quotations checked, documents compared, obligations listed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loccit.ask import questions
from loccit.server.api.operations import LIBRARY, Call, Catalog, Operation, Reply
from loccit.server.api.params import of
from loccit.server.api.problems import ProblemError
from loccit.server.api.schemas import COMPARISON, FOUND_ALL, OBLIGATIONS, QUOTES


def _marked(catalog: Catalog, items: Iterable[dict[str, Any] | None]) -> None:
    for item in items:
        if item is not None:
            catalog.mark(item)


def find_all(call: Call) -> Reply:
    """Answer with every occurrence of a pattern, or a page of them."""

    def ask(library: Any, catalog: Catalog) -> Reply:
        found = call.made(questions.FindAll, catalog).ask(library).to_dict()
        _marked(catalog, found["hits"])
        return Reply(found)

    return call.ask(ask)


def verify_quotes(call: Call) -> Reply:
    """Answer which quotations are exact, altered or absent."""
    if (call["quotations"] is None) == (call["text"] is None):
        raise ProblemError(422, "Give either quotations or a text that contains some.")

    def ask(library: Any, catalog: Catalog) -> Reply:
        report = call.made(questions.VerifyQuotes, catalog).ask(library).to_dict()
        _marked(catalog, (place for check in report["checks"] for place in check["places"]))
        return Reply(report)

    return call.ask(ask)


def compare(call: Call) -> Reply:
    """Answer with the differences between two documents."""

    def ask(library: Any, catalog: Catalog) -> Reply:
        found = call.made(questions.Compare, catalog).ask(library).to_dict()
        for difference in found["differences"]:
            _marked(catalog, (difference["old"], difference["new"]))
        catalog.mark(found, "old_path", "old_doc")
        catalog.mark(found, "new_path", "new_doc")
        return Reply(found)

    return call.ask(ask)


def obligations(call: Call) -> Reply:
    """Answer with duties, deadlines and amounts."""

    def ask(library: Any, catalog: Catalog) -> Reply:
        found = call.made(questions.Obligations, catalog).ask(library).to_dict()
        _marked(catalog, found["rows"])
        return Reply(found)

    return call.ask(ask)


_JSON = "application/json"
_FIND_ALL = (*of(questions.FindAll), LIBRARY)
OPERATIONS = (
    Operation(
        "GET",
        "/api/find_all",
        "findAll",
        "Every occurrence of a phrase, words or a regular expression.",
        _FIND_ALL,
        find_all,
        {_JSON: FOUND_ALL},
    ),
    Operation(
        "POST",
        "/api/find_all",
        "findAllByBody",
        "The same, for patterns that do not fit into a URL.",
        _FIND_ALL,
        find_all,
        {_JSON: FOUND_ALL},
        in_body=True,
    ),
    Operation(
        "POST",
        "/api/verify_quotes",
        "verifyQuotes",
        "Whether quotations, or those in a text, are what the documents say, and in the place cited beside them.",
        (*of(questions.VerifyQuotes), LIBRARY),
        verify_quotes,
        {_JSON: QUOTES},
        in_body=True,
    ),
    Operation(
        "GET",
        "/api/compare",
        "compare",
        "What was added, removed, moved, renumbered or changed between two documents.",
        (*of(questions.Compare), LIBRARY),
        compare,
        {_JSON: COMPARISON},
    ),
    Operation(
        "GET",
        "/api/obligations",
        "listObligations",
        "Who must do what, by when, for how much, and with what exceptions.",
        (*of(questions.Obligations), LIBRARY),
        obligations,
        {_JSON: OBLIGATIONS},
    ),
)
