"""Filters: which documents a search may look into."""

from __future__ import annotations

import fnmatch
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cached_property
from pathlib import PurePath
from typing import Any

from pinakes.errors import UsageError
from pinakes.search.filter_values import date_span, is_range, leaves, matches, parse_date, plain
from pinakes.text.code_languages import is_code_language
from pinakes.text.language import LANGUAGE_NAMES

__all__ = [
    "DocumentFields",
    "allowed_documents",
    "document_date",
    "document_test",
    "filter_name",
    "parse_date",
]

CodeDocuments = Callable[[Sequence[str]], Collection[int]]
"""Tells which documents have code in any of some languages."""

_DATE_FIELDS = ("modified", "date", "updated", "created")
# What the frontmatter may call a field, by the name under which it is asked for.
SYNONYMS = {
    "author": ("author", "authors"),
    "tags": ("tags", "tag"),
    "keywords": ("keywords", "keyword"),
    "aliases": ("aliases", "alias"),
    "category": ("category", "categories", "type"),
    "description": ("description", "summary", "abstract"),
    "created": ("created", "date"),
    "modified": ("modified", "updated"),
}
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
# Of these a string is a list: ``tags: alpha, beta``.
_LISTS = frozenset({"tags", "keywords", "aliases", "category"})
_TYPES = {"markdown": "md", "text": "txt", "word": "docx", "excel": "xlsx", "powerpoint": "pptx"}
_TYPES |= {"htm": "html", "xhtml": "html", "yml": "yaml", "notebook": "ipynb"}
_LANGUAGE_CODES = {name.casefold(): code for code, name in LANGUAGE_NAMES.items()}
_WORD = re.compile(r"\w+")


