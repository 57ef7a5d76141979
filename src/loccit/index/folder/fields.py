"""Fields of documents: stored with each document, and queried by indexed keys."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from loccit.index.port.filters import (
    DATE,
    NAME_WORD,
    PART,
    FieldTest,
    PathTest,
    Predicate,
    Test,
    document_fields,
    stored_metadata,
)

if TYPE_CHECKING:
    from loccit.index.folder.database import Database

# How far matches of a test are counted, to start with the most selective one.
_COUNTED = 2000
_WILD = re.compile(r"\[!?\]?[^\]]*\]|[*?\[]")
_LARGEST = 1.7e308
# Up to this many values are compared in the query itself, more from a list that is passed to it.
_WRITTEN_OUT = 10


def write_fields(connection: sqlite3.Connection, document: int) -> None:
    """Rewrite the fields of a document from what the record says, inside a transaction."""
    connection.execute("DELETE FROM document_fields WHERE document = ?", (document,))
    path, title, file_type, language, metadata, mtime_ns = connection.execute(
        "SELECT source_path, title, file_type, language, metadata, mtime_ns FROM documents WHERE id = ?",
        (document,),
    ).fetchone()
    found = document_fields(path, title, file_type, language, stored_metadata(metadata), mtime_ns)
    connection.executemany(
        "INSERT INTO document_fields VALUES (?, ?, ?, ?, ?, ?)",
        [(document, name, *value, shown) for name, value, shown in found],
    )


class EmbeddedFilter:
    """Evaluates predicates on the record: SQL compares fields, and paths are checked one by one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def matching(self, predicate: Predicate, limit: int | None = None) -> list[int]:
        """Return documents that pass, up to a limit."""
        least, source, values = self._least(predicate.all_of)
        # What the index itself compared has already passed.
        rest = tuple(test for test in predicate.all_of if test is not least or not _is_exact(test))
        found: dict[int, None] = {}
        for document in self._passing(source, values, Predicate(rest, predicate.none_of)):
            found[document] = None
            if limit is not None and len(found) >= limit:
                break
        return list(found)

    def passing(self, predicate: Predicate, documents: Collection[int]) -> set[int]:
        """Return which of these documents pass."""
        # In order, so that neighbours are found on the same pages.
        given = [json.dumps(sorted(int(document) for document in documents))]
        return set(self._passing("SELECT value AS document FROM json_each(?)", given, predicate))

    def _passing(self, source: str, values: Sequence[Any], predicate: Predicate) -> Iterator[int]:
        tests = [(test, True) for test in predicate.all_of] + [(test, False) for test in predicate.none_of]
        fields = [(test, wanted) for test, wanted in tests if isinstance(test, FieldTest)]
        paths = [(test, wanted) for test, wanted in tests if isinstance(test, PathTest)]
        query, given = f"SELECT c.document FROM ({source}) c", list(values)
        if paths:
            query = (
                f"SELECT d.id, d.source_path FROM ({source}) c CROSS JOIN documents d ON d.id = c.document"
            )
        conditions = []
        for test, wanted in fields:
            condition, more = _condition(test)
            conditions.append(f"{'' if wanted else 'NOT '}{condition}")
            given += more
        if conditions:
            query += " WHERE " + " AND ".join(conditions)
        for row in self._database.stream(query, given):
            if all(test(row[1]) is wanted for test, wanted in paths):
                yield int(row[0])

    def _least(self, tests: Sequence[Test]) -> tuple[Test | None, str, list[Any]]:
        """Return the most selective test, with a query for a superset of the documents that pass it."""
        sources = [(test, *_source(test)) for test in tests]
        if not sources:
            return None, "SELECT id AS document FROM documents", []
        if len(sources) == 1:
            return sources[0]
        counted = (
            self._database.value(f"SELECT COUNT(*) FROM (SELECT 1 FROM ({source}) LIMIT {_COUNTED})", values)
            for _, source, values in sources
        )
        return min(zip(counted, sources, strict=True), key=lambda item: int(item[0]))[1]

    # -- what there is -----------------------------------------------------------------------------------------

    def values(self, names: Collection[str], limit: int) -> dict[str, int]:
        """Return the values of a field as written, with the number of documents that have them, from ``limit`` rows."""
        rows = self._database.rows(
            "SELECT shown, COUNT(*) FROM (SELECT f.shown FROM json_each(?) n CROSS JOIN document_fields f "
            "ON f.name = n.value LIMIT ?) GROUP BY shown",
            (json.dumps(list(names)), limit),
        )
        return {row[0]: row[1] for row in rows}

    def field_names(self, limit: int) -> dict[str, int]:
        """Return the names that frontmatter uses, with the number of documents that have them, up to ``limit``."""
        # From one name to the next, without reading what is between.
        rows = self._database.rows(
            "WITH RECURSIVE names (name) AS (SELECT MIN(name) FROM document_fields UNION ALL "
            "SELECT (SELECT MIN(f.name) FROM document_fields f WHERE f.name > names.name) FROM names "
            "WHERE names.name IS NOT NULL) "
            "SELECT name, (SELECT COUNT(DISTINCT document) FROM (SELECT f.document FROM document_fields f "
            "WHERE f.name = names.name LIMIT :limit)) FROM names WHERE name IS NOT NULL LIMIT :limit",
            {"limit": limit},
        )
        return {row[0]: row[1] for row in rows if "." not in row[0] and row[0][:1] != ":"}

    def dates(self) -> tuple[float, float] | None:
        """Return the first and the last date of documents; None if there are none."""
        first, last = (
            self._database.value(
                f"SELECT {end}(moment) FROM document_fields WHERE name = ? AND moment IS NOT NULL", (DATE,)
            )
            for end in ("MIN", "MAX")
        )
        return None if first is None else (float(first), float(last))

    def dates_of(self, documents: Collection[int]) -> dict[int, float]:
        """Return the dates of some documents."""
        rows = self._database.rows(
            "SELECT f.document, f.moment FROM json_each(?) c CROSS JOIN document_fields f "
            "ON f.document = c.value AND f.name = ? WHERE f.moment IS NOT NULL",
            (json.dumps([int(document) for document in documents]), DATE),
        )
        return {int(row[0]): float(row[1]) for row in rows}


