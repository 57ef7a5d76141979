"""Filters: which documents to search, as a predicate that an index can evaluate itself.

What documents are filtered by is stored with them as fields: the frontmatter by its normalised names and, under names
that no frontmatter can have, properties of the file and of its text. ``document_fields`` makes these fields for
writers; a ``Predicate`` names and compares them for readers.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol, TypeAlias

from loccit.index.port.values import FieldValue, field_value, leaves, parse_date

Span: TypeAlias = tuple[float, float]

# Fields that are not from the frontmatter. Normalised names have no leading colon.
TYPE, LANGUAGE, TITLE, PART, NAME, NAME_WORD = ":type", ":language", ":title", ":part", ":name", ":word"
# The parents of a tag: ``project`` of ``project/alpha``.
TAG_ABOVE = ":above"
DATE, CREATED, MODIFIED = ":date", ":created", ":modified"

DATE_FIELDS = ("modified", "date", "updated", "created")
# Names of a field in frontmatter, by the name in filters.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "author": ("author", "authors"),
    "tags": ("tags", "tag"),
    "keywords": ("keywords", "keyword"),
    "aliases": ("aliases", "alias"),
    "category": ("category", "categories", "type"),
    "description": ("description", "summary", "abstract"),
    "created": ("created", "date"),
    "modified": ("modified", "updated"),
}
# In these fields a string is a list: ``tags: alpha, beta``.
_LISTS = frozenset(name for key in ("tags", "keywords", "aliases", "category") for name in SYNONYMS[key])
_WORD = re.compile(r"\w+")
_SHOWN = 60
# Frontmatter is a few lines; more than this is data.
_MAX_VALUES = 5000
_MAX_IN_FIELD = 1000
_MAX_DEPTH = 8
_MAX_TEXT = 1000


class Field(NamedTuple):
    """A value of a document: its name, its comparable form, and the beginning of the original text."""

    name: str
    value: FieldValue
    shown: str


def document_fields(
    source_path: str, title: str, file_type: str, language: str, metadata: Mapping[str, Any], mtime_ns: int
) -> list[Field]:
    """Return everything that a document can be filtered by, without duplicates."""
    found: dict[tuple[str, str], Field] = {}

    def add(name: str, value: object, text: str | None = None) -> None:
        read = field_value(value) if text is None else FieldValue(text[:_MAX_TEXT], None, None)
        if len(found) < _MAX_VALUES:
            found.setdefault((name, read.text), Field(name, read, str(value)[:_SHOWN]))

    add(TYPE, file_type.removeprefix("."), file_type.lower())
    add(LANGUAGE, language, language)
    add(TITLE, title, title.casefold())
    date = document_date(metadata, mtime_ns)
    add(DATE, date.isoformat())
    named = _named(metadata)
    for asked, stored in (("created", CREATED), ("modified", MODIFIED)):
        dates = [value for name in SYNONYMS[asked] for value in named.get(name, ()) if parse_date(str(value))]
        # The modification date of a document is that of its file, unless stated otherwise.
        for value in dates or ([_file_date(mtime_ns).isoformat()] if asked == "modified" else []):
            add(stored, value)
    path = PurePath(source_path)
    for part in path.parts:
        if part != path.anchor:
            add(PART, part, part)
    for name in SYNONYMS["author"]:
        for value in named.get(name, ()):
            # With spaces around each word, to match whole words; and each word separately, to look it up by.
            words = name_words(str(value)[:_MAX_TEXT])
            add(NAME, value, f" {' '.join(words)} ")
            for word in words:
                add(NAME_WORD, word, word)
    for name, values in named.items():
        for value in values:
            add(name, value)
            if name in SYNONYMS["tags"]:
                tag = field_value(value).text
                for slash in [at for at, sign in enumerate(tag) if sign == "/"][:_MAX_DEPTH]:
                    add(TAG_ABOVE, tag[:slash], tag[:slash])
    return list(found.values())


def field_key(name: object) -> str:
    """The normalised name of a field.

    >>> field_key("Due Date"), field_key("review-by")
    ('due_date', 'review_by')
    """
    return re.sub(r"[\s-]+", "_", str(name).strip().casefold()).lstrip(":")


def name_words(name: str) -> tuple[str, ...]:
    """The words of a person's name."""
    return tuple(dict.fromkeys(_WORD.findall(name.casefold())))


def document_date(metadata: Mapping[str, Any], mtime_ns: int) -> datetime:
    """Return the date stated in a document, or that of its file."""
    by_key = {field_key(name): value for name, value in metadata.items()}
    for name in DATE_FIELDS:
        date = parse_date(str(by_key.get(name) or ""))
        if date:
            return date
    return _file_date(mtime_ns)


def _file_date(mtime_ns: int) -> datetime:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, tz=timezone.utc)
    except (ValueError, OverflowError, OSError):
        # A clock that was never set.
        return datetime.fromtimestamp(0, tz=timezone.utc)


def _named(metadata: Mapping[str, Any], depth: int = 0) -> dict[str, list[Any]]:
    """The single values of the frontmatter by name; ``a.b`` is b within a, and a has it too."""
    found: dict[str, list[Any]] = {}
    by_key = {field_key(name): value for name, value in metadata.items()}
    for key, value in by_key.items():
        items = value if isinstance(value, list) else [value]
        if "." not in key and depth < _MAX_DEPTH:
            for item in items[:_MAX_IN_FIELD]:
                for name, inner in _named(item, depth + 1).items() if isinstance(item, Mapping) else ():
                    found.setdefault(f"{key}.{name}", []).extend(inner)
    for key, value in by_key.items():
        found[key] = list(_leaves(value, split=depth == 0 and key in _LISTS))[:_MAX_IN_FIELD]
    return found


