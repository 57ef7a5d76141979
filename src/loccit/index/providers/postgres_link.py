"""Connections to PostgreSQL: parameters, security, a pool for all threads, and error translation."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import Dumper, PyFormat
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.settings import DatabaseSettings
from loccit.workers.loopback import is_loopback

PROVIDER = "postgres"
# Classes of SQLSTATE: connection, rollback that a retry repairs, resources, operator intervention.
_PASSING = ("08", "40", "53", "57", "55P03")
_ACCESS = ("28", "42501", "25006")
_SCHEMA = ("42703", "42704", "42804", "42809", "42846", "42883", "42P07", "42P10", "3F")
# The server's messages when it refuses a connection; the client has no SQLSTATE for these.
_REFUSALS = {
    "password authentication failed": "the user or the password is wrong",
    "authentication failed": "the server does not accept this user's way of signing in",
    "no password supplied": "it wants a password, and there is none",
    "no pg_hba.conf entry": "it does not let this user in from here (pg_hba.conf)",
    "role ": "there is no such user, or they may not sign in",
    "permission denied": "this user may not use the database",
}
_PASSING_REFUSALS = (
    "too many clients",
    "remaining connection slots",
    "starting up",
    "shutting down",
    "recovery",
)


class GaveUpError(psycopg.OperationalError):
    """The server did not answer within the time limit."""


@contextmanager
def in_our_words(where: str) -> Iterator[None]:
    """Translate the client's errors; ``where`` names the store."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error, where) from None


def translate(error: psycopg.Error, where: str) -> StoreError:
    """Return our error for a failed statement."""
    code = error.sqlstate or ""
    said = (error.diag.message_primary or "").strip() or type(error).__name__
    if isinstance(error, GaveUpError) or code == "57014":
        return StoreUnavailableError(
            f"{where}: the server did not answer in time. Raise timeout, or see what keeps the server busy."
        )
    if code == "25006":
        return StoreAccessError(
            f"{where}: the server takes no writes ({said}). Name the primary in connection_string."
        )
    if code.startswith(_ACCESS):
        return StoreAccessError(
            f"{where}: {said}. Grant the user of connection_string the rights it lacks, or name another user."
        )
    if code.startswith(_PASSING) or (not code and isinstance(error, psycopg.OperationalError)):
        detail = said if code else "the connection broke"
        return StoreUnavailableError(f"{where}: {detail}. Check the server in connection_string.")
    if code == "42P01":
        return StoreSchemaError(
            f"{where}: the collection is not there, or not in the schema of the option schema."
        )
    if code.startswith(_SCHEMA) or "dimensions" in said:
        return StoreSchemaError(
            f"{where}: the existing tables have another layout ({said}). Choose another collection, or drop this one."
        )
    if code == "22P05":
        return StoreError(f"{where}: the database cannot hold all characters. Make one with ENCODING 'UTF8'.")
    return StoreError(f"{where}: {said}. If it comes back, look at connection_string and the server's log.")


def translate_connecting(error: psycopg.Error, where: str) -> StoreError:
    """Return our error for a failed connection.

    The client's message is not repeated: it quotes the connection string, and an unescaped password in it looks like a
    host name.
    """
    said = str(error)
    if any(words in said for words in _PASSING_REFUSALS):
        return StoreUnavailableError(f"{where}: the server takes no more connections at present.")
    if "does not exist" in said and "database " in said:
        return StoreError(f"{where}: the server has no such database. Make it, or correct connection_string.")
    for words, meaning in _REFUSALS.items():
        if words in said:
            return StoreAccessError(f"{where}: the server refuses: {meaning}. Correct connection_string.")
    if "SSL" in said or "certificate" in said:
        return StoreAccessError(
            f"{where}: no encrypted connection could be made. Set up TLS on the server, or say in connection_string "
            "what is wanted (sslmode=disable where the network is trusted)."
        )
    # In other languages than English, a server that got as far as the password refuses it.
    if error.pgconn is not None and error.pgconn.used_password:
        return StoreAccessError(
            f"{where}: the server refuses. Correct user, password and database in connection_string."
        )
    return StoreUnavailableError(
        f"{where}: the server cannot be reached. Check that it is running, and that host and port in "
        "connection_string are right."
    )


EXAMPLE = "postgresql://user:password@db.example.org:5432/database"
_POLL_SECONDS = 0.1
# How much longer than the server we wait, so that the server gives up first and the connection stays usable.
_GRACE_SECONDS = 1.0
Result = TypeVar("Result")

# Plans are made for the actual values, and never compiled: that costs more than any of our statements takes.
# Scans start at the beginning, so that ties come in the same order each time. The types and operators of
# pgvector are found in whatever schema the extension is.
_SET_UP = """
SELECT set_config('statement_timeout', %(timeout)s, false), set_config('jit', 'off', false),
    set_config('plan_cache_mode', 'force_custom_plan', false), set_config('synchronize_seqscans', 'off', false),
    set_config('search_path', 'pg_catalog' || coalesce(', ' || quote_ident(found.schema), ''), false),
    coalesce(found.oid, 0), coalesce(found.typarray, 0), coalesce(found.half, 0)
FROM (SELECT 1) AS always LEFT JOIN (
    SELECT s.nspname AS schema, t.oid, t.typarray, h.oid AS half FROM pg_extension e
    JOIN pg_namespace s ON s.oid = e.extnamespace
    JOIN pg_type t ON t.typnamespace = s.oid AND t.typname = 'vector'
    LEFT JOIN pg_type h ON h.typnamespace = s.oid AND h.typname = 'halfvec' WHERE e.extname = 'vector'
) AS found ON true
"""


