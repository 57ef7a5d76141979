"""SQL Server: points and entries in two tables, with the vector type of SQL Server 2025 and Azure SQL.

Vectors are compared exactly, which the server does in parallel. Its approximate index (CREATE VECTOR INDEX and
VECTOR_SEARCH) is a preview with restrictions on its table, and is not used.

In statements, names are quoted and values are parameters. Many rows are sent as one JSON text, which OPENJSON turns
into a table. Keys have a binary collation: the server's default is case-insensitive. What comes out of OPENJSON has the
database's collation and must be told to compare like the column.

Microsoft's driver returns the class of an error (its SQLSTATE) and the server's text, but not the number; where the
class is too wide, the text decides, for which the connection is set to English.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import mssql_python
from mssql_python.exceptions import sqlstate_to_exception

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.index.providers.tables import Documents, TableStore, read_vector, wide_text
from loccit.index.providers.whole_words import whole_words
from loccit.index.retry import retrying
from loccit.index.settings import DatabaseSettings
from loccit.index.store import Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors
from loccit.workers.loopback import is_loopback

DEFAULT_PORT = 1433
EXAMPLE = "Server=db.example,1433;Database=library;User Id=ann;Password=…;Encrypt=yes"
URL_EXAMPLE = "mssql://ann:…@db.example:1433/library"
# The driver's names for its settings, and those in the connection strings of .NET, ODBC and JDBC.
_NAMES = {
    "Server": "server, data source, address, addr, network address",
    "Database": "database, initial catalog",
    "UID": "user id, uid, user, username",
    "PWD": "password, pwd",
    "Encrypt": "encrypt",
    "TrustServerCertificate": "trustservercertificate, trust server certificate",
    "HostnameInCertificate": "hostnameincertificate, host name in certificate",
    "ServerCertificate": "servercertificate, server certificate",
    "Authentication": "authentication",
    "Trusted_Connection": "trusted_connection, integrated security",
    "MultiSubnetFailover": "multisubnetfailover, multi subnet failover",
    "ApplicationIntent": "applicationintent, application intent",
    # Ours to decide, or without a meaning here.
    "": "driver, connection timeout, connect timeout, command timeout, persist security info, pooling, app, "
    "application name, multipleactiveresultsets, mars_connection, connection lifetime, packet size",
}
_KNOWN = {name.strip(): ours for ours, names in _NAMES.items() for name in names.split(",")}
_NO = ("no", "false", "optional", "0")
_YES = ("yes", "true", "mandatory", "strict", "sspi", "1")


@dataclass(frozen=True)
class Address:
    """A server, and the driver's own connection string, which is secret."""

    host: str
    port: int | None
    connection_string: str = field(repr=False)


def read_address(text: str, password: str, *, provider: str, tls: bool) -> Address:
    """Parse a connection string; an invalid one is refused with an example."""
    if not text.strip():
        raise _wrong(provider, "is missing")
    found = _from_url(text, provider) if "://" in text else _from_pairs(text, provider)
    server = found.get("Server", "")
    if not server:
        raise _wrong(provider, "names no server")
    if not found.get("Database"):
        raise _wrong(provider, "names no database")
    found.setdefault("PWD", password)
    entra = bool(found.get("Authentication")) or found.get("Trusted_Connection", "no").lower() in _YES
    if not entra and not (found.get("UID") and found.get("PWD")):
        raise _wrong(provider, "has no user and password (the password may also be given as api_key)")
    host, port = _host_and_port(server, provider)
    wanted = found.get("Encrypt", "yes").lower()
    if wanted not in (*_NO, *_YES):
        raise _wrong(provider, "has an Encrypt that is neither yes, strict nor no")
    if tls and wanted in _NO and not _is_here(host):
        raise UsageError(
            f"The database provider {provider} would send its password to {host} unencrypted. Take Encrypt=no out of "
            "connection_string, or set the option tls to false as well if that is what you want."
        )
    found["Encrypt"] = "no" if not tls or wanted in _NO else "strict" if wanted == "strict" else "yes"
    pairs = (f"{name}={_quoted(value)}" for name, value in found.items() if value)
    return Address(host, port, ";".join(pairs) + ";")


def _is_here(host: str) -> bool:
    """Whether a host is this machine, also in SQL Server's notation."""
    return host.lower() in (".", "(local)") or is_loopback(host.strip("[]") if ":" in host else host.lower())


def _wrong(provider: str, what: str) -> UsageError:
    return UsageError(
        f"The connection_string of the database provider {provider} {what}. "
        f"It looks like {EXAMPLE} or like {URL_EXAMPLE}."
    )


