"""The HNSW index over the vectors of a large collection in PostgreSQL: when it is made, and whether it is there."""

from __future__ import annotations

import logging
import re
import threading
import time
from dataclasses import dataclass

import psycopg

from pinakes.errors import UsageError
from pinakes.stores.providers.postgres.connection import Connection, Pool
from pinakes.stores.providers.postgres.schema import Tables
from pinakes.stores.settings import DatabaseSettings

logger = logging.getLogger("pinakes")

# What pgvector can index at half precision.
_MOST_DIMENSIONS = 4_000
# How often it is looked whether the index is there, and whether it is time to make it.
_LOOK_SECONDS = 30.0
_LOOK_EVERY = 5_000
# Sets the locks of those who make an index apart from other locks; the number means nothing.
_LOCK = 72_944

_VALID = """
SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s
"""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """When and how the index is made and used."""

    exact_below: int
    ef_search: int
    m: int
    ef_construction: int
    build_memory: str


def index_options(settings: DatabaseSettings) -> IndexOptions:
    """Read the options of the index; what pgvector would refuse is refused now."""
    options = IndexOptions(
        settings.option("exact_below", 50_000),
        settings.option("ef_search", 100),
        settings.option("m", 16),
        settings.option("ef_construction", 128),
        settings.option("build_memory", "512MB"),
    )
    bounds = {
        "exact_below": (0, 2_000_000_000),
        "ef_search": (1, 1000),
        "m": (2, 100),
        "ef_construction": (4, 1000),
    }
    for name, (least, most) in bounds.items():
        if not least <= getattr(options, name) <= most:
            raise UsageError(
                f"The option {name} of the database provider postgres must be between {least} and {most}."
            )
    if options.ef_construction < 2 * options.m:
        raise UsageError(
            "The option ef_construction of the database provider postgres must be at least twice m."
        )
    if not re.fullmatch(r"\d+(kB|MB|GB)", options.build_memory):
        raise UsageError("The option build_memory of the database provider postgres must be like 512MB.")
    return options


class VectorIndex:
    """The index of one collection, as one store sees it: others may make it or drop it."""

    def __init__(self, tables: Tables, options: IndexOptions) -> None:
        self._tables = tables
        self._options = options
        self._guard = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Look again the next time."""
        with self._guard:
            self._there = False
            self._looked = -_LOOK_SECONDS
            self._unlooked = _LOOK_EVERY

    def is_there(self, connection: Connection) -> bool:
        """Whether there is an index that searches can use."""
        now = time.monotonic()
        with self._guard:
            if now - self._looked < _LOOK_SECONDS:
                return self._there
        there = self._is_valid(connection)
        with self._guard:
            self._there, self._looked = there, now
        return there

    def grow(self, pool: Pool, written: int) -> None:
        """Make the index if, with what was written, there are enough points for one."""
        with self._guard:
            self._unlooked += written
            if self._unlooked < _LOOK_EVERY or self._there:
                return
            self._unlooked = 0
        with pool.connection() as connection:
            if self._is_due(connection):
                self._make(connection)
        with self._guard:
            self._looked = -_LOOK_SECONDS

    def _is_valid(self, connection: Connection) -> bool:
        names = (self._tables.schema, self._tables.vector_index)
        return connection.execute(_VALID, names).fetchone() == (True,)

    def _is_due(self, connection: Connection) -> bool:
        dimension = self._tables.dimension(connection)
        if dimension is None or dimension > _MOST_DIMENSIONS or self._is_valid(connection):
            return False
        enough = self._options.exact_below + 1
        counted = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {self._tables.points} LIMIT %s) AS counted", (enough,)
        )
        return counted.fetchone() == (enough,)

    def _make(self, connection: Connection) -> None:
        """Make the index while others go on reading and writing, unless another process is at it."""
        try:
            locked = connection.execute(
                "SELECT pg_try_advisory_lock(%s, hashtext(%s))", (_LOCK, self._tables.points)
            )
            if locked.fetchone() != (True,) or self._is_valid(connection):
                return
            connection.seconds = float("inf")
            connection.execute("SET statement_timeout = 0")
            connection.execute(
                "SELECT set_config('maintenance_work_mem', %s, false)", (self._options.build_memory,)
            )
            # One that was broken off is of no use, and in the way.
            connection.execute(f'DROP INDEX IF EXISTS "{self._tables.schema}"."{self._tables.vector_index}"')
            connection.execute(
                f'CREATE INDEX CONCURRENTLY "{self._tables.vector_index}" ON {self._tables.points} '
                "USING hnsw (half halfvec_ip_ops) "
                f"WITH (m = {self._options.m}, ef_construction = {self._options.ef_construction})"
            )
        except psycopg.Error as error:
            # What was written is stored and found all the same, only more slowly.
            logger.warning(
                "postgres: the index over the vectors of %s could not be made, so that each search compares all: %s",
                self._tables.collection,
                error.diag.message_primary or type(error).__name__,
            )
        finally:
            # The lock and the settings end with the connection.
            connection.close()
