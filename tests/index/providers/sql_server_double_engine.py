"""What the double of SQL Server does with a statement: it knows the store's statements, and refuses all others.

The tables are dictionaries. What the server refuses is refused with its numbers: an unknown statement (102), a table
that is there (2714) or not (208), a vector of another length (42204), a permission that is missing (262), text search
that is not installed (7609) or a table without an index for it (7601). Words are found only after ``populate``: the
server indexes text in the background.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.index.providers.sql_server_double_statements import PAYLOAD as _PAYLOAD
from tests.index.providers.sql_server_double_statements import STATEMENTS
from tests.index.providers.sql_server_double_tables import Table, bm25, whole
from tests.index.providers.sql_server_double_tds import Answer, ServerError

_WHOLE_COLUMNS = [("id", "text"), ("document", "text"), ("vector", "long"), *((n, "long") for n in _PAYLOAD)]
_ENTRY = [("key", "text"), ("kind", "text"), ("group", "text"), ("value", "long")]
MAX_DIMENSION = 1998


class SqlEngine:
    """The tables of a database; safe to use from several connections."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.schemas = {"dbo"}
        self.may_create = True
        self.full_text_installed = True
        self.catalogs: set[str] = set()
        self._guard = threading.Lock()

    def run(self, statement: str, values: list[Any]) -> list[Answer]:
        """Carry out one statement."""
        for name, pattern in STATEMENTS.items():
            found = pattern.fullmatch(statement)
            if found:
                handler: Callable[..., Answer] = getattr(self, f"_{name}")
                with self._guard:
                    return [handler(values, **found.groupdict())]
        raise ServerError(102, f"Incorrect syntax near '{statement[:60]}'.", 15)

    def populate(self) -> None:
        """Let the background indexing catch up."""
        with self._guard:
            for table in self.tables.values():
                if table.full_text:
                    rows = ((key, row["words"]) for key, row in table.rows.items())
                    table.words = {key: re.findall(r"\w+", words.lower()) for key, words in rows if words}

    def _language(self, values: list[Any]) -> Answer:
        return Answer()

    def _has_full_text(self, values: list[Any]) -> Answer:
        return Answer([("installed", "int")], [(int(self.full_text_installed),)])

    # -- tables ----------------------------------------------------------------------------------------------

    def _table(self, name: str) -> Table:
        if name not in self.tables:
            raise ServerError(208, f"Invalid object name '{name}'.")
        return self.tables[name]

    def _columns(self, values: list[Any]) -> Answer:
        table = self.tables.get(values[0], Table({}))
        rows = [
            (name, kind, table.dimension if kind == "vector" else 0) for name, kind in table.columns.items()
        ]
        return Answer([("name", "text"), ("type", "text"), ("dimensions", "int")], rows)

    def _permitted(self, what: str) -> None:
        if not self.may_create:
            raise ServerError(262, f"{what} permission denied in database 'library'.", 14)

    def _make_schema(self, values: list[Any], name: str) -> Answer:
        self._permitted("CREATE SCHEMA")
        self.schemas.add(name)
        return Answer()

    def _make(self, name: str, table: Table) -> Answer:
        self._permitted("CREATE TABLE")
        if name.partition("]")[0][1:] not in self.schemas:
            raise ServerError(
                2760, "The specified schema name either does not exist or you do not have permission."
            )
        if name in self.tables:
            raise ServerError(2714, f"There is already an object named '{name}' in the database.")
        self.tables[name] = table
        return Answer()

    def _make_points(self, values: list[Any], table: str, length: str) -> Answer:
        if not 1 <= int(length) <= MAX_DIMENSION:
            raise ServerError(
                42205, f"The dimension {length} of type vector is not between 1 and {MAX_DIMENSION}."
            )
        kinds = {"id": "char", "document": "varchar", "vector": "vector"}
        kinds.update(dict.fromkeys((*_PAYLOAD, "words"), "nvarchar"))
        return self._make(table, Table(kinds, int(length)))

    def _make_entries(self, values: list[Any], table: str) -> Answer:
        return self._make(
            table, Table({"key": "varchar", "kind": "varchar", "group": "varchar", "value": "nvarchar"})
        )

    def _option(self, values: list[Any], table: str) -> Answer:
        self._table(table)
        return Answer()

    def _make_catalog(self, values: list[Any], name: str) -> Answer:
        self._installed()
        self._permitted("CREATE FULLTEXT CATALOG")
        self.catalogs.add(name)
        return Answer()

    def _make_full_text(self, values: list[Any], table: str, name: str) -> Answer:
        self._installed()
        if name not in self.catalogs:
            raise ServerError(7641, f"Full-Text catalog '{name}' does not exist in database 'library'.")
        self._table(table).full_text = True
        return Answer()

    def _installed(self) -> None:
        if not self.full_text_installed:
            text = "Full-Text Search is not installed, or a full-text component cannot be loaded."
            raise ServerError(7609, text, 17)

    def _drop(self, values: list[Any], table: str) -> Answer:
        self.tables.pop(table, None)
        return Answer()

    # -- points ----------------------------------------------------------------------------------------------

    def _vector(self, numbers: list[float], length: int) -> Any:
        if len(numbers) != length:
            raise ServerError(42204, f"The vector dimensions {length} and {len(numbers)} do not match.")
        return np.asarray(numbers, np.float32)

    def _put_points(self, values: list[Any], table: str, length: str) -> Answer:
        found, rows = self._table(table), {}
        for given in json.loads(values[0]):
            if given["id"] in rows:
                raise ServerError(
                    8672, "The MERGE statement attempted to UPDATE or DELETE the same row more than once."
                )
            if any(given[name] is None for name in ("id", "document", *_PAYLOAD)):
                raise ServerError(515, f"Cannot insert the value NULL into a column of table '{table}'.")
            vector = given["vector"]
            given["vector"] = None if vector is None else self._vector(vector, int(length))
            if vector is not None and int(length) != found.dimension:
                raise ServerError(
                    42204, f"The vector dimensions {found.dimension} and {length} do not match."
                )
            rows[given["id"]] = given
        found.rows.update(rows)
        return Answer(count=len(rows))

    def _count(self, values: list[Any], table: str) -> Answer:
        return Answer([("number", "int")], [(len(self._table(table).rows),)])

    def _delete_points(self, values: list[Any], table: str) -> Answer:
        rows = self._table(table).rows
        return Answer(count=sum(rows.pop(name, None) is not None for name in json.loads(values[0])))

    def _fetch(self, values: list[Any], table: str) -> Answer:
        rows = self._table(table).rows
        return Answer(_WHOLE_COLUMNS, [whole(rows[name]) for name in json.loads(values[0]) if name in rows])

    def _scan_ids(self, values: list[Any], table: str, some: str | None) -> Answer:
        return Answer(
            _WHOLE_COLUMNS[:2], [(row["id"], row["document"]) for row in self._after(values, table)]
        )

    def _scan_points(self, values: list[Any], table: str, some: str | None) -> Answer:
        return Answer(_WHOLE_COLUMNS, [whole(row) for row in self._after(values, table)])

    def _after(self, values: list[Any], table: str) -> list[dict[str, Any]]:
        limit, *document, after = values
        rows = (
            row
            for name, row in sorted(self._table(table).rows.items())
            if name > after and row["document"] in (document or [row["document"]])
        )
        return list(itertools.islice(rows, limit))

    def _search(self, values: list[Any], table: str, length: str, some: str | None) -> Answer:
        found = self._table(table)
        query = self._vector(json.loads(values[1]), int(length))
        allowed = set(json.loads(values[2])) if some else None
        rows = [
            row
            for row in found.rows.values()
            if row["vector"] is not None and (allowed is None or row["document"] in allowed)
        ]
        columns = [("id", "text"), ("distance", "float")]
        if not rows:
            return Answer(columns, [])
        if int(length) != found.dimension:
            raise ServerError(42204, f"The vector dimensions {found.dimension} and {length} do not match.")
        matrix = np.stack([row["vector"] for row in rows]).astype(np.float64)
        cosines = matrix @ query / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(query))
        distances = sorted(
            (1.0 - float(cosine), row["id"]) for cosine, row in zip(cosines, rows, strict=True)
        )
        return Answer(columns, [(name, distance) for distance, name in distances[: values[0]]])

    def _keyword(self, values: list[Any], table: str, some: str | None) -> Answer:
        found = self._table(table)
        self._installed()
        if not found.full_text:
            text = f"Cannot use a CONTAINS or FREETEXT predicate on table '{table}' because it is not full-text indexed."
            raise ServerError(7601, text)
        if len(values[1]) > 4000:
            raise ServerError(7619, "The search condition is too long.")
        allowed = set(json.loads(values[2])) if some else None
        scores = bm25(found.words, re.findall(r"\w+", values[1].lower()))
        ranked = sorted(
            (-score, name)
            for name, score in scores.items()
            if name in found.rows and (allowed is None or found.rows[name]["document"] in allowed)
        )
        return Answer(
            [("id", "text"), ("score", "int")], [(name, -score) for score, name in ranked[: values[0]]]
        )

    def _delete_entries(self, values: list[Any], table: str) -> Answer:
        return self._delete_points(values, table)

    # -- entries ---------------------------------------------------------------------------------------------

    def _put_entries(self, values: list[Any], table: str) -> Answer:
        rows = {row["key"]: row for row in json.loads(values[0])}
        self._table(table).rows.update(rows)
        return Answer(count=len(rows))

    def _get(self, values: list[Any], table: str) -> Answer:
        rows = self._table(table).rows
        found = [tuple(rows[key][name] for name, _ in _ENTRY) for key in json.loads(values[0]) if key in rows]
        return Answer(_ENTRY, found)

    def _scan_entries(self, values: list[Any], table: str, some: str | None) -> Answer:
        limit, kind, *group, after = values
        rows = [
            tuple(row[name] for name, _ in _ENTRY)
            for key, row in sorted(self._table(table).rows.items())
            if key > after and row["kind"] == kind and (not some or row["group"] == group[0])
        ]
        return Answer(_ENTRY, rows[:limit])

    def _claim(self, values: list[Any], table: str) -> Answer:
        rows = self._table(table).rows
        key = values[0]
        if key in rows:
            return Answer(_ENTRY[:1], [])
        rows[key] = dict(zip(("key", "kind", "group", "value"), values, strict=False))
        return Answer(_ENTRY[:1], [(key,)])

    def _exchange(self, values: list[Any], table: str) -> Answer:
        kind, group, value, key, expected, same = values
        row = self._table(table).rows.get(key)
        # To the server, texts are equal that differ in spaces at their end; the second comparison is of lengths.
        if row is None or row["value"].rstrip(" ") != expected.rstrip(" ") or len(row["value"]) != len(same):
            return Answer(_ENTRY[:1], [])
        row.update(kind=kind, group=group, value=value)
        return Answer(_ENTRY[:1], [(key,)])
