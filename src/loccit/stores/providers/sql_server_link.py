"""Connections to SQL Server: the address, the driver's settings, and error translation.

Microsoft's driver returns the class of an error (its SQLSTATE) and the server's text, but not the number; where the
class is too wide, the text decides, for which the connection is set to English.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
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
from loccit.loopback import is_loopback
from loccit.stores.retry import retrying

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
