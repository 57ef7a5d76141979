"""Says why filters leave nothing: which field or value no document has, and what there is instead."""

from __future__ import annotations

import difflib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pinakes.search.filter_values import plain
from pinakes.search.filters import (
    CodeDocuments,
    DocumentFields,
    document_date,
    document_test,
    filter_name,
)

_SHOWN = 8
_LONGEST_VALUE = 60
_DATES = ("after", "before", "date", "modified")
_COLUMNS = {"type": "file_type", "language": "language", "title": "title"}


def explain_empty(
    rows: Iterable[sqlite3.Row],
    filters: Mapping[str, object],
    excluded: Mapping[str, object] | None = None,
    *,
    code: CodeDocuments | None = None,
    code_languages: Mapping[str, int] | None = None,
) -> str:
    """Say in a sentence or two why no document passes; "" when some do.

    ``code_languages`` are those that the library has code in, with how often.
    """
    documents = [DocumentFields(row) for row in rows]
    if not documents:
        return "There are no documents."
    left = documents
    alone: list[str] = []
    for name, value in filters.items():
        test = document_test(name, value, documents, code)
        passing = [document for document in documents if test(document)]
        if not passing:
            return _nothing_has(documents, name, value, code_languages or {})
        left = [document for document in left if test(document)]
        alone.append(f"{name}={_value(value)} ({_count(len(passing))})")
    if not left:
        return f"No document passes all filters at once: {', '.join(alone)}."
    for name, value in (excluded or {}).items():
        test = document_test(name, value, documents, code)
        left = [document for document in left if not test(document)]
        if not left:
            others = " that passes the other filters" if filters else ""
            return f"Every document{others} is left out by -{name}={_value(value)}."
    return ""


def _nothing_has(
    documents: Sequence[DocumentFields], name: str, value: object, code_languages: Mapping[str, int]
) -> str:
    known = filter_name(name)
    if known in _DATES:
        dates = sorted(document_date(document) for document in documents)
        return (
            f"No document has {name}={_value(value)}; their dates go from {dates[0]:%Y-%m-%d} "
            f"to {dates[-1]:%Y-%m-%d}."
        )
    if known == "path":
        return f"No document has a path that matches {_value(value)}."
    if known == "code":
        if not code_languages:
            return "No document has code in a language that is named."
        return f"No document has code in {_value(value)}; languages here: {_listed(code_languages, value)}."
    if known in _COLUMNS:
        column = _COLUMNS[known]
        here = Counter(str(document.row[column]).removeprefix(".") for document in documents)
        return f"No document has {name}={_value(value)}; {known}s here: {_listed(here, value)}."
    here = Counter(
        str(item)[:_LONGEST_VALUE]
        for document in documents
        for item in {plain(have): have for have in document.values(known)}.values()
    )
    if here:
        return f"No document has {name}={_value(value)}; values here: {_listed(here, value)}."
    fields = Counter(field for document in documents for field in document.metadata)
    if not fields:
        return f"No document has a field {name!r}: none has any frontmatter."
    return f"No document has a field {name!r}; fields here: {_listed(fields, name)}."


def _listed(here: Mapping[str, int], near: object) -> str:
    """What there is, the nearest to what was asked for first, then the most frequent."""
    names = sorted(here, key=lambda name: (-here[name], name))
    folded = {plain(name): name for name in reversed(names)}
    asked = [plain(item) for item in (near if isinstance(near, (list, tuple, set, frozenset)) else [near])]
    close = [folded[word] for item in asked for word in difflib.get_close_matches(item, folded, 3, 0.7)]
    shown = list(dict.fromkeys([*close, *names]))
    more = len(shown) - _SHOWN
    return ", ".join(shown[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _value(value: object) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        return "/".join(str(item) for item in value)
    return str(value)


def _count(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"
