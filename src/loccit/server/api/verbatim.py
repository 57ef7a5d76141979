"""Verbatim: occurrences of a pattern, quotations checked, documents compared, obligations listed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loccit.config.bounds import (
    FARTHEST,
    LONGEST_PATTERN,
    LONGEST_QUOTATION,
    MOST_HITS,
    MOST_QUOTATIONS,
    MOST_ROWS,
)
from loccit.model.obligation import GAPS, KINDS, PARTS
from loccit.search.verbatim import patterns
from loccit.search.verbatim.find_all import LIMIT
from loccit.server.api.operations import DOC, FILTERS, LIBRARY, Call, Catalog, Operation, Reply
from loccit.server.api.params import Param, choice, flag, number, text
from loccit.server.api.problems import ProblemError
from loccit.server.api.schemas import COMPARISON, FOUND_ALL, OBLIGATIONS, QUOTES

# Bodies are short.
_LONGEST_TEXT = 20_000


def _marked(catalog: Catalog, items: Iterable[dict[str, Any] | None]) -> None:
    for item in items:
        if item is not None:
            catalog.mark(item)


def find_all(call: Call) -> Reply:
    """Answer with every occurrence of a pattern, or a page of them."""

    def ask(library: Any, catalog: Catalog) -> Reply:
        found = library.find_all(
            call["pattern"],
            kind=call["kind"],
            filters=call["filters"],
            document=catalog.named(call["doc"]),
            limit=call["limit"],
            cursor=call["cursor"],
            ignore_case=not call["match_case"],
        ).to_dict()
        _marked(catalog, found["hits"])
        return Reply(found)

    return call.ask(ask)


def verify_quotes(call: Call) -> Reply:
    """Answer which quotations are exact, altered or absent."""
    if (call["quotations"] is None) == (call["text"] is None):
        raise ProblemError(422, "Give either quotations or a text that contains some.")

    def ask(library: Any, catalog: Catalog) -> Reply:
        report = library.verify_quotes(
            call["text"] if call["quotations"] is None else call["quotations"],
            document=catalog.named(call["doc"]),
            filters=call["filters"],
        ).to_dict()
        _marked(catalog, (place for check in report["checks"] for place in check["places"]))
        return Reply(report)

    return call.ask(ask)


def compare(call: Call) -> Reply:
    """Answer with the differences between two documents."""

    def ask(library: Any, catalog: Catalog) -> Reply:
        old, new = catalog.path(call["old"]), catalog.path(call["new"])
        found = library.compare(old, new, files=False).to_dict()
        for difference in found["differences"]:
            _marked(catalog, (difference["old"], difference["new"]))
        catalog.mark(found, "old_path", "old_doc")
        catalog.mark(found, "new_path", "new_doc")
        return Reply(found)

    return call.ask(ask)


def obligations(call: Call) -> Reply:
    """Answer with duties, deadlines and amounts."""

    def ask(library: Any, catalog: Catalog) -> Reply:
        names = ("filters", "kind", "bearer", "text", "unit", "gap", "limit", "offset")
        found = library.obligations(
            catalog.named(call["doc"]), **{name: call[name] for name in names}
        ).to_dict()
        _marked(catalog, found["rows"])
        return Reply(found)

    return call.ask(ask)


_JSON = "application/json"
_FIND_ALL = (
    text("pattern", "A phrase, words or a regular expression.", most=LONGEST_PATTERN, required=True),
    choice(
        "kind",
        "A phrase; words, all of them in one paragraph; or a regular expression in the syntax of RE2.",
        patterns.KINDS,
        "phrase",
    ),
    flag("match_case", "Match case."),
    FILTERS,
    DOC,
    number("limit", "Maximum hits per answer.", 1, MOST_HITS, LIMIT),
    text("cursor", "Where to continue: the cursor of the previous answer."),
    LIBRARY,
)
_QUOTATION = {"type": "string", "pattern": r"\S", "minLength": 1, "maxLength": LONGEST_QUOTATION}
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
        (
            Param(
                "quotations",
                "Quotations: bare, or in quotation marks with what is cited behind them.",
                {"type": "array", "minItems": 1, "maxItems": MOST_QUOTATIONS, "items": _QUOTATION},
            ),
            text("text", "A text; what it has in quotation marks is checked.", most=_LONGEST_TEXT, least=0),
            FILTERS,
            DOC,
            LIBRARY,
        ),
        verify_quotes,
        {_JSON: QUOTES},
        in_body=True,
    ),
    Operation(
        "GET",
        "/api/compare",
        "compare",
        "What was added, removed, moved, renumbered or changed between two documents.",
        (
            text("old", "Id of a document.", required=True),
            text("new", "Id of another document, or of a later version.", required=True),
            LIBRARY,
        ),
        compare,
        {_JSON: COMPARISON},
    ),
    Operation(
        "GET",
        "/api/obligations",
        "listObligations",
        "Who must do what, by when, for how much, and with what exceptions.",
        (
            DOC,
            FILTERS,
            choice("kind", "Rows of a kind, or that have a deadline or an amount.", (*KINDS, *PARTS)),
            text("bearer", "Words of the bearer: who has the duty or right."),
            text("text", "Words of the sentence."),
            text("unit", "Unit of a deadline or an amount: day, EUR, %."),
            choice("gap", "Rows in which this part was not understood.", tuple(GAPS)),
            number("limit", "Maximum rows per answer.", 1, MOST_ROWS, 100),
            number("offset", "How many rows to skip.", 0, FARTHEST, 0),
            LIBRARY,
        ),
        obligations,
        {_JSON: OBLIGATIONS},
    ),
)
