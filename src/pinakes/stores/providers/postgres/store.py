"""PostgreSQL with pgvector: points and entries in two tables, searched by vector, by words and by both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from pinakes.embedding.protocol import Vectors
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.postgres.connection import Connection, Pool
from pinakes.stores.providers.postgres.queries import (
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
from pinakes.stores.providers.postgres.schema import PAYLOAD, Tables, VectorIndex, index_options
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

# So many of the longest values are a few megabytes.
_ENTRIES = 200
_KEYS = 5_000
Result = TypeVar("Result")


class Run(Protocol):
    """Does something with a connection, more than once if it fails for a passing reason."""

    def __call__(self, work: Callable[[Connection], Result], /) -> Result:
        """Return what the work returns."""
        ...


class EntryTable:
    """The half of a store that keeps entries."""

    def __init__(self, table: str, run: Run) -> None:
        self._table = table
        self._run = run

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries in place of those with the same keys."""
        # Each key once and in order, so that two who write the same keys do not wait for each other in a circle.
        ordered = [entry for _, entry in sorted({entry.key: entry for entry in entries}.items())]
        statement = (
            f'INSERT INTO {self._table} (key, kind, "group", value) SELECT * FROM unnest(%s, %s, %s, %s) '
            'ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, "group" = excluded."group", value = excluded.value'
        )
        for batch in batches(ordered, _ENTRIES):
            keys, kinds, groups, values = zip(*batch, strict=True)
            columns = (texts(keys), texts(kinds), texts(groups), texts(map(escaped, values)))
            self._execute(statement, columns)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of the entries that exist, by key."""
        found: dict[str, str] = {}
        for batch in batches(keys, _ENTRIES):
            rows = self._rows(f"SELECT key, value FROM {self._table} WHERE key = ANY(%s)", (texts(batch),))
            found.update((key, unescaped(value)) for key, value in rows)
        return found

    def scan(self, kind: str, group: str | None) -> Iterator[list[Entry]]:
        """Return the entries of a kind, or those of a kind and a group, in batches."""
        only = "" if group is None else ' AND "group" = %(group)s'
        last = ("", "")
        while True:
            rows = self._rows(
                f'SELECT key, kind, "group", value FROM {self._table} WHERE kind = %(kind)s{only} '
                f'AND ("group", key) > (%(last_group)s, %(last_key)s) ORDER BY "group", key LIMIT {_ENTRIES}',
                {"kind": kind, "group": group, "last_group": last[0], "last_key": last[1]},
            )
            if rows:
                yield [Entry(row[0], row[1], row[2], unescaped(row[3])) for row in rows]
            if len(rows) < _ENTRIES:
                return
            last = (rows[-1][2], rows[-1][0])

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries by key."""
        for batch in batches(sorted(keys), _KEYS):
            self._execute(f"DELETE FROM {self._table} WHERE key = ANY(%s)", (texts(batch),))

    def swap(self, connection: Connection, entry: Entry, expected: str | None) -> bool:
        """Store an entry only where its present value is ``expected``; in one statement, tried once."""
        key, kind, group, value = entry
        if expected is None:
            done = connection.execute(
                f'INSERT INTO {self._table} (key, kind, "group", value) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING',
                (key, kind, group, escaped(value)),
            )
        else:
            done = connection.execute(
                f'UPDATE {self._table} SET kind = %s, "group" = %s, value = %s WHERE key = %s AND value = %s',
                (kind, group, escaped(value), key, escaped(expected)),
            )
        return done.rowcount == 1

    def _execute(self, statement: str, values: Any) -> None:
        self._run(lambda connection: connection.execute(statement, values))

    def _rows(self, statement: str, values: Any) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(statement, values).fetchall())


_BATCH = 1_000
_IDS = 10_000
_COLUMNS = ("id", "document", "embedding", "words", *PAYLOAD)