def connection_parameters(settings: DatabaseSettings) -> dict[str, Any]:
    """Return the connection parameters; an invalid connection string is refused."""
    advice = f"Set connection_string (or LOCCIT_CONNECTION_STRING) to one like {EXAMPLE}."
    if not settings.connection_string.strip():
        raise UsageError(f"The database provider postgres needs a connection_string. {advice}")
    try:
        given = conninfo_to_dict(settings.connection_string)
    except psycopg.Error:
        # The client's message quotes the string.
        raise UsageError(
            f"The connection_string for the database provider postgres cannot be read. {advice}"
        ) from None
    parameters: dict[str, Any] = {
        "connect_timeout": max(2, math.ceil(settings.timeout)),
        "tcp_user_timeout": int(settings.timeout * 1000),
        "application_name": "loccit",
        **{name: value for name, value in given.items() if value is not None},
        "client_encoding": "utf8",
    }
    if "sslmode" not in given and "PGSSLMODE" not in os.environ and not _is_local(given):
        parameters["sslmode"] = "require"
    return parameters


def _is_local(given: dict[str, Any]) -> bool:
    if "service" in given:
        return False
    hosts = given.get("hostaddr") or given.get("host") or os.environ.get("PGHOST", "")
    return all(_is_loopback(host.strip()) for host in str(hosts).split(","))


def _is_loopback(host: str) -> bool:
    return not host or host.startswith(("/", "@")) or is_loopback(host)


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that gives up on an unresponsive server, and knows the types of pgvector."""

    timeout: float = math.inf
    seconds: float = math.inf
    vector_oid: int = 0
    vectors_oid: int = 0
    half_oid: int = 0

    def wait(
        self, gen: PQGen[Result], interval: float = _POLL_SECONDS, timeout: float | None = None
    ) -> Result:
        """Wait for the server, up to the time limit."""
        try:
            return super().wait(_until(gen, time.monotonic() + self.seconds), interval, timeout)
        except GaveUpError:
            # A late answer would be taken for that of another query.
            self.pgconn.finish()
            raise

    def set_up(self) -> None:
        """Put the session into the state that our statements expect."""
        self.seconds = self.timeout + _GRACE_SECONDS
        row = self.execute(_SET_UP, {"timeout": str(int(self.timeout * 1000))}).fetchone()
        assert row is not None
        self.vector_oid, self.vectors_oid, self.half_oid = row[-3:]


def _until(steps: PQGen[Result], deadline: float) -> Generator[Any, Any, Result]:
    ready: Any = None
    while True:
        try:
            wanted = steps.send(ready)
        except StopIteration as end:
            result: Result = end.value
            return result
        ready = yield wanted
        if not ready and time.monotonic() > deadline:
            raise GaveUpError


@dataclass(frozen=True, slots=True)
class Raw:
    """A value already in wire format; ``oid`` is its type."""

    oid: int
    data: bytes


class RawDumper(Dumper):
    """Passes a ``Raw`` on unchanged."""

    format = Format.BINARY

    @classmethod
    def register(cls, connection: psycopg.Connection[Any]) -> None:
        """Let a connection take ``Raw`` values."""
        connection.adapters.register_dumper(Raw, cls)

    def get_key(self, obj: Raw, format: PyFormat) -> Any:
        """Distinguish values of different types."""
        return (self.cls, obj.oid)

    def upgrade(self, obj: Raw, format: PyFormat) -> RawDumper:
        """Return the dumper for the type of a value."""
        dumper = RawDumper(self.cls)
        dumper.oid = obj.oid
        return dumper

    def dump(self, obj: Raw) -> bytes:
        """Return the bytes."""
        return obj.data


class Pool:
    """A connection pool: each is used by one thread at a time. Errors are raised at once, translated."""

    def __init__(self, settings: DatabaseSettings, where: str) -> None:
        most = settings.option("connections", 8)
        if most < 1:
            raise UsageError("The option connections of the database provider postgres must be at least 1.")
        self._parameters = connection_parameters(settings)
        self._timeout = settings.timeout
        self._where = where
        self._free = threading.BoundedSemaphore(most)
        self._guard = threading.Lock()
        self._idle: list[Connection] = []

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection."""
        with self.lend() as connection:
            yield connection

    def lend(self, *, sure: bool = False) -> AbstractContextManager[Connection]:
        """Take a connection, to be used and returned by ``with``; ``sure``: check first that it works."""
        if not self._free.acquire(timeout=self._timeout):
            raise StoreUnavailableError(
                f"{self._where}: all connections are in use. Raise the option connections, or use fewer threads."
            )
        try:
            connection = self._take()
            if sure:
                self._ask(connection)
        except BaseException:
            self._free.release()
            raise
        return self._lent(connection)

    @contextmanager
    def _lent(self, connection: Connection) -> Iterator[Connection]:
        try:
            with in_our_words(self._where):
                yield connection
        finally:
            self._give_back(connection)
            self._free.release()

    def _ask(self, connection: Connection) -> None:
        try:
            with in_our_words(self._where):
                connection.execute("SELECT 1")
        except BaseException:
            self._give_back(connection)
            raise

    def _take(self) -> Connection:
        with self._guard:
            while self._idle:
                idle = self._idle.pop()
                if idle.vector_oid:
                    return idle
                # Opened before the extension was created, perhaps by another process: it does not know its
                # types.
                idle.close()
        try:
            connection = Connection.connect(**self._parameters, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise translate_connecting(error, self._where) from None
        try:
            RawDumper.register(connection)
            with in_our_words(self._where):
                connection.timeout = self._timeout
                connection.set_up()
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: Connection) -> None:
        if connection.closed:
            # The others were probably broken by the same cause.
            self.clear()
        elif connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.close()
        else:
            with self._guard:
                self._idle.append(connection)

    def clear(self) -> None:
        """Close the connections that nobody uses."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
