"""SQL Server: points and entries in two tables of a database, with the type vector of SQL Server 2025 and Azure SQL.

Vectors are compared exactly, which the server does in parallel. Its approximate index (CREATE VECTOR INDEX and
VECTOR_SEARCH) is a preview with limits on what may be done to its table, and is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreAccessError, StoreError, StoreSchemaError, UsageError
from pinakes.stores.providers.batches import batches, sized_batches
from pinakes.stores.providers.sql_server.connection import Link, ThereAlready, read_address
from pinakes.stores.providers.sql_server.statements import PAYLOAD, Statements
from pinakes.stores.providers.whole_words import whole_words
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

# What fits into a row of the server's.
MAX_DIMENSION = 1998
_ROWS = 500
_KEYS = 2_000
# How much text a statement carries at most, in characters.
_TEXT = 4_000_000
# How long the search condition of a full text search may be.
_CONDITION = 3_900
_SCHEMA = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_POINT_COLUMNS = {"id", "document", "vector", *PAYLOAD, "words"}
_ENTRY_COLUMNS = {"key", "kind", "group", "value"}


class SqlServerStore(Store):
    """Two tables, ``<collection>_points`` and ``<collection>_entries``."""

    provider = "sql-server"
    # Full text is indexed in the background, a little after the rows are there.
    capabilities = Capabilities(keyword=True, claims=True, eventual=True, max_filter=5_000, batch=_ROWS)
    known_options: ClassVar[Mapping[str, str]] = {
        "schema": "The schema of the database that holds the tables; made when it is missing (dbo).",
        "tls": "false: speak to a server on another machine without encryption (true).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        tls = settings.option("tls", True)
        address = read_address(settings.connection_string, settings.api_key, provider=self.provider, tls=tls)
        schema = settings.option("schema", "dbo")
        if not _SCHEMA.fullmatch(schema):
            raise UsageError(
                f"The option schema of the database provider {self.provider} must be letters, digits and "
                f"underscores, not {schema!r}."
            )
        self._say = Statements(schema, settings.collection)
        self._link = Link(address, self.provider, settings.timeout)
        self._length: int | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Read it from the table; a table of that name that is not ours is an error."""
        found = {name: (kind, length) for name, kind, length in self._columns(self._say.points)}
        if not found:
            return None
        kind, length = found.get("vector", ("", 0))
        if not found.keys() >= _POINT_COLUMNS or kind != "vector":
            raise self._foreign(self._say.points)
        self._length = int(length)
        return self._length

    def create(self, dimension: int) -> None:
        """Make the schema, the tables and the full text index, as far as they are missing."""
        if not 0 < dimension <= MAX_DIMENSION:
            raise StoreError(
                f"The database provider {self.provider} takes vectors of up to {MAX_DIMENSION:,} numbers, not "
                f"{dimension:,}. Use a smaller model."
            )
        present = self.dimension()
        if present is None:
            if self._say.schema != "dbo":
                self._make(self._say.make_schema)
            self._make(self._say.make_points(dimension))
            present = self.dimension()
            if present is None:
                raise StoreAccessError(
                    f"The database provider {self.provider} cannot see the table {self._say.points} that it made: "
                    "the user in connection_string has no permission to."
                )
            self._make(self._say.texts_apart)
        if present != dimension:
            raise StoreSchemaError(
                f"The collection {self.settings.collection} of the database provider {self.provider} has vectors of "
                f"{present} numbers; the model makes {dimension}. Use the same model, or another collection."
            )
        if not self._columns(self._say.entries):
            self._make(self._say.make_entries)
        if {name for name, _, _ in self._columns(self._say.entries)} != _ENTRY_COLUMNS:
            raise self._foreign(self._say.entries)
        if self.settings.native != "none":
            self._make_full_text()

    def _make_full_text(self) -> None:
        if self._link.rows(self._say.has_full_text)[0][0] != 1:
            raise StoreError(
                f"The database provider {self.provider} has no Full-Text Search installed on its server. Install it, "
                "or set native to none, so that the keyword search is ours."
            )
        self._make(self._say.make_catalog)
        self._make(self._say.make_full_text)

    def _make(self, statement: str) -> None:
        try:
            self._link.rows(statement)
        except ThereAlready:
            return
        except StoreError:
            # Two who make the same at once: one is told no, and the other has made it.
            if not statement.startswith("IF NOT EXISTS"):
                raise
            self._link.rows(statement)

    def _columns(self, table: str) -> list[Sequence[Any]]:
        return self._link.rows(self._say.columns, table)

    def _foreign(self, table: str) -> StoreSchemaError:
        return StoreSchemaError(
            f"The database provider {self.provider} finds a table {table} that is not Pinakes'. Use another "
            "collection, or the option schema."
        )

    def drop(self) -> None:
        """Delete both tables, unless they are somebody else's."""
        self.dimension()
        columns = {name for name, _, _ in self._columns(self._say.entries)}
        if columns and columns != _ENTRY_COLUMNS:
            raise self._foreign(self._say.entries)
        self._link.rows(self._say.drop_points)
        self._link.rows(self._say.drop_entries)
        self._length = None

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, some hundreds in a statement."""
        if not points:
            return
        length = self._length or self.dimension()
        if length is None:
            raise StoreSchemaError(
                f"The database provider {self.provider} has no table {self._say.points}: it was dropped. Index again."
            )
        latest = {point.id: _row(point) for point in points}
        statement = self._say.put_points(length)
        for batch in _batches(latest.values()):
            self._link.rows(statement, batch)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        for batch in _lists(ids):
            self._link.rows(self._say.delete_points, batch)

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return whole points."""
        return [
            _point(row) for batch in _lists(ids) for row in self._link.rows(self._say.fetch_points, batch)
        ]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Walk along the ids."""
        statement = self._say.scan_points(document=document is not None, whole=vectors)
        chosen = [] if document is None else [document]
        last = ""
        while rows := self._link.rows(statement, _ROWS if vectors else _KEYS, *chosen, last):
            last = rows[-1][0]
            yield [_point(row) if vectors else Point(row[0], row[1]) for row in rows]

    def count(self) -> int:
        """Return how many points there are."""
        return int(self._link.rows(self._say.count_points)[0][0])

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Compare the vector with every point that may be an answer."""
        if documents is not None and not documents:
            return []
        statement = self._say.search(len(vector), documents=documents is not None)
        chosen = [] if documents is None else [json.dumps(list(documents))]
        rows = self._link.rows(statement, limit, _numbers(vector), *chosen)
        return [Found(name, 1.0 - float(distance)) for name, distance in rows]

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Ask full text search; of very many words the first count."""
        condition = " ".join(dict.fromkeys(whole_words(terms)))
        if len(condition) > _CONDITION:
            condition = condition[: condition.rfind(" ", 0, _CONDITION)]
        if not condition or (documents is not None and not documents):
            return []
        statement = self._say.keyword(documents=documents is not None)
        chosen = [] if documents is None else [json.dumps(list(documents))]
        rows = self._link.rows(statement, limit, condition, *chosen)
        # The server's ranks are whole numbers from 0, and 0 is a hit as well.
        return [Found(name, float(rank) + 1.0) for name, rank in rows]

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        latest = {entry.key: json.dumps(entry._asdict(), ensure_ascii=False) for entry in entries}
        for batch in _batches(latest.values()):
            self._link.rows(self._say.put_entries, batch)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return values by key."""
        say = self._say.get_entries
        return {row[0]: row[1] for batch in _lists(keys) for row in self._link.rows(say, batch)}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Walk along the keys."""
        statement = self._say.scan_entries(group=group is not None)
        chosen = [kind] if group is None else [kind, group]
        last = ""
        while rows := self._link.rows(statement, _ROWS, *chosen, last):
            last = rows[-1][0]
            yield [Entry(*row) for row in rows]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        for batch in _lists(keys):
            self._link.rows(self._say.remove_entries, batch)

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry where it is as expected, in one statement that locks the key."""
        key, kind, group, value = entry
        if expected is None:
            return bool(self._link.rows(self._say.claim, key, kind, group, value, key))
        return bool(self._link.rows(self._say.exchange, kind, group, value, key, expected, expected))