class PostgresStore(Store):
    """A collection in a PostgreSQL database."""

    provider = "postgres"
    capabilities = Capabilities(keyword=True, hybrid=True, claims=True, max_filter=10_000, batch=_BATCH)
    known_options: ClassVar[Mapping[str, str]] = {
        "schema": "The schema that holds the tables; it is made if it is missing (public).",
        "connections": "How many connections a process may have at once (8).",
        "exact_below": "Up to so many points a search compares all; beyond, it uses an HNSW index (50000).",
        "ef_search": "How many candidates a search of the index keeps, at least as many as are wanted (100).",
        "m": "How many neighbours the index keeps for a point (16).",
        "ef_construction": "How many candidates are looked at while the index is made (128).",
        "build_memory": "How much memory the server may use to make the index, as PostgreSQL writes it (512MB).",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._tables = Tables(settings.option("schema", "public"), settings.collection)
        options = index_options(settings)
        self._index = VectorIndex(self._tables, options)
        self._pool = Pool(settings, self.describe())
        self._counts = WordCounts(self._tables.points)
        self._searches = Searches(self._tables.points, options.exact_below, options.ef_search, self._counts)
        self._entries = EntryTable(self._tables.entries, self._run)

    def _run(self, work: Callable[[Connection], Result]) -> Result:
        """Do something with a connection, more than once if it fails for a passing reason."""

        def attempt() -> Result:
            with self._pool.connection() as connection:
                return work(connection)

        return retrying(attempt)

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None when there is no table."""
        return self._run(self._tables.dimension)

    def create(self, dimension: int) -> None:
        """Make the extension, the schema, the tables and their indexes, as far as they are missing."""
        if (there := self.dimension()) is not None:
            self._tables.check(there, dimension)
            return
        self._run(lambda connection: self._tables.create(connection, dimension))
        # Connections that were there before the extension do not know its types.
        self._pool.clear()

    def drop(self) -> None:
        """Delete the tables."""
        self._run(self._tables.drop)
        self._counts.forget()
        self._index.forget()

    def close(self) -> None:
        """Close the connections; they are made again when they are needed."""
        self._pool.clear()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, a thousand in a statement."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])
        statement = (
            f"INSERT INTO {self._tables.points} ({', '.join(_COLUMNS)}) SELECT * FROM "
            f"unnest({', '.join(['%s'] * len(_COLUMNS))}) ON CONFLICT (id) DO UPDATE SET {changes}"
        )
        for batch in batches(_in_order(points), _BATCH):
            self._run(lambda connection, batch=batch: _insert(connection, statement, batch))  # type: ignore[misc]
        self._index.grow(self._pool, len(points))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        statement = f"DELETE FROM {self._tables.points} WHERE id = ANY(%s)"
        for batch in batches(sorted(ids), _IDS):
            self._run(lambda connection, batch=batch: connection.execute(statement, (uuids(batch),)))  # type: ignore[misc]

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id, with all that is stored of them."""
        statement = (
            "SELECT id::text, document, vector_send(embedding), terms, source_path, heading, language, file_type, "
            f"text FROM {self._tables.points} WHERE id = ANY(%s)"
        )
        found: list[Point] = []
        for batch in batches(ids, _BATCH):
            rows = self._rows(statement, (uuids(batch),))
            found += [Point(row[0], row[1], _vector(row[2]), *row[3:]) for row in rows]
        return found

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in batches, in the order of their ids."""
        vector = "vector_send(embedding)" if vectors else "NULL::bytea"
        among = "" if document is None else " AND document = %(document)s"
        last = "00000000-0000-0000-0000-000000000000"
        above = ">="
        while True:
            rows = self._rows(
                f"SELECT id::text, document, {vector} FROM {self._tables.points} "
                f"WHERE id {above} %(last)s::uuid{among} ORDER BY id LIMIT {_BATCH}",
                {"last": last, "document": document},
            )
            if rows:
                yield [Point(row[0], row[1], _vector(row[2])) for row in rows]
            if len(rows) < _BATCH:
                return
            last, above = rows[-1][0], ">"

    def count(self) -> int:
        """Return how many points there are."""
        return int(self._rows(f"SELECT count(*) FROM {self._tables.points}")[0][0])

    def _rows(self, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(statement, values, binary=True).fetchall())

    # -- searching -------------------------------------------------------------------------------------------

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Compare all points while there are few, and ask the index where there are many."""
        if not _can_find(limit, documents):
            return []

        def work(connection: Connection) -> list[Found]:
            return self._searches.nearest(
                connection, vector, limit, documents, self._index.is_there(connection)
            )

        return self._run(work)

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the full text; rare words count for more."""
        if not terms or not _can_find(limit, documents):
            return []
        return self._run(lambda connection: self._searches.worded(connection, terms, limit, documents))

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Fuse both searches by their scores in one statement; of a chunk, its best passage is returned."""
        if not _can_find(limit, documents):
            return []

        def work(connection: Connection) -> list[Found]:
            indexed = self._index.is_there(connection)
            return self._searches.fused(connection, vector, terms, weights, limit, documents, indexed)

        return self._run(work)

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        self._entries.put(entries)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return self._entries.get(keys)

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches."""
        return self._entries.scan(kind, group)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._entries.remove(keys)

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry where it is as expected.

        Only finding a good connection is repeated. Were the statement itself repeated after its answer got lost, who
        won would be told that they lost.
        """
        with retrying(lambda: self._pool.lend(sure=True)) as connection:
            return self._entries.swap(connection, entry, expected)

    def now(self) -> float:
        """Return the server's time."""
        ask = "SELECT extract(epoch FROM clock_timestamp())::float8"
        row = self._run(lambda connection: connection.execute(ask).fetchone())
        assert row is not None
        return float(row[0])


def _insert(connection: Connection, statement: str, points: Sequence[Point]) -> None:
    payload = [texts(readable(getattr(point, name)) for point in points) for name in PAYLOAD]
    connection.execute(
        statement,
        (
            uuids(point.id for point in points),
            texts(point.document for point in points),
            vectors((point.vector for point in points), connection.vector_oid, connection.vectors_oid),
            tsvectors(point.terms for point in points),
            *payload,
        ),
    )


def _in_order(points: Sequence[Point]) -> list[Point]:
    """Return each point once, the last of those with the same id; all writers go through the table in one order."""
    return [point for _, point in sorted({point.id: point for point in points}.items())]


def _vector(data: bytes | None) -> Vectors | None:
    return None if data is None else read_vector(data)


def _can_find(limit: int, documents: Collection[str] | None) -> bool:
    return limit > 0 and (documents is None or len(documents) > 0)
