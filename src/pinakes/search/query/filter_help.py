"""Says why filters leave nothing: which field or value no document has, and what there is instead."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Protocol

from pinakes.port.filters import SYNONYMS, TITLE, DocumentFilter, Predicate
from pinakes.port.values import plain
from pinakes.search.query.filters import FEW_DOCUMENTS, CodeTest, compile_filter, filter_name

_SHOWN = 8
# Values are gathered from so many documents at most.
_LOOKED_AT = 5000
_DATES = ("after", "before", "date", "modified")


class Counts(Protocol):
    """What an index knows about all of its documents."""

    def count(self, kind: str) -> int:
        """Return the number of ``documents``."""
        ...

    def languages(self) -> dict[str, int]:
        """Return how many documents there are in each language."""
        ...

    def file_types(self) -> dict[str, int]:
        """Return how many documents there are of each type."""
        ...


class CodeSearch(Protocol):
    """What an index knows about code."""

    def documents_with_code(self, languages: Sequence[str]) -> set[int]:
        """Return the documents that have code in any of some languages."""
        ...

    def code_languages(self) -> dict[str, int]:
        """Return the languages that code is in, with how often."""
        ...


class FilterHelp:
    """Explains filters over one index."""

    def __init__(self, fields: DocumentFilter, counts: Counts, code: CodeSearch) -> None:
        self._fields = fields
        self._counts = counts
        self._code = code

    def explain_empty(
        self, filters: Mapping[str, object], excluded: Mapping[str, object] | None = None
    ) -> str:
        """Say in a sentence or two why no document passes; "" when some do."""
        if not self._counts.count("documents"):
            return "There are no documents."
        alone: list[str] = []
        for name, value in filters.items():
            passing = self._passing({name: value})
            if not passing:
                return self._nothing_has(name, value)
            alone.append(f"{name}={_value(value)} ({_count(len(passing))})")
        if filters and not self._passing(filters):
            return f"No document passes all filters at once: {', '.join(alone)}."
        left_out: dict[str, object] = {}
        for name, value in (excluded or {}).items():
            left_out[name] = value
            if not self._passing(filters, left_out):
                others = " that passes the other filters" if filters else ""
                return f"Every document{others} is left out by -{name}={_value(value)}."
        return ""

    def _passing(
        self, filters: Mapping[str, object], excluded: Mapping[str, object] | None = None
    ) -> Collection[int]:
        """Some of the documents that pass, all of them where they are few."""
        spoken = self._counts.languages
        wanted = [compile_filter(name, value, spoken) for name, value in filters.items()]
        unwanted = [compile_filter(name, value, spoken) for name, value in (excluded or {}).items()]
        predicate = Predicate(
            tuple(test for test in wanted if not isinstance(test, CodeTest)),
            tuple(test for test in unwanted if not isinstance(test, CodeTest)),
        )
        having = [
            self._code.documents_with_code(test.languages) for test in wanted if isinstance(test, CodeTest)
        ]
        lacking = [
            self._code.documents_with_code(test.languages) for test in unwanted if isinstance(test, CodeTest)
        ]
        if having:
            return self._fields.passing(predicate, set.intersection(*having).difference(*lacking))
        found = self._fields.matching(predicate, None if lacking else FEW_DOCUMENTS + 1)
        return set(found).difference(*lacking)

    def _nothing_has(self, name: str, value: object) -> str:
        known = filter_name(name)
        if known in _DATES and (dates := self._fields.dates()):
            first, last = (_day(moment) for moment in dates)
            return f"No document has {name}={_value(value)}; their dates go from {first} to {last}."
        if known == "path":
            return f"No document has a path that matches {_value(value)}."
        if known == "code":
            languages = self._code.code_languages()
            if not languages:
                return "No document has code in a language that is named."
            return f"No document has code in {_value(value)}; languages here: {_listed(languages, value)}."
        if known in ("type", "language", "title"):
            here = self._known_values(known)
            return f"No document has {name}={_value(value)}; {known}s here: {_listed(here, value)}."
        if here := self._fields.values(SYNONYMS.get(known, (known,)), _LOOKED_AT):
            return f"No document has {name}={_value(value)}; values here: {_listed(here, value)}."
        fields = self._fields.field_names(FEW_DOCUMENTS)
        if not fields:
            return f"No document has a field {name!r}: none has any frontmatter."
        return f"No document has a field {name!r}; fields here: {_listed(fields, name)}."

    def _known_values(self, known: str) -> dict[str, int]:
        if known == "title":
            return self._fields.values((TITLE,), _LOOKED_AT)
        counted = self._counts.languages() if known == "language" else self._counts.file_types()
        return {name.removeprefix("."): count for name, count in counted.items()}


def _day(moment: float) -> str:
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=moment)).strftime("%Y-%m-%d")


def _listed(here: Mapping[str, int], near: object) -> str:
    """What there is, the nearest to what was asked for first, then the most frequent."""
    names = sorted(here, key=lambda name: (-here[name], name))
    folded = {plain(name): name for name in reversed(names)}
    asked = [plain(item) for item in (near if isinstance(near, (list, tuple, set, frozenset)) else [near])]
    close = [
        folded[word] for item in asked[:_SHOWN] for word in difflib.get_close_matches(item, folded, 3, 0.7)
    ]
    shown = list(dict.fromkeys([*close, *names]))
    more = len(shown) - _SHOWN
    return ", ".join(shown[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _value(value: object) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        return "/".join(str(item) for item in value)
    return str(value)


def _count(number: int) -> str:
    if number > FEW_DOCUMENTS:
        return f"more than {FEW_DOCUMENTS:,} documents"
    return "1 document" if number == 1 else f"{number:,} documents"