def _from_url(text: str, provider: str) -> dict[str, str]:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _wrong(provider, "is not an address") from None
    if parts.scheme not in ("mssql", "sqlserver", "mssql+pyodbc", "mssql+mssqlpython"):
        raise _wrong(provider, "begins with an unknown name before ://")
    found = {"Server": f"{parts.hostname},{port}" if port else parts.hostname or ""}
    found["Database"] = unquote(parts.path.lstrip("/"))
    if parts.username:
        found["UID"] = unquote(parts.username)
    if parts.password:
        found["PWD"] = unquote(parts.password)
    for name, value in parse_qsl(parts.query):
        found[_known(name, provider)] = value
    found.pop("", None)
    return found


def _from_pairs(text: str, provider: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        if text[at] in "; \t\n":
            at += 1
            continue
        equals = text.find("=", at)
        if equals < 0:
            raise _wrong(provider, "is not made of name=value pairs with ; between them")
        name = _known(text[at:equals], provider)
        value, at = _value(text, equals + 1, provider)
        if name:
            found[name] = value
    return found


def _value(text: str, at: int, provider: str) -> tuple[str, int]:
    """Read a value up to its semicolon; one in braces or quotes may contain any, with the closing sign doubled."""
    while at < len(text) and text[at] == " ":
        at += 1
    closing = {"{": "}", '"': '"', "'": "'"}.get(text[at : at + 1])
    if closing is None:
        end = text.find(";", at)
        end = len(text) if end < 0 else end
        return text[at:end].strip(), end + 1
    value, at = "", at + 1
    while True:
        end = text.find(closing, at)
        if end < 0:
            raise _wrong(
                provider, f"has a value that begins with a quotation sign and never ends with {closing}"
            )
        value += text[at:end]
        if text[end + 1 : end + 2] != closing:
            return value, end + 1
        value, at = value + closing, end + 2


def _known(name: str, provider: str) -> str:
    plain = name.strip().lower()
    if plain not in _KNOWN:
        raise _wrong(provider, f"has a part named {name.strip()[:40]!r}, which is not known")
    return _KNOWN[plain]


def _host_and_port(server: str, provider: str) -> tuple[str, int | None]:
    """Split host,port or host:port; the port of a named instance cannot be known here."""
    plain = server.removeprefix("tcp:")
    if "\\" in plain:
        return plain.partition("\\")[0], None
    host, comma, port = plain.partition(",")
    if not comma:
        return host, DEFAULT_PORT
    if not port.strip().isdigit() or not 0 < int(port) < 65536:
        raise _wrong(provider, "has a port that is not a number")
    return host.strip(), int(port)


def _quoted(value: str) -> str:
    return "{" + value.replace("}", "}}") + "}"


Result = TypeVar("Result")
_IDLE = 16


def _said_for(*states: str) -> frozenset[str]:
    """Return the driver's messages for some SQLSTATEs."""
    found = (sqlstate_to_exception(state, "") for state in states)
    return frozenset(error.driver_error for error in found if error is not None)


_LOGIN = _said_for("28000")
_GONE = _said_for("08001", "08002", "08003", "08004", "08007", "08S01", "HYT00", "HYT01", "40001")
_THERE_ALREADY = _said_for("42S01", "42S11")
_NOT_THERE = _said_for("42S02")
_DENIED = re.compile(
    r"permission (?:was|is)? ?denied|do(?:es)? not have permission|permission denied|is not able to access|"
    r"Cannot open database|Login failed|not allowed to access|The login is from an untrusted domain"
)
_BUSY = re.compile(
    r"deadlock|not currently available|currently busy|resource limit|Lock request time out|try again|retry|"
    r"Rerun the transaction|reached its (?:size quota|limit)|too many (?:requests|sessions|operations)|TCP Provider|"
    r"link failure|forcibly closed",
    re.IGNORECASE,
)
_CERTIFICATE = re.compile(r"SSL Provider|certificate", re.IGNORECASE)
_VECTORS = re.compile(r"vector dimension|dimensions? .* do(?:es)? not match", re.IGNORECASE)
_NO_VECTORS = re.compile(r"vector_dimensions|Cannot find data type vector|VECTOR_DISTANCE|type vector is not")
_NO_TEXT = re.compile(
    r"Full-Text Search is not installed|not full-text indexed|full-text catalog", re.IGNORECASE
)


class ThereAlready(StoreError):  # noqa: N818
    """Another process created the same table first."""


class Link:
    """A pool of connections to one server; each is used by one thread at a time."""

    def __init__(self, address: Address, provider: str, timeout: float) -> None:
        self._address, self._provider = address, provider
        self._timeout = timeout
        self._guard = threading.Lock()
        self._idle: list[mssql_python.Connection] = []

    def rows(self, statement: str, *values: Any) -> list[Sequence[Any]]:
        """Run a statement and return its rows; temporary failures are retried."""
        return retrying(lambda: self._once(lambda cursor: _run(cursor, statement, values)))

    def close(self) -> None:
        """Close idle connections."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            _quietly(connection.close)

    def _once(self, work: Callable[[mssql_python.Cursor], Result]) -> Result:
        connection = self._take()
        try:
            cursor = connection.cursor()
            try:
                result = work(cursor)
            finally:
                _quietly(cursor.close)
        except (mssql_python.Error, RuntimeError, OSError) as error:
            raised = self._translated(error)
            if isinstance(raised, StoreUnavailableError):
                # The others came from the same server, and are dead too.
                _quietly(connection.close)
                self.close()
            else:
                self._give(connection)
            raise raised from None
        except BaseException:
            _quietly(connection.close)
            raise
        self._give(connection)
        return result

    def _take(self) -> mssql_python.Connection:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        try:
            return self._open()
        except (mssql_python.Error, RuntimeError, OSError) as error:
            raise self._translated(error) from None

    def _open(self) -> mssql_python.Connection:
        """Connect. The driver keeps trying a closed port until its time is up, so the port is checked first."""
        seconds = max(1, round(self._timeout))
        if self._address.port is not None:
            host = "localhost" if self._address.host in (".", "(local)") else self._address.host
            with socket.create_connection((host, self._address.port), timeout=self._timeout):
                pass
        connection = mssql_python.connect(self._address.connection_string, autocommit=True, timeout=seconds)
        connection.timeout = seconds
        cursor = connection.cursor()
        cursor.execute("SET LANGUAGE us_english")
        cursor.close()
        return connection

    def _give(self, connection: mssql_python.Connection) -> None:
        with self._guard:
            if len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        _quietly(connection.close)

    def _translated(self, error: Exception) -> StoreError:
        """Translate an error; the texts of driver and server contain names, never the password."""
        kind = getattr(error, "driver_error", "")
        text = " ".join(str(getattr(error, "ddbc_error", "") or error).split())
        text = re.sub(r"\[[^\]]*\]", "", text).strip()[:400]
        start = f"The database provider {self._provider} "
        where = f"the server {self._address.host}"
        if "load the driver" in text:
            return StoreError(
                f"{start}cannot load Microsoft's driver, which needs a library of the system: on Debian and Ubuntu, "
                "apt-get install libltdl7 libkrb5-3."
            )
        if _CERTIFICATE.search(text):
            return StoreAccessError(
                f"{start}does not trust the certificate of {where}: {text}. Put ServerCertificate=<file> or "
                "HostnameInCertificate=<name> into connection_string, or TrustServerCertificate=yes for a server of "
                "your own."
            )
        if kind in _LOGIN or _DENIED.search(text):
            return StoreAccessError(
                f"{start}was refused by {where}: {text} Check the user, password and database in "
                "connection_string, and the user's permissions."
            )
        if kind in _GONE or not kind or _BUSY.search(text):
            return StoreUnavailableError(
                f"{start}does not reach {where}, or it does not answer in time: {text or type(error).__name__}. "
                "Check the server in connection_string, and timeout."
            )
        if kind in _THERE_ALREADY:
            return ThereAlready(text)
        if kind in _NOT_THERE:
            return StoreSchemaError(
                f"{start}is missing a table: {text} It was dropped, or collection is another one; index again."
            )
        if _VECTORS.search(text):
            return StoreSchemaError(
                f"{start}got a vector of another length than its table has: {text} Use the same model, or another "
                "collection."
            )
        if _NO_VECTORS.search(text):
            return StoreError(
                f"{start}needs SQL Server 2025, Azure SQL or Fabric, which have the type vector; {where} says: {text}"
            )
        if _NO_TEXT.search(text):
            return StoreError(
                f"{start}has no full text search there: {text} Install Full-Text Search on the server and index "
                "again, or set native to none, so that Loccit does the keyword search."
            )
        return StoreError(f"{start}could not complete the request: {text}")


def _run(cursor: mssql_python.Cursor, statement: str, values: Sequence[Any]) -> list[Sequence[Any]]:
    cursor.execute(statement, *values)
    if not cursor.description:
        return []
    return [tuple(row) for row in cursor.fetchall()]


def _quietly(call: Callable[[], None]) -> None:
    try:
        call()
    except (mssql_python.Error, RuntimeError, OSError):
        return


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