def _leaves(value: Any, *, split: bool) -> Iterator[Any]:
    for leaf in leaves(value):
        if split and isinstance(leaf, str):
            yield from (part for part in (part.strip() for part in leaf.split(",")) if part)
        else:
            yield leaf


# -- questions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldTest:
    """Passed by a document with any of the wanted values under any of some names.

    ``values`` are whole ones, ``holding`` substrings, ``words`` words of a name that must all occur in one. Numbers and
    moments are in ranges; ``moments_apart`` are for values that are not numbers.
    """

    names: tuple[str, ...]
    values: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[Span, ...] = ()
    moments: tuple[Span, ...] = ()
    moments_apart: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class PathTest:
    """Passed by a document whose path is, ends with, or is below one of some, or matches one of some patterns.

    >>> test = PathTest(("docs/2024", "/home/ada"), ("*.txt",))
    >>> [test(path) for path in ("/x/docs/2024/a.md", "/home/ada/b.md", "/x/c.txt", "/x/docs/d.md")]
    [True, True, True, False]
    """

    paths: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    def __call__(self, path: str) -> bool:
        """Whether a path passes."""
        if self.paths:
            absolute, runs, lengths = _known_paths(self.paths)
            parts = _parts(path)
            if absolute and any(parts[:end] in absolute for end in range(len(parts) + 1)):
                return True
            if any(parts[at : at + n] in runs for n in lengths for at in range(len(parts) - n + 1)):
                return True
        return any(pattern.match(path) for pattern in _known_patterns(self.patterns))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(_SEPARATORS, path) if part and part != ".")


_SEPARATORS = re.compile(r"[/\\\\]" if os.sep == "\\" else "/")


@lru_cache(maxsize=32)
def _known_paths(
    paths: tuple[str, ...],
) -> tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]], frozenset[int]]:
    """The parts of absolute paths and of relative ones, and the lengths of the latter."""
    whole = frozenset(_parts(path) for path in paths if PurePath(path).is_absolute())
    runs = frozenset(_parts(path) for path in paths if not PurePath(path).is_absolute())
    return whole, runs, frozenset(map(len, runs))


@lru_cache(maxsize=32)
def _known_patterns(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Patterns for the whole path, and for its end after a separator."""
    forms = (form for pattern in patterns for form in (pattern, f"*/{pattern.lstrip('/')}"))
    return tuple(re.compile(fnmatch.translate(os.path.normcase(form))) for form in forms)


Test: TypeAlias = FieldTest | PathTest


@dataclass(frozen=True, slots=True)
class Predicate:
    """Passed by documents that pass all of some tests, and none of others."""

    all_of: tuple[Test, ...] = ()
    none_of: tuple[Test, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to pass."""
        return bool(self.all_of or self.none_of)


class DocumentFilter(Protocol):
    """The part of an index that knows the fields of documents."""

    def matching(self, predicate: Predicate, limit: int | None = None) -> list[int]:
        """Return documents that pass, up to a limit."""
        ...

    def passing(self, predicate: Predicate, documents: Collection[int]) -> set[int]:
        """Return which of these documents pass."""
        ...

    def values(self, names: Collection[str], limit: int) -> dict[str, int]:
        """Return the values of a field as written, with the number of documents that have them, from ``limit`` rows."""
        ...

    def field_names(self, limit: int) -> dict[str, int]:
        """Return the names that frontmatter uses, with the number of documents that have them, up to ``limit``."""
        ...

    def dates(self) -> tuple[float, float] | None:
        """Return the first and the last date of documents; None if there are none."""
        ...

    def dates_of(self, documents: Collection[int]) -> dict[int, float]:
        """Return the dates of some documents."""
        ...


class Passing(AbstractSet[int]):
    """The documents that pass, if they are many: checked on demand, and only listed if necessary."""

    def __init__(self, fields: DocumentFilter, predicate: Predicate, at_least: int) -> None:
        self._fields = fields
        self._predicate = predicate
        self._at_least = at_least
        self._known: dict[int, bool] = {}
        self._all: set[int] | None = None

    def among(self, documents: Iterable[int]) -> set[int]:
        """Return which of these documents pass."""
        asked = set(documents)
        if self._all is not None:
            return asked & self._all
        if new := asked - self._known.keys():
            passed = self._fields.passing(self._predicate, new)
            self._known.update((document, document in passed) for document in new)
        return {document for document in asked if self._known[document]}

    def listed(self) -> set[int]:
        """Return all of them."""
        if self._all is None:
            self._all = set(self._fields.matching(self._predicate))
        return self._all

    def __contains__(self, document: object) -> bool:
        """Whether a document passes."""
        return isinstance(document, int) and bool(self.among([document]))

    def __iter__(self) -> Iterator[int]:
        """Iterate over all of them, which has to list them."""
        return iter(self.listed())

    def __len__(self) -> int:
        """A lower bound of their number; exact once they are listed."""
        return self._at_least if self._all is None else len(self._all)

    @classmethod
    def _from_iterable(cls, documents: Iterable[int]) -> AbstractSet[int]:  # type: ignore[override]
        return set(documents)


def among(documents: Iterable[int], allowed: Collection[int] | None) -> set[int]:
    """Return which of these documents are allowed; None allows all."""
    if allowed is None:
        return set(documents)
    if isinstance(allowed, Passing):
        return allowed.among(documents)
    wanted = allowed if isinstance(allowed, (set, frozenset)) else set(allowed)
    return {document for document in documents if document in wanted}


def stored_metadata(text: str) -> dict[str, Any]:
    """Parse frontmatter as stored in an index."""
    found = json.loads(text)
    return found if isinstance(found, dict) else {}