def _spans(spans: Sequence[tuple[float, float]]) -> str:
    # JSON has no infinity.
    return json.dumps([[max(-_LARGEST, min(_LARGEST, end)) for end in span] for span in spans])


_LOW, _HIGH = "json_extract(j.value, '$[0]')", "json_extract(j.value, '$[1]')"


def _ways(test: FieldTest) -> list[tuple[str, str]]:
    """The ways to pass: the wanted values, as a JSON list, and the condition on a field ``f`` and an item ``j``."""
    ways = [
        (json.dumps(test.values), "f.value = j.value"),
        (json.dumps(test.holding), "instr(f.value, j.value) > 0"),
        (
            json.dumps([[f" {word} " for word in words] for words in test.words]),
            "NOT EXISTS (SELECT 1 FROM json_each(j.value) w WHERE instr(f.value, w.value) = 0)",
        ),
        (_spans(test.numbers), f"f.number >= {_LOW} AND f.number < {_HIGH}"),
        (_spans(test.moments), f"f.moment >= {_LOW} AND f.moment < {_HIGH}"),
        (_spans(test.moments_apart), f"f.moment >= {_LOW} AND f.moment < {_HIGH} AND f.number IS NULL"),
    ]
    return [(items, condition) for items, condition in ways if items != "[]"]


def _is_exact(test: Test) -> bool:
    """Whether the index returns only documents that pass."""
    return isinstance(test, FieldTest) and not test.words