def _numbers(vector: Vectors) -> str:
    """Write a vector as JSON with as many digits as tell all single precision numbers apart."""
    return "[" + ",".join(map("%.9g".__mod__, vector.tolist())) + "]"


def _row(point: Point) -> str:
    """Write a point as a JSON object; the vector is put in as it is, for json takes three times as long."""
    values: dict[str, Any] = {name: _wide(getattr(point, name)) for name in PAYLOAD}
    values["words"] = " ".join(whole_words(point.terms)) or None
    vector = "null" if point.vector is None else _numbers(point.vector)
    rest = json.dumps({"id": point.id, "document": point.document, **values}, ensure_ascii=False)
    return f'{{"vector":{vector},{rest[1:]}'


def _wide(text: str) -> str:
    """Replace what is no character (half a surrogate pair, from a file name that is no Unicode)."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _point(row: Sequence[Any]) -> Point:
    name, document, vector, *payload = row
    numbers = None if vector is None else np.asarray(json.loads(vector), np.float32)
    return Point(name, document, numbers, **dict(zip(PAYLOAD, payload, strict=True)))


def _batches(rows: Iterable[str]) -> Iterator[str]:
    """Put JSON objects together, so many and so much text as a statement should have."""
    return (f"[{','.join(batch)}]" for batch in sized_batches(rows, len, most=_ROWS, total=_TEXT))


def _lists(names: Sequence[str]) -> Iterator[str]:
    return map(json.dumps, batches(names, _KEYS))
