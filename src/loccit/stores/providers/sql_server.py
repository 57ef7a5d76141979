"""SQL Server: points and entries in two tables, with the vector type of SQL Server 2025 and Azure SQL.

Vectors are compared exactly, which the server does in parallel. Its approximate index (CREATE VECTOR INDEX and
VECTOR_SEARCH) is a preview with restrictions on its table, and is not used.

In statements, names are quoted and values are parameters. Many rows are sent as one JSON text, which OPENJSON turns
into a table. Keys have a binary collation: the server's default is case-insensitive. What comes out of OPENJSON has the
database's collation and must be told to compare like the column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from loccit.embedding.protocol import Vectors
from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, UsageError
from loccit.stores.providers.sql_server_link import Link, ThereAlready, read_address
from loccit.stores.providers.tables import Documents, TableStore, read_vector, wide_text
from loccit.stores.providers.whole_words import whole_words
from loccit.stores.settings import DatabaseSettings
from loccit.stores.store import Capabilities, Entry, Found, Point

# What fits into one of the server's rows.
MAX_DIMENSION = 1998
# Also the order in which points travel.
PAYLOAD = ("source_path", "heading", "language", "file_type", "text", "terms")
_ROWS = 500
_KEYS = 2_000
# How long the search condition of a full text search may be.
_CONDITION = 3_900
_SCHEMA = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_POINT_COLUMNS = {"id", "document", "vector", *PAYLOAD, "words"}
_CATALOG = "loccit"
_EXACT = "COLLATE Latin1_General_100_BIN2"
_KEY = f"varchar(64) {_EXACT}"
_TEXT = "nvarchar(max)"
# A parameter is wide text; compared directly with a narrow column, it would prevent the use of the index.
_ONE = "CAST(? AS varchar(64))"
_COLUMNS = (
    "SELECT c.name AS name, t.name AS type, COALESCE(c.vector_dimensions, 0) AS dimensions "
    "FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id "
    "WHERE c.object_id = OBJECT_ID(?)"
)
_HAS_FULL_TEXT = "SELECT CAST(SERVERPROPERTY('IsFullTextInstalled') AS int) AS installed"
_WHOLE = f"id, document, CAST(vector AS {_TEXT}) AS vector, {', '.join(f'[{name}]' for name in PAYLOAD)}"


class SqlServerStore(TableStore[str, Any]):
    """Two tables, ``<collection>_points`` and ``<collection>_entries``; a row is JSON when it is written."""

    provider = "sql-server"
    # Full text is indexed in the background, shortly after the rows are written.
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, claims=True, eventual=True, max_filter=5_000, batch=_ROWS
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "schema": "The schema of the database that holds the tables; made when it is missing (dbo).",
        "tls": "false: allow an unencrypted connection to another machine (true).",
    }

    entries_at_once = _ROWS
    bytes_at_once = 4_000_000
    keys_at_once = _KEYS
    page = _KEYS

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        tls = settings.option("tls", True)
        address = read_address(settings.connection_string, settings.api_key, provider=self.provider, tls=tls)
        self._schema: str = settings.option("schema", "dbo")
        if not _SCHEMA.fullmatch(self._schema):
            raise UsageError(
                f"The option schema of the database provider {self.provider} must be letters, digits and "
                f"underscores, not {self._schema!r}."
            )
        self._points = f"[{self._schema}].[{settings.collection}_points]"
        self._entries = f"[{self._schema}].[{settings.collection}_entries]"
        self._primary = f"[pk_{settings.collection}_points]"
        self._link = Link(address, self.provider, settings.timeout)
        self._length: int | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Read it from the table; a foreign table of that name is an error."""
        found = {name: (kind, length) for name, kind, length in self._columns(self._points)}
        if not found:
            return None
        kind, length = found.get("vector", ("", 0))
        if not found.keys() >= _POINT_COLUMNS or kind != "vector":
            raise self._foreign(self._points)
        self._length = int(length)
        return self._length

    def _has_entries(self) -> bool:
        names = {name for name, _, _ in self._columns(self._entries)}
        if names and names != set(Entry._fields):
            raise self._foreign(self._entries)
        return bool(names)

    def create(self, dimension: int) -> None:
        """Create the schema, the tables and the full-text index, as far as they are missing."""
        if not 0 < dimension <= MAX_DIMENSION:
            raise StoreError(
                f"The database provider {self.provider} takes vectors of up to {MAX_DIMENSION:,} numbers, not "
                f"{dimension:,}. Use a smaller model."
            )
        super().create(dimension)

    def _make(self, dimension: int) -> None:
        if self.dimension() is None:
            self._make_points(dimension)
        if not self._has_entries():
            self._execute(
                f"CREATE TABLE {self._entries} ([key] {_KEY} NOT NULL CONSTRAINT "
                f"[pk_{self.settings.collection}_entries] PRIMARY KEY, kind {_KEY} NOT NULL, "
                f"[group] nvarchar(200) {_EXACT} NOT NULL, [value] {_TEXT} {_EXACT} NOT NULL, "
                "INDEX by_kind (kind, [group]))"
            )
            # Another process may have created something of that name.
            self._has_entries()
        if self.settings.native != "none":
            self._make_full_text()

    def _make_points(self, dimension: int) -> None:
        if self._schema != "dbo":
            self._execute(f"IF SCHEMA_ID(N'{self._schema}') IS NULL EXEC(N'CREATE SCHEMA [{self._schema}]')")
        payload = ", ".join(f"[{name}] {_TEXT} NOT NULL" for name in PAYLOAD)
        self._execute(
            f"CREATE TABLE {self._points} (id char(36) {_EXACT} NOT NULL CONSTRAINT {self._primary} PRIMARY KEY, "
            f"document {_KEY} NOT NULL, vector vector({dimension}) NULL, {payload}, words {_TEXT} NULL, "
            "INDEX by_document (document))"
        )
        if self.dimension() is None:
            raise StoreAccessError(
                f"The database provider {self.provider} cannot see the table {self._points} that it made: the user "
                "in connection_string has no permission to."
            )
        # Long texts are stored outside the rows, so that comparing all vectors does not read them.
        self._execute(f"EXEC sp_tableoption N'{self._points}', 'large value types out of row', 1")

    def _make_full_text(self) -> None:
        """Index the words, with neutral language and without stop words."""
        if self._link.rows(_HAS_FULL_TEXT)[0][0] != 1:
            raise StoreError(
                f"The database provider {self.provider} has no Full-Text Search installed on its server. Install "
                "it, or set native to none, so that Loccit does the keyword search."
            )
        self._execute(
            f"IF NOT EXISTS (SELECT 1 FROM sys.fulltext_catalogs WHERE name = N'{_CATALOG}') "
            f"CREATE FULLTEXT CATALOG [{_CATALOG}]"
        )
        self._execute(
            f"IF NOT EXISTS (SELECT 1 FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID(N'{self._points}')) "
            f"CREATE FULLTEXT INDEX ON {self._points} (words LANGUAGE 0) KEY INDEX {self._primary} ON [{_CATALOG}] "
            "WITH (CHANGE_TRACKING = AUTO, STOPLIST = OFF)"
        )

    def _execute(self, statement: str) -> None:
        try:
            self._link.rows(statement)
        except ThereAlready:
            return
        except StoreError:
            # Two processes create the same at once: one is refused, and the other has created it.
            if not statement.startswith("IF NOT EXISTS"):
                raise
            self._link.rows(statement)

    def _columns(self, table: str) -> list[Sequence[Any]]:
        return self._link.rows(_COLUMNS, table)

    def _foreign(self, table: str) -> StoreSchemaError:
        return StoreSchemaError(
            f"The database provider {self.provider} finds a table {table} that is not Loccit'. Use another "
            "collection, or the option schema."
        )

    def drop(self) -> None:
        """Delete both tables, unless they are foreign."""
        self.dimension()
        self._has_entries()
        for table in (self._points, self._entries):
            self._link.rows(f"DROP TABLE IF EXISTS {table}")
        self._length = None

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def count(self) -> int:
        """Return the number of points."""
        return int(self._link.rows(f"SELECT COUNT_BIG(*) AS number FROM {self._points}")[0][0])

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[str]) -> None:
        statement = self._put_points() if where == self._points else self._put_entries()
        self._link.rows(statement, f"[{','.join(rows)}]")

    def _put_points(self) -> str:
        length = self._length or self.dimension()
        if length is None:
            raise StoreSchemaError(
                f"The database provider {self.provider} has no table {self._points}: it was dropped. Index again."
            )
        names = ["document", "vector", *PAYLOAD, "words"]
        read = ", ".join(f"[{name}] {_TEXT}" for name in (*PAYLOAD, "words"))
        return (
            f"MERGE {self._points} WITH (HOLDLOCK) AS target USING (SELECT j.id {_EXACT} AS id, "
            f"j.document {_EXACT} AS document, CAST(j.vector AS vector({length})) AS vector, "
            f"{', '.join(f'j.[{name}]' for name in (*PAYLOAD, 'words'))} FROM OPENJSON(?) WITH (id char(36), "
            f"document varchar(64), vector {_TEXT} AS JSON, {read}) AS j) AS source ON target.id = source.id "
            f"WHEN MATCHED THEN UPDATE SET {', '.join(f'[{name}] = source.[{name}]' for name in names)} "
            f"WHEN NOT MATCHED THEN INSERT (id, {', '.join(f'[{name}]' for name in names)}) "
            f"VALUES (source.id, {', '.join(f'source.[{name}]' for name in names)});"
        )

    def _put_entries(self) -> str:
        return (
            f"MERGE {self._entries} WITH (HOLDLOCK) AS target USING (SELECT j.[key] {_EXACT} AS [key], "
            f"j.kind {_EXACT} AS kind, j.[group] {_EXACT} AS [group], j.[value] {_EXACT} AS [value] "
            f"FROM OPENJSON(?) WITH ([key] varchar(64), kind varchar(64), [group] nvarchar(200), [value] {_TEXT}) "
            "AS j) AS source ON target.[key] = source.[key] WHEN MATCHED THEN UPDATE SET kind = source.kind, "
            "[group] = source.[group], [value] = source.[value] WHEN NOT MATCHED THEN "
            "INSERT ([key], kind, [group], [value]) VALUES (source.[key], source.kind, source.[group], source.[value]);"
        )

    def _delete(self, where: str, keys: list[str]) -> None:
        self._link.rows(f"DELETE FROM {where} WHERE {self._named(where)}", json.dumps(keys))

    def _read(self, where: str, keys: list[str]) -> list[Sequence[Any]]:
        shown = _WHOLE if where == self._points else _ENTRY
        return self._link.rows(f"SELECT {shown} FROM {where} WHERE {self._named(where)}", json.dumps(keys))

    def _named(self, where: str) -> str:
        return (
            f"id IN ({_listed('char(36)')})"
            if where == self._points
            else f"[key] IN ({_listed('varchar(64)')})"
        )

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Sequence[Any]]]:
        """Walk along the keys."""
        shown, key = (
            (_WHOLE if whole else "id, document", "id") if where == self._points else (_ENTRY, "[key]")
        )
        some = "".join(f"{_CONDITIONS[name]} AND " for name in wanted)
        statement = f"SELECT TOP (?) {shown} FROM {where} WHERE {some}{key} > {_ONE} ORDER BY {key}"
        last = ""
        while rows := self._link.rows(statement, _ROWS if whole else _KEYS, *wanted.values(), last):
            last = rows[-1][0]
            yield rows

    def _row(self, point: Point) -> str:
        """Return a point as a JSON object; the vector is inserted as text, since json takes three times as long."""
        values: dict[str, Any] = {name: wide_text(getattr(point, name)) for name in PAYLOAD}
        values["words"] = " ".join(whole_words(point.terms)) or None
        vector = "null" if point.vector is None else _numbers(point.vector)
        rest = json.dumps({"id": point.id, "document": point.document, **values}, ensure_ascii=False)
        return f'{{"vector":{vector},{rest[1:]}'

    def _point(self, row: Sequence[Any]) -> Point:
        name, document, *rest = row
        if not rest:
            return Point(name, document)
        vector = None if rest[0] is None else read_vector(json.loads(rest[0]))
        return Point(name, document, vector, **dict(zip(PAYLOAD, rest[1:], strict=True)))

    def _entry_row(self, entry: Entry) -> str:
        return json.dumps(entry._asdict(), ensure_ascii=False)

    def _entry(self, row: Sequence[Any]) -> Entry:
        return Entry(*row)

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Compare the vector with every eligible point."""
        some = "" if documents is None else f" AND document IN ({_listed('varchar(64)')})"
        statement = (
            f"SELECT TOP (?) id, VECTOR_DISTANCE('cosine', vector, CAST(? AS vector({len(vector)}))) AS distance "
            f"FROM {self._points} WHERE vector IS NOT NULL{some} ORDER BY distance, id"
        )
        rows = self._link.rows(statement, limit, _numbers(vector), *_chosen(documents))
        return [Found(name, 1.0 - float(distance)) for name, distance in rows]

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        """Full-text search; of very many words the first count.

        Ranked by BM25, which is what FREETEXTTABLE does and CONTAINSTABLE does not.
        """
        condition = " ".join(dict.fromkeys(whole_words(terms)))
        if len(condition) > _CONDITION:
            condition = condition[: condition.rfind(" ", 0, _CONDITION)]
        if not condition:
            return []
        some = ""
        if documents is not None:
            among = f"p.document IN ({_listed('varchar(64)')})"
            some = f" JOIN {self._points} AS p ON p.id = k.[KEY] {_EXACT} WHERE {among}"
        statement = (
            f"SELECT TOP (?) k.[KEY] AS id, k.[RANK] AS score FROM FREETEXTTABLE({self._points}, words, ?, LANGUAGE 0) "
            f"AS k{some} ORDER BY k.[RANK] DESC, k.[KEY]"
        )
        rows = self._link.rows(statement, limit, condition, *_chosen(documents))
        # The server's ranks are whole numbers from 0, and 0 is a hit as well.
        return [Found(name, float(rank) + 1.0) for name, rank in rows]

    # -- claims ----------------------------------------------------------------------------------------------

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry if it is as expected, in one statement that locks the key."""
        key, kind, group, value = entry
        if expected is None:
            statement = (
                f"INSERT INTO {self._entries} ([key], kind, [group], [value]) OUTPUT inserted.[key] "
                f"SELECT ?, ?, ?, ? WHERE NOT EXISTS "
                f"(SELECT 1 FROM {self._entries} WITH (UPDLOCK, HOLDLOCK) WHERE [key] = {_ONE})"
            )
            return bool(self._link.rows(statement, key, kind, group, value, key))
        # = ignores trailing spaces.
        statement = (
            f"UPDATE {self._entries} SET kind = ?, [group] = ?, [value] = ? OUTPUT inserted.[key] "
            f"WHERE [key] = {_ONE} AND [value] = CAST(? AS {_TEXT}) "
            f"AND DATALENGTH([value]) = DATALENGTH(CAST(? AS {_TEXT}))"
        )
        return bool(self._link.rows(statement, kind, group, value, key, expected, expected))


_ENTRY = "[key], kind, [group], [value]"
_CONDITIONS = {"document": f"document = {_ONE}", "kind": f"kind = {_ONE}", "group": "[group] = ?"}


def _listed(kind: str) -> str:
    return f"SELECT j.item {_EXACT} FROM OPENJSON(?) WITH (item {kind} '$') AS j"


def _chosen(documents: Documents) -> list[str]:
    return [] if documents is None else [json.dumps(documents)]


def _numbers(vector: Vectors) -> str:
    """Return a vector as JSON with as many digits as distinguish all single precision numbers."""
    return "[" + ",".join(map("%.9g".__mod__, vector.tolist())) + "]"
