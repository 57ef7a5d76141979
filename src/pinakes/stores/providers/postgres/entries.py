"""The entries of a collection in PostgreSQL: small records by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from pinakes.stores.providers.postgres.connection import Connection
from pinakes.stores.providers.postgres.rows import escaped, texts, unescaped
from pinakes.stores.store import Entry

# So many of the longest values are a few megabytes.
_BATCH = 200
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
        for start in range(0, len(ordered), _BATCH):
            batch = ordered[start : start + _BATCH]
            keys, kinds, groups, values = zip(*batch, strict=True)
            columns = (texts(keys), texts(kinds), texts(groups), texts(map(escaped, values)))
            self._execute(statement, columns)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of the entries that exist, by key."""
        found: dict[str, str] = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
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
                f'AND ("group", key) > (%(last_group)s, %(last_key)s) ORDER BY "group", key LIMIT {_BATCH}',
                {"kind": kind, "group": group, "last_group": last[0], "last_key": last[1]},
            )
            if rows:
                yield [Entry(row[0], row[1], row[2], unescaped(row[3])) for row in rows]
            if len(rows) < _BATCH:
                return
            last = (rows[-1][2], rows[-1][0])

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries by key."""
        ordered = sorted(keys)
        for start in range(0, len(ordered), _KEYS):
            batch = ordered[start : start + _KEYS]
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
