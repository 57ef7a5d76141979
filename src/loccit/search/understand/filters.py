"""Filters: conditions on documents and chunks, compiled into tests that an index can run itself."""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Protocol, TypeAlias

from loccit.config.bounds import MOST_FILTERS, MOST_VALUES
from loccit.errors import UsageError
from loccit.grammar.text.code_languages import is_code_language
from loccit.grammar.text.language import LANGUAGE_NAMES
from loccit.index.port.filters import (
    CREATED,
    DATE,
    LANGUAGE,
    MODIFIED,
    NAME,
    SYNONYMS,
    TAG_ABOVE,
    TITLE,
    TYPE,
    DocumentFilter,
    FieldTest,
    Passing,
    PathTest,
    Predicate,
    Test,
    field_key,
    name_words,
)
from loccit.index.port.values import date_span, is_range, parse_date, plain, wanted_value

FEW_DOCUMENTS = 1000
"""Up to this many documents are passed to an index as a list; beyond it, the index checks the documents found."""

NO_DOCUMENT = "No document passes the filters: check the list of documents, or drop the filters."

Spoken: TypeAlias = Callable[[], Collection[str]]
"""Returns the languages of the documents."""

# Ranges, patterns and substrings: each is compared with every document's value.
_MAX_COMPARED = 200
_ESCAPED = re.compile(r"\[([*?[])\]")
_OTHER_NAMES = {
    "file_type": "type",
    "lang": "language",
    "code_language": "code",
    "authors": "author",
    "tag": "tags",
    "keyword": "keywords",
    "alias": "aliases",
    "categories": "category",
    "summary": "description",
    "updated": "modified",
}
_DATES = {"date": DATE, "created": CREATED, "modified": MODIFIED}
_TYPES = {"markdown": "md", "text": "txt", "word": "docx", "excel": "xlsx", "powerpoint": "pptx"}
_TYPES |= {"htm": "html", "xhtml": "html", "yml": "yaml", "notebook": "ipynb"}
_LANGUAGE_CODES = {name.casefold(): code for code, name in LANGUAGE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class CodeTest:
    """Passed by a chunk with code in any of these languages."""

    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on documents, and on the code in their chunks."""

    documents: Predicate = field(default_factory=Predicate)
    code: tuple[CodeTest, ...] = ()
    other_code: tuple[CodeTest, ...] = ()

    def __bool__(self) -> bool:
        """Whether there are any conditions."""
        return bool(self.documents or self.code or self.other_code)


def compile_filters(
    filters: Sequence[Mapping[str, object] | None],
    excluded: Mapping[str, object] | None = None,
    spoken: Spoken = tuple,
) -> Filters:
    """Compile filters that must all pass, and excluded ones that must all fail. Meaningless values are refused.

    A filter with several values passes if any of them matches.
    """
    groups = [group for group in (*filters, excluded) if group is not None]
    if not all(isinstance(group, Mapping) for group in groups):
        raise UsageError("filters must be a mapping of names to values, such as {'type': 'pdf'}.")
    if most := max((len(group) for group in groups if len(group) > MOST_FILTERS), default=0):
        raise UsageError(f"filters must have at most {MOST_FILTERS} names, not {most:,}.")
    values = sum(
        len(value)
        for group in groups
        for name, value in group.items()
        if isinstance(value, (list, tuple, set, frozenset)) and filter_name(name) != "path"
    )
    if values > MOST_VALUES:
        raise UsageError(f"filters must have at most {MOST_VALUES:,} values in all, not {values:,}.")
    wanted = [
        compile_filter(name, value, spoken) for group in filters if group for name, value in group.items()
    ]
    unwanted = [compile_filter(name, value, spoken) for name, value in (excluded or {}).items()]
    return Filters(
        Predicate(
            tuple(test for test in wanted if not isinstance(test, CodeTest)),
            tuple(test for test in unwanted if not isinstance(test, CodeTest)),
        ),
        tuple(test for test in wanted if isinstance(test, CodeTest)),
        tuple(test for test in unwanted if isinstance(test, CodeTest)),
    )


def allowed_documents(fields: DocumentFilter, predicate: Predicate) -> set[int] | Passing | None:
    """Return the documents that pass if they are few; None if there are no conditions."""
    if not predicate:
        return None
    found = fields.matching(predicate, FEW_DOCUMENTS + 1)
    return set(found) if len(found) <= FEW_DOCUMENTS else Passing(fields, predicate, len(found))


def filter_name(name: str) -> str:
    """The canonical name of a filter: ``Authors`` > ``author``."""
    key = field_key(name)
    return _OTHER_NAMES.get(key, key)


def compile_filter(name: str, value: object, spoken: Spoken = tuple) -> Test | CodeTest:
    """Return the test for one filter. A meaningless value is refused."""
    several = isinstance(value, (list, tuple, set, frozenset))
    wanted = tuple(_written(item) for item in value) if several else (_written(value),)  # type: ignore[attr-defined]
    if not wanted or not all(item.strip() for item in wanted):
        raise UsageError(f"The filter {name!r} has no value; write it as {name}=VALUE.")
    if not name.strip():
        raise UsageError(f"A filter for {wanted[0]!r} has no name; write it as NAME=VALUE.")
    known = filter_name(name)
    if known == "path":
        return _path_test(name, wanted)
    _check_number(name, len(wanted), _MAX_COMPARED if known in ("title", "author") else MOST_VALUES)
    if known == "type":
        names = [item.lower().lstrip(".") for item in wanted]
        return FieldTest((TYPE,), values=tuple("." + _TYPES.get(item, item) for item in names))
    if known == "language":
        return _language_test(wanted, spoken)
    if known == "code":
        return CodeTest(wanted)
    if known in ("after", "before"):
        bound = parse_date(wanted[0])
        if bound is None:
            raise UsageError(f"{name}: {wanted[0]!r} is not a date; write it as 2025-01-31.")
        at, ends = bound.timestamp(), (float("-inf"), float("inf"))
        return FieldTest((DATE,), moments=((at, ends[1]) if known == "after" else (ends[0], at),))
    if known in _DATES:
        for item in wanted:
            if date_span(item) is None and not is_range(item):
                raise UsageError(
                    f"{name}: {item!r} is not a date; write it as 2025-01-31, 2025-01, 2024..2025 or >=2025."
                )
        return _value_test(name, (_DATES[known],), wanted)
    if known == "title":
        return FieldTest((TITLE,), holding=tuple(item.casefold() for item in wanted))
    if known == "author":
        return FieldTest((NAME,), words=tuple(words for item in wanted if (words := name_words(item))))
    fields = SYNONYMS.get(known, (known,))
    return _value_test(name, (*fields, TAG_ABOVE) if known == "tags" else fields, wanted)


def _path_test(name: str, wanted: Sequence[str]) -> PathTest:
    """Literal paths, of which there may be any number, and patterns."""
    paths, patterns = [], []
    for item in wanted:
        # A path whose wildcards are escaped is literal.
        literal = _ESCAPED.sub(r"\1", item)
        if glob.escape(literal) == item or not any(sign in item for sign in "*?["):
            paths.append(literal)
        else:
            patterns.append(item)
    _check_number(name, len(patterns), _MAX_COMPARED)
    return PathTest(tuple(paths), tuple(patterns))


def _check_number(name: str, given: int, most: int) -> None:
    if given > most:
        raise UsageError(
            f"The filter {name!r} has {given:,} values of one kind; at most {most:,} are allowed."
        )


def _value_test(name: str, names: tuple[str, ...], wanted: Sequence[str]) -> FieldTest:
    """Values, numbers and dates, and ranges of these."""
    read = [wanted_value(item) for item in wanted]
    if any(is_range(item) for item in wanted):
        _check_number(name, sum(bool(item.numbers or item.moments) for item in read), _MAX_COMPARED)
    return FieldTest(
        names,
        values=tuple(item.text for item in read),
        numbers=tuple(item.numbers for item in read if item.numbers),
        moments=tuple(item.moments for item in read if item.moments and not item.numbers),
        moments_apart=tuple(item.moments for item in read if item.moments and item.numbers),
    )


def _language_test(wanted: tuple[str, ...], spoken: Spoken) -> FieldTest | CodeTest:
    """Natural languages; if no document is in that language, programming languages: ``language=python``."""
    codes = tuple(_LANGUAGE_CODES.get(item.casefold(), item.casefold()) for item in wanted)
    if all(map(is_code_language, wanted)) and not set(codes) & set(spoken()):
        return CodeTest(wanted)
    return FieldTest((LANGUAGE,), values=codes)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- why filters leave nothing: which field or value is missing, and what there is instead -------------------


_SHOWN = 8
# At most this many documents are sampled for values.
_LOOKED_AT = 5000
_TOLD_BY_DATES = ("after", "before", "date", "modified")


class Counts(Protocol):
    """What an index knows about all its documents."""

    def count(self, kind: str) -> int:
        """Return the number of ``documents``."""
        ...

    def languages(self) -> dict[str, int]:
        """Return the number of documents in each language."""
        ...

    def file_types(self) -> dict[str, int]:
        """Return the number of documents of each type."""
        ...


class CodeSearch(Protocol):
    """What an index knows about code."""

    def documents_with_code(self, languages: Sequence[str]) -> set[int]:
        """Return the documents that have code in any of these languages."""
        ...

    def code_languages(self) -> dict[str, int]:
        """Return the languages of the code, with their frequency."""
        ...


class FilterHelp:
    """Explains filters on one index."""

    def __init__(self, fields: DocumentFilter, counts: Counts, code: CodeSearch) -> None:
        self._fields = fields
        self._counts = counts
        self._code = code

    def explain_empty(
        self, filters: Mapping[str, object], excluded: Mapping[str, object] | None = None
    ) -> str:
        """Explain in a sentence or two why no document passes; "" if some do."""
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
        """Documents that pass; all of them if they are few."""
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
        if known in _TOLD_BY_DATES and (dates := self._fields.dates()):
            first, last = (_day(moment) for moment in dates)
            return f"No document has {name}={_value(value)}; their dates go from {first} to {last}."
        if known == "path":
            return f"No document has a path that matches {_value(value)}."
        if known == "code":
            languages = self._code.code_languages()
            if not languages:
                return "No document has code in a known language."
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
    """The available values: first those similar to the requested one, then the most frequent."""
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
