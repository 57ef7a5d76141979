"""The tables of a collection in PostgreSQL, and the HNSW index that a large one gets."""

from __future__ import annotations

import logging
import re
import threading
import time
from dataclasses import dataclass

import psycopg

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, UsageError
from loccit.index.providers.postgres_link import Connection, Pool
from loccit.index.settings import DatabaseSettings

# The texts of a point, in the order of the columns.
COLUMNS = ("source_path", "heading", "language", "file_type", "text", "terms")
MOST_DIMENSIONS = 16_000
# As many as fit into a page at half precision with the rest of the row; longer vectors go beside the table.
_MOST_IN_ROW = 3_800
# Iterative scans, without which a filtered search over an index finds too little, came with this version.
_OLDEST = (0, 8)
# A lock that all who create our tables take in turn; the number has no meaning.
_LOCK = 7_294_481_663
_SCHEMA_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}")

_LOOK = """
SELECT c.relkind = 'r' AND obj_description(c.oid, 'pg_class') LIKE 'Loccit %%', a.atttypmod
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'embedding' AND NOT a.attisdropped
WHERE n.nspname = %s AND c.relname = %s
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a collection: points and entries. Double underscores are in no collection's name."""

    schema: str
    collection: str

    def __post_init__(self) -> None:
        if not _SCHEMA_NAME.fullmatch(self.schema):
            raise UsageError(
                f"The option schema of the database provider postgres cannot be {self.schema!r}: use letters, digits "
                "and underscores."
            )

    @property
    def points(self) -> str:
        """Return the table of points, quoted."""
        return f'"{self.schema}"."{self.collection}"'

    @property
    def entries(self) -> str:
        """Return the table of entries, quoted."""
        return f'"{self.schema}"."{self.collection}__entries"'

    @property
    def vector_index(self) -> str:
        """Return the name of the index over the vectors."""
        return f"{self.collection}__vectors"

    def dimension(self, connection: Connection) -> int | None:
        """Return the length of the vectors; None if there is no table. A foreign table is an error."""
        row = connection.execute(_LOOK, (self.schema, self.collection)).fetchone()
        if row is None:
            return None
        if not row[0]:
            raise StoreSchemaError(
                f"postgres: there is something named {self.collection} in the schema {self.schema} that Loccit did "
                "not make. Choose another collection, or another schema with the option schema."
            )
        return int(row[1])

    def create(self, connection: Connection, dimension: int) -> None:
        """Create what is missing. Concurrent callers take turns."""
        if dimension > MOST_DIMENSIONS:
            raise StoreSchemaError(
                f"postgres: the model makes vectors of {dimension} dimensions, and pgvector holds at most "
                f"{MOST_DIMENSIONS}. Choose another model."
            )
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if self.dimension(connection) is not None:
                return
            _need_utf8(connection)
            if not _has_schema(connection, self.schema):
                connection.execute(f'CREATE SCHEMA "{self.schema}"')
            _need_pgvector(connection, self.schema)
            # The extension may be new to this session.
            connection.set_up()
            for statement in self._statements(dimension):
                connection.execute(statement)

    def _statements(self, dimension: int) -> list[str]:
        # A search compares all vectors in one pass: what it reads, the vector at half precision, stays in the
        # row, and the rest is stored outside the table. That is six times as fast as with full vectors and
        # default storage.
        in_row = dimension <= _MOST_IN_ROW
        payload = ", ".join(f"{name} text NOT NULL" for name in COLUMNS)
        # The target size of a row: that of its half vector and what cannot be moved out.
        target = max(128, 2 * dimension + 200) if in_row else 2_000
        return [
            f"CREATE TABLE {self.points} (id uuid PRIMARY KEY, "
            f"half halfvec({dimension}) GENERATED ALWAYS AS (embedding::halfvec({dimension})) STORED, "
            f'document text COLLATE "C" NOT NULL, embedding vector({dimension}), words tsvector, {payload}) '
            f"WITH (toast_tuple_target = {target})",
            f"ALTER TABLE {self.points} ALTER half SET STORAGE {'PLAIN' if in_row else 'EXTERNAL'}, "
            "ALTER embedding SET STORAGE EXTERNAL, ALTER words SET STORAGE EXTERNAL",
            f'CREATE INDEX "{self.collection}__documents" ON {self.points} (document)',
            f'CREATE INDEX "{self.collection}__words" ON {self.points} USING gin (words)',
            f'CREATE TABLE {self.entries} (key text COLLATE "C" PRIMARY KEY, kind text COLLATE "C" NOT NULL, '
            '"group" text COLLATE "C" NOT NULL, value text NOT NULL)',
            f'CREATE INDEX "{self.collection}__kinds" ON {self.entries} (kind, "group", key)',
            f"COMMENT ON TABLE {self.points} IS 'Loccit points, version 1'",
            f"COMMENT ON TABLE {self.entries} IS 'Loccit entries, version 1'",
        ]

    def drop(self, connection: Connection) -> None:
        """Delete both tables, if they are ours."""
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if self.dimension(connection) is not None:
                connection.execute(f"DROP TABLE IF EXISTS {self.points}, {self.entries}")