class DocumentFields:
    """A document's row with its frontmatter, which is read when it is needed."""

    def __init__(self, row: sqlite3.Row) -> None:
        self.row = row

    @property
    def id(self) -> int:
        """The document's row id."""
        return int(self.row["id"])

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The frontmatter by the normal form of its names."""
        return {_key(name): value for name, value in json.loads(self.row["metadata"]).items()}

    def values(self, name: str) -> Iterator[Any]:
        """The single values of a field, under whichever name; ``a.b`` looks into nested ones."""
        for key in SYNONYMS.get(name, (name,)):
            for value in leaves(_nested(self.metadata, key)):
                if name in _LISTS and isinstance(value, str):
                    yield from (part for part in (part.strip() for part in value.split(",")) if part)
                else:
                    yield value


def allowed_documents(
    rows: Iterable[sqlite3.Row],
    filters: Mapping[str, object],
    excluded: Mapping[str, object] | None = None,
    *,
    code: CodeDocuments | None = None,
) -> set[int]:
    """Return the ids of the documents that pass every filter and have nothing of what is excluded.

    A filter with several values is passed with any of them. ``code`` answers filters by programming language.
    """
    if not isinstance(filters, Mapping) or not isinstance(excluded or {}, Mapping):
        raise UsageError("filters must be a mapping of names to values, such as {'type': 'pdf'}.")
    documents = [DocumentFields(row) for row in rows]
    wanted = [document_test(name, value, documents, code) for name, value in filters.items()]
    unwanted = [document_test(name, value, documents, code) for name, value in (excluded or {}).items()]
    return {
        document.id
        for document in documents
        if all(test(document) for test in wanted) and not any(test(document) for test in unwanted)
    }


def filter_name(name: str) -> str:
    """The name under which a filter is known: ``Authors`` > ``author``."""
    key = _key(name)
    return _OTHER_NAMES.get(key, key)


def document_test(
    name: str, value: object, documents: Sequence[DocumentFields], code: CodeDocuments | None = None
) -> Callable[[DocumentFields], bool]:
    """Return the test of one filter. A value that means nothing is refused."""
    wanted = (
        [_written(item) for item in value]
        if isinstance(value, (list, tuple, set, frozenset))
        else [_written(value)]
    )
    if not wanted or not all(item.strip() for item in wanted):
        raise UsageError(f"The filter {name!r} has no value; write it as {name}=VALUE.")
    known = filter_name(name)
    if known == "path":
        return lambda document: any(_path_matches(document.row["source_path"], item) for item in wanted)
    if known == "type":
        names = [item.lower().lstrip(".") for item in wanted]
        types = {"." + _TYPES.get(item, item) for item in names}
        return lambda document: document.row["file_type"].lower() in types
    if known == "language":
        return _language_test(wanted, documents, code)
    if known == "code":
        return _code_test(wanted, code)
    if known in ("after", "before"):
        bound = parse_date(wanted[0])
        if bound is None:
            raise UsageError(f"{wanted[0]!r} is not a date; write it as 2025-01-31.")
        if known == "after":
            return lambda document: document_date(document) >= bound
        return lambda document: document_date(document) < bound
    if known in _DATE_FIELDS:
        return _date_test(known, wanted)
    if known == "title":
        return lambda document: any(item.casefold() in document.row["title"].casefold() for item in wanted)
    if known == "author":
        return lambda document: any(_has_words(item, v) for v in document.values(known) for item in wanted)
    return lambda document: any(
        matches(item, have) or (known == "tags" and plain(have).startswith(f"{plain(item)}/"))
        for have in document.values(known)
        for item in wanted
    )


def _language_test(
    wanted: Sequence[str], documents: Sequence[DocumentFields], code: CodeDocuments | None
) -> Callable[[DocumentFields], bool]:
    """Languages of people; where no document is in it, one of programs: ``language=python``."""
    codes = {_LANGUAGE_CODES.get(item.casefold(), item.casefold()) for item in wanted}
    spoken = {document.row["language"] for document in documents}
    if code and not codes & spoken and all(map(is_code_language, wanted)):
        return _code_test(wanted, code)
    return lambda document: document.row["language"] in codes


def _code_test(wanted: Sequence[str], code: CodeDocuments | None) -> Callable[[DocumentFields], bool]:
    having = code(wanted) if code else ()
    return lambda document: document.id in having


def _date_test(name: str, wanted: Sequence[str]) -> Callable[[DocumentFields], bool]:
    """Days, months, years and ranges of them; ``date`` is whichever date the document has."""
    for item in wanted:
        if date_span(item) is None and not is_range(item):
            raise UsageError(
                f"{item!r} is not a date; write it as 2025-01-31, 2025-01, 2024..2025 or >=2025."
            )

    def dates(document: DocumentFields) -> list[Any]:
        if name == "date":
            return [document_date(document).isoformat()]
        own = [value for value in document.values(name) if parse_date(str(value))]
        # A file is modified when it is written, if it does not say otherwise.
        return own or ([_file_date(document.row).isoformat()] if name == "modified" else [])

    return lambda document: any(matches(item, date) for date in dates(document) for item in wanted)


def document_date(document: sqlite3.Row | DocumentFields) -> datetime:
    """Return the date a document gives itself, or that of its file."""
    fields = document if isinstance(document, DocumentFields) else DocumentFields(document)
    for name in _DATE_FIELDS:
        date = parse_date(str(fields.metadata.get(name) or ""))
        if date:
            return date
    return _file_date(fields.row)


def _file_date(row: sqlite3.Row) -> datetime:
    return datetime.fromtimestamp(row["mtime_ns"] / 1e9, tz=timezone.utc)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().casefold())


def _nested(metadata: Mapping[str, Any], key: str) -> Any:
    if key in metadata:
        return metadata[key]
    first, _, rest = key.partition(".")
    inner = metadata.get(first)
    items = inner if isinstance(inner, list) else [inner]
    found = [
        _nested({_key(name): value for name, value in item.items()}, rest)
        for item in items
        if rest and isinstance(item, Mapping)
    ]
    return found or None


def _has_words(wanted: str, value: Any) -> bool:
    """Whether a name has all words of the wanted one: ``Lovelace`` is in ``Ada Lovelace``."""
    words = set(_WORD.findall(wanted.casefold()))
    return bool(words) and words <= set(_WORD.findall(str(value).casefold()))


def _path_matches(path: str, pattern: str) -> bool:
    """Match a glob against the whole path or its end, or a plain text as folder or file name."""
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"*/{pattern.lstrip('/')}")
    wanted = PurePath(pattern).parts
    if not wanted:
        return True
    parts = PurePath(path).parts
    if PurePath(pattern).is_absolute():
        return parts[: len(wanted)] == wanted
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts)))
