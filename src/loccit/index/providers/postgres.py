"""PostgreSQL with pgvector: points and entries in two tables, searched by vector, by words and by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from loccit.index.providers.link import Result
from loccit.index.providers.postgres_link import Connection, Pool
from loccit.index.providers.postgres_queries import (
    Searches,
    WordCounts,
    escaped,
    read_vector,
    readable,
    texts,
    tsvectors,
    unescaped,
    uuids,
    vectors,
)
from loccit.index.providers.postgres_tables import COLUMNS, Tables, VectorIndex, index_options
from loccit.index.providers.tables import Documents, TableStore, Weights
from loccit.index.retry import retrying
from loccit.index.settings import DatabaseSettings
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

_BATCH = 1_000
_POINT = f"id::text, document, vector_send(embedding), {', '.join(PAYLOAD)}"
_ENTRY = 'key, kind, "group", value'
_ENTRY_COLUMNS = ("key", "kind", '"group"', "value")
_POINT_COLUMNS = ("id", "document", "embedding", "words", *COLUMNS)


class PostgresStore(TableStore[str, Any]):
    """A collection in a PostgreSQL database. Points and entries are written, rows are read."""

    provider = "postgres"
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, claims=True, max_filter=10_000, batch=_BATCH
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "schema": "The schema that holds the tables; it is made if it is missing (public).",
        "connections": "How many connections a process may have at once (8).",
        "exact_below": "Up to this many points a search compares all of them; beyond, it uses an HNSW index (50000).",
        "ef_search": "How many candidates a search of the index keeps, at least as many as are wanted (100).",
        "m": "How many neighbours the index keeps for a point (16).",
        "ef_construction": "How many candidates are looked at while the index is made (128).",
        "build_memory": "How much memory the server may use to make the index, as PostgreSQL writes it (512MB).",
    }

    # This many of the longest entry values are a few megabytes.
    bytes_at_once = 64_000_000
    keys_at_once = 10_000
    page = _BATCH

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._tables = Tables(settings.option("schema", "public"), settings.collection)
        self._points, self._entries = self._tables.points, self._tables.entries
        options = index_options(settings)
        self._index = VectorIndex(self._tables, options)
        self._pool = Pool(settings, self.describe())
        self._counts = WordCounts(self._points)
        self._searches = Searches(self._points, options.exact_below, options.ef_search, self._counts)

    def _run(self, work: Callable[[Connection], Result]) -> Result:
        """Call a function with a connection; temporary failures are retried."""

        def attempt() -> Result:
            with self._pool.connection() as connection:
                return work(connection)

        return retrying(attempt)

    def _rows(self, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(statement, values, binary=True).fetchall())

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None if there is no table."""
        return self._run(self._tables.dimension)

    def _make(self, dimension: int) -> None:
        """Create the extension, the schema, the tables and their indexes, as far as they are missing."""
        if self.dimension() is None:
            self._run(lambda connection: self._tables.create(connection, dimension))
            # Connections opened before the extension do not know its types.
            self._pool.clear()

    def drop(self) -> None:
        """Delete the tables."""
        self._run(self._tables.drop)
        self._counts.forget()
        self._index.forget()

    def close(self) -> None:
        """Close the connections; they are opened again on demand."""
        self._pool.clear()

    def count(self) -> int:
        """Return the number of points."""
        return int(self._rows(f"SELECT count(*) FROM {self._points}")[0][0])

    def now(self) -> float:
        """Return the server's time."""
        return float(self._rows("SELECT extract(epoch FROM clock_timestamp())::float8")[0][0])

    # -- rows ------------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, and build the vector index when there are enough."""
        super().upsert(points)
        self._index.grow(self._pool, len(points))

    def _write(self, where: str, rows: list[Any]) -> None:
        # All writers go through a table in one order, so that they cannot deadlock.
        ordered = sorted(rows, key=lambda row: row[0] if isinstance(row, Entry) else row.id)
        names = _POINT_COLUMNS if where == self._points else _ENTRY_COLUMNS
        changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        statement = (
            f"INSERT INTO {where} ({', '.join(names)}) SELECT * FROM unnest({', '.join(['%s'] * len(names))}) "
            f"ON CONFLICT ({names[0]}) DO UPDATE SET {changes}"
        )
        values = _point_values if where == self._points else _entry_values
        self._run(lambda connection: connection.execute(statement, values(connection, ordered)))

    def _delete(self, where: str, keys: list[str]) -> None:
        key, listed = self._keys(where, sorted(keys))
        self._run(
            lambda connection: connection.execute(f"DELETE FROM {where} WHERE {key} = ANY(%s)", (listed,))
        )

    def _read(self, where: str, keys: list[str]) -> list[tuple[Any, ...]]:
        key, listed = self._keys(where, keys)
        shown = _POINT if where == self._points else _ENTRY
        return self._rows(f"SELECT {shown} FROM {where} WHERE {key} = ANY(%s)", (listed,))

    def _keys(self, where: str, keys: list[str]) -> tuple[str, Any]:
        return ("id", uuids(keys)) if where == self._points else ("key", texts(keys))

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[tuple[Any, ...]]]:
        """Walk along an index; every page begins after the last row of the previous one."""
        shown, order, behind = _POINT if whole else "id::text, document", "id", " AND id > %(last_key)s::uuid"
        if where == self._entries:
            shown, order = _ENTRY, '"group", key'
            behind = ' AND ("group", key) > (%(last_group)s, %(last_key)s)'
        some = "".join(f' AND "{name}" = %({name})s' for name in wanted)
        most, above, values = self._rows_at_once(where), "", dict(wanted)
        while rows := self._rows(
            f"SELECT {shown} FROM {where} WHERE true{some}{above} ORDER BY {order} LIMIT {most}", values
        ):
            yield rows
            if len(rows) < most:
                return
            above = behind
            values |= {"last_key": rows[-1][0], "last_group": rows[-1][2] if where == self._entries else ""}

    def _row(self, point: Point) -> Point:
        return point

    def _point(self, row: tuple[Any, ...]) -> Point:
        name, document, *rest = row
        if not rest:
            return Point(name, document)
        return Point(name, document, None if rest[0] is None else read_vector(rest[0]), *rest[1:])

    def _entry_row(self, entry: Entry) -> Entry:
        return entry

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        key, kind, group, value = row
        return Entry(key, kind, group, unescaped(value))

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Compare all points if there are few, and use the index if there are many."""

        def work(connection: Connection) -> list[Found]:
            indexed = self._index.is_there(connection)
            return self._searches.nearest(connection, vector, limit, documents, indexed)

        return self._run(work)

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        """Full-text search; rare words count more."""
        return self._run(lambda connection: self._searches.worded(connection, terms, limit, documents))

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Fuse both searches by score in one statement; of a chunk, its best passage is returned."""

        def work(connection: Connection) -> list[Found]:
            indexed = self._index.is_there(connection)
            return self._searches.fused(connection, vector, terms, weights, limit, documents, indexed)

        return self._run(work)

    # -- claims ----------------------------------------------------------------------------------------------

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry if it is as expected.

        Only finding a good connection is retried. If the statement itself were repeated after its answer got lost, the
        winner would be told that it lost.
        """
        with retrying(lambda: self._pool.lend(sure=True)) as connection:
            return self.swap_once(connection, entry, expected)

    def swap_once(self, connection: Connection, entry: Entry, expected: str | None) -> bool:
        """Store an entry if it is as expected, in one statement."""
        key, kind, group, value = entry
        if expected is None:
            done = connection.execute(
                f"INSERT INTO {self._entries} ({_ENTRY}) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (key, kind, group, escaped(value)),
            )
        else:
            done = connection.execute(
                f'UPDATE {self._entries} SET kind = %s, "group" = %s, value = %s WHERE key = %s AND value = %s',
                (kind, group, escaped(value), key, escaped(expected)),
            )
        return done.rowcount == 1


def _point_values(connection: Connection, points: Sequence[Point]) -> tuple[Any, ...]:
    return (
        uuids(point.id for point in points),
        texts(point.document for point in points),
        vectors((point.vector for point in points), connection.vector_oid, connection.vectors_oid),
        tsvectors(point.terms for point in points),
        *(texts(readable(getattr(point, name)) for point in points) for name in COLUMNS),
    )


def _entry_values(connection: Connection, entries: Sequence[Entry]) -> tuple[Any, ...]:
    keys, kinds, groups, values = zip(*entries, strict=True)
    return texts(keys), texts(kinds), texts(groups), texts(map(escaped, values))
