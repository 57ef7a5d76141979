"""Connections to SQL Server: kept open and shared between threads, and errors said in our words.

Microsoft's driver gives the class of an error (its SQLSTATE) and the server's text, but not the number; where the
class is too wide, the English text decides, which the connection asks for.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import mssql_python
from mssql_python.exceptions import sqlstate_to_exception

from pinakes.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
)
from pinakes.stores.providers.sql_server.address import Address
from pinakes.stores.retry import retrying

Result = TypeVar("Result")
_IDLE = 16


def _said_for(*states: str) -> frozenset[str]:
    """Return what the driver says for some SQLSTATEs."""
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
    """Another was faster to make the same table."""


class Link:
    """A pool of connections to one server; each is used by one thread at a time."""

    def __init__(self, address: Address, provider: str, timeout: float) -> None:
        self._address, self._provider = address, provider
        self._timeout = timeout
        self._guard = threading.Lock()
        self._idle: list[mssql_python.Connection] = []

    def rows(self, statement: str, *values: Any) -> list[Sequence[Any]]:
        """Run a statement and return its rows; what failed for a passing reason is tried again."""
        return retrying(lambda: self._once(lambda cursor: _run(cursor, statement, values)))

    def close(self) -> None:
        """Close what is open and not in use."""
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
                # The others came from the same server, and are as dead.
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
        """Connect. The driver goes on trying a closed port until its time is up: we look whether it is open first."""
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
        """Say an error in our words; the texts of driver and server hold names, never the password."""
        kind = getattr(error, "driver_error", "")
        text = " ".join(str(getattr(error, "ddbc_error", "") or error).split())
        text = re.sub(r"\[[^\]]*\]", "", text).strip()[:400]
        start = f"The database provider {self._provider} "
        where = f"the server {self._address.host}"
        if _CERTIFICATE.search(text):
            return StoreAccessError(
                f"{start}does not trust the certificate of {where}: {text}. Put ServerCertificate=<file> or "
                "HostnameInCertificate=<name> into connection_string, or TrustServerCertificate=yes for a server of "
                "your own."
            )
        if kind in _LOGIN or _DENIED.search(text):
            return StoreAccessError(
                f"{start}was refused by {where}: {text} Look at the user, password and database in "
                "connection_string, and at the user's permissions."
            )
        if kind in _GONE or not kind or _BUSY.search(text):
            return StoreUnavailableError(
                f"{start}does not reach {where}, or it does not answer in time: {text or type(error).__name__}. "
                "Look at the server in connection_string, and at timeout."
            )
        if kind in _THERE_ALREADY:
            return ThereAlready(text)
        if kind in _NOT_THERE:
            return StoreSchemaError(
                f"{start}misses a table: {text} It was dropped, or collection is another one; index again."
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
                "again, or set native to none, so that the keyword search is ours."
            )
        return StoreError(f"{start}could not do what was asked: {text}")


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