def _condition(test: FieldTest) -> tuple[str, list[Any]]:
    """The SQL condition on a candidate ``c`` for a test."""
    parts: list[str] = []
    values: list[Any] = []
    for items, condition in _ways(test):
        if condition == "f.value = j.value":
            # Thousands of values are looked up, not scanned.
            parts.append("f.value IN (SELECT value FROM json_each(?))")
            values.append(items)
            continue
        listed = json.loads(items)
        if len(listed) > _WRITTEN_OUT or "w.value" in condition:
            parts.append(f"EXISTS (SELECT 1 FROM json_each(?) j WHERE {condition})")
            values.append(items)
            continue
        for item in listed:
            ends = item if isinstance(item, list) else [item]
            parts.append(condition.replace(_LOW, "?").replace(_HIGH, "?").replace("j.value", "?"))
            values += ends
    marks = ",".join("?" * len(test.names))
    # The plus makes SQLite check the fields of the candidate, and not those of all documents in a range.
    passed = " OR ".join(f"({part})" for part in parts).replace("f.number", "+f.number") or "0"
    passed = passed.replace("f.moment", "+f.moment")
    condition = (
        f"EXISTS (SELECT 1 FROM document_fields f WHERE f.document = c.document AND f.name IN ({marks}) "
        f"AND ({passed}))"
    )
    return condition, [*test.names, *values]


def _source(test: Test) -> tuple[str, list[str]]:
    """A query for the documents that pass a test, using an index; it may return others, and duplicates."""
    return _field_source(test) if isinstance(test, FieldTest) else _path_source(test)


def _field_source(test: FieldTest) -> tuple[str, list[str]]:
    queries, values = [], []
    for items, condition in _ways(test):
        names: Sequence[str] = test.names
        if test.words and "w.value" in condition:
            # By the longest word, usually the rarest.
            names, condition = (NAME_WORD,), "f.value = j.value"
            items = json.dumps([max(words, key=len) for words in test.words])
        queries.append(
            "SELECT f.document FROM json_each(?) n CROSS JOIN json_each(?) j CROSS JOIN document_fields f "
            f"ON f.name = n.value AND {condition}"
        )
        values += [json.dumps(names), items]
    return " UNION ALL ".join(queries) or "SELECT 0 AS document WHERE 0", values


def _path_source(test: PathTest) -> tuple[str, list[str]]:
    given = [PurePath(path) for path in test.paths]
    whole = [str(path).rstrip(os.sep) for path in given if path.is_absolute()]
    last = [path.name for path in given if not path.is_absolute()]
    patterns = []
    for pattern in test.patterns:
        # Between the separators of a pattern, a part without wildcards is in every matching path.
        literal = [part for part in pattern.split("/") if part and not _WILD.search(part)]
        if literal:
            last.append(literal[-1])
        else:
            patterns.append(_WILD.sub(lambda found: "*" if found[0] == "*" else "?", pattern))
    queries, values = [], []
    if last:
        queries.append(
            "SELECT f.document FROM json_each(?) j CROSS JOIN document_fields f "
            "ON f.name = ? AND f.value = j.value"
        )
        values += [json.dumps(last), PART]
    if whole:
        ends = [[path, path + os.sep, path + chr(ord(os.sep) + 1)] for path in whole]
        queries.append(
            "SELECT d.id AS document FROM json_each(?) j CROSS JOIN documents d ON d.source_path = "
            "json_extract(j.value, '$[0]') UNION ALL SELECT d.id FROM json_each(?) j CROSS JOIN documents d "
            "ON d.source_path >= json_extract(j.value, '$[1]') AND d.source_path < json_extract(j.value, '$[2]')"
        )
        values += [json.dumps(ends)] * 2
    if patterns:
        queries.append(
            "SELECT d.id AS document FROM json_each(?) j CROSS JOIN documents d "
            "ON d.source_path GLOB j.value OR d.source_path GLOB '*/' || ltrim(j.value, '/')"
        )
        values.append(json.dumps(patterns))
    if "" in last:
        # A path without any part, which every document passes.
        return "SELECT id AS document FROM documents", []
    return " UNION ALL ".join(queries) or "SELECT 0 AS document WHERE 0", values