def _has_schema(connection: Connection, name: str) -> bool:
    return connection.execute("SELECT to_regnamespace(%s)", (f'"{name}"',)).fetchone() != (None,)


def _need_utf8(connection: Connection) -> None:
    encoding = connection.execute(
        "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()"
    )
    if (row := encoding.fetchone()) != ("UTF8",):
        raise StoreError(
            f"postgres: the database is encoded in {row[0] if row else 'an unknown way'} and cannot hold all "
            "characters. Make one with ENCODING 'UTF8', and name it in connection_string."
        )


def _need_pgvector(connection: Connection, schema: str) -> None:
    home = "public" if _has_schema(connection, "public") else schema
    try:
        with connection.transaction():
            connection.execute(f'CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA "{home}"')
    except psycopg.errors.InsufficientPrivilege:
        raise StoreAccessError(
            "postgres: the database has no pgvector yet, and the user of connection_string may not add it. Have an "
            "administrator run there: CREATE EXTENSION vector"
        ) from None
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile):
        raise StoreError(
            "postgres: the server of connection_string has no pgvector. Install it there (it is a package of its own "
            "on most systems), then run: CREATE EXTENSION vector"
        ) from None
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    version = tuple(int(part) for part in re.findall(r"\d+", row[0])[:2]) if row else (0, 0)
    if version < _OLDEST:
        raise StoreSchemaError(
            f"postgres: pgvector is of version {row[0] if row else 'none'}, and 0.8 or later is needed. Update it on "
            "the server, then run: ALTER EXTENSION vector UPDATE"
        )


logger: logging.Logger = logging.getLogger("loccit")

# What pgvector can index at half precision.
_MOST_DIMENSIONS = 4_000
# How often to check whether the index exists, and whether it is time to build it.
_LOOK_SECONDS = 30.0
_LOOK_EVERY = 5_000
# Separates the locks for building an index from other locks; the number has no meaning.
_INDEX_LOCK = 72_944

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
        settings.number("exact_below", 50_000, 0, 2_000_000_000),
        settings.number("ef_search", 100, 1, 1000),
        settings.number("m", 16, 2, 100),
        settings.number("ef_construction", 128, 4, 1000),
        settings.option("build_memory", "512MB"),
    )
    if options.ef_construction < 2 * options.m:
        raise UsageError(
            "The option ef_construction of the database provider postgres must be at least twice m."
        )
    if not re.fullmatch(r"\d+(kB|MB|GB)", options.build_memory):
        raise UsageError("The option build_memory of the database provider postgres must be like 512MB.")
    return options


class VectorIndex:
    """The index of one collection, as one store sees it: others may build or drop it."""

    def __init__(self, tables: Tables, options: IndexOptions) -> None:
        self._tables = tables
        self._options = options
        self._guard = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Check again the next time."""
        with self._guard:
            self._there = False
            self._looked = -_LOOK_SECONDS
            self._unlooked = _LOOK_EVERY

    def is_there(self, connection: Connection) -> bool:
        """Whether there is a usable index."""
        now = time.monotonic()
        with self._guard:
            if now - self._looked < _LOOK_SECONDS:
                return self._there
        there = self._is_valid(connection)
        with self._guard:
            self._there, self._looked = there, now
        return there

    def grow(self, pool: Pool, written: int) -> None:
        """Build the index if, with what was written, there are enough points for one."""
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
        """Build the index while others go on reading and writing, unless another process is doing so."""
        try:
            locked = connection.execute(
                "SELECT pg_try_advisory_lock(%s, hashtext(%s))", (_INDEX_LOCK, self._tables.points)
            )
            if locked.fetchone() != (True,) or self._is_valid(connection):
                return
            connection.seconds = float("inf")
            connection.execute("SET statement_timeout = 0")
            connection.execute(
                "SELECT set_config('maintenance_work_mem', %s, false)", (self._options.build_memory,)
            )
            # An interrupted one is useless, and in the way.
            connection.execute(f'DROP INDEX IF EXISTS "{self._tables.schema}"."{self._tables.vector_index}"')
            connection.execute(
                f'CREATE INDEX CONCURRENTLY "{self._tables.vector_index}" ON {self._tables.points} '
                "USING hnsw (half halfvec_ip_ops) "
                f"WITH (m = {self._options.m}, ef_construction = {self._options.ef_construction})"
            )
            # Not only when the server notices that the connection is closed: until then nobody else could build.
            connection.execute("SELECT pg_advisory_unlock_all()")
        except psycopg.Error as error:
            # What was written is stored and found all the same, only more slowly.
            logger.warning(
                "postgres: the index over the vectors of %s could not be made, so that each search compares all: %s",
                self._tables.collection,
                error.diag.message_primary or type(error).__name__,
            )
        finally:
            # The settings end with the connection, and so does the lock after an error.
            connection.close()
