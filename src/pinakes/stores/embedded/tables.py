"""Tables of values: questions about many things at once, in a few queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from pinakes.stores.embedded.database import Database

# SQLite may be built to take no more values in one query than this.
_MAX_VALUES = 900
_BATCH = 500

Value = TypeVar("Value")


def batches(values: Collection[Value]) -> Iterator[list[Value]]:
    """Cut values into lists that a query can take."""
    ordered = list(values)
    return (ordered[start : start + _BATCH] for start in range(0, len(ordered), _BATCH))


def joined(database: Database, columns: str, rows: Collection[Sequence[Any]], query: str) -> list[Any]:
    """Ask a query that begins with a table ``t`` of given values; each row of it is answered by itself.

    Rows of nothing, which match nothing, fill the table up to one of a few sizes: a query that has been asked in
    the same words need not be understood again.
    """
    width = columns.count(",") + 1
    largest = _MAX_VALUES // width
    ordered = list(rows)
    found: list[Any] = []
    for first in range(0, len(ordered), largest):
        batch = ordered[first : first + largest]
        size = min(largest, 1 << (len(batch) - 1).bit_length())
        marks = ",".join(["(" + ",".join("?" * width) + ")"] * size)
        values = [value for row in batch for value in row] + [None] * (width * (size - len(batch)))
        found += database.rows(f"WITH t ({columns}) AS (VALUES {marks}) {query}", values)
    return found
