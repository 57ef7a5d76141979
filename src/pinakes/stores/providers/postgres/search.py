"""The statements that search: by vector, by words, and both fused. Each answers with one row of two packed values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pinakes.embedding.protocol import Vectors
from pinakes.stores.providers.postgres.connection import Connection
from pinakes.stores.providers.postgres.rows import Raw, half_vector, read_found, texts, vector
from pinakes.stores.providers.postgres.words import WordCounts, distinct, ranked
from pinakes.stores.store import Found

# How deep each side of a fusion is looked at, at least.
_DEPTH = 200
# pgvector's own bound on how many candidates a scan of its index keeps.
MOST_CANDIDATES = 1_000
# How many points a scan of the index may pass, at least and for each that is wanted.
_PASSED, _PASSED_FOR_ONE = 20_000, 20
# Vectors that are compared at full precision when all are.
_FEW_NUMBERS = 64
_PACKED = "SELECT string_agg(id::text, ' '), string_agg(float4send(score::float4), '') FROM ({rows}) AS found"
# The passages of a chunk differ in the last three digits of their ids; only the first of them has words. Each side is
# brought to a scale that ends with 1 for its best, as our own fusion does. Ranks, which other databases fuse, give
# way to whatever is on both lists, however the sides are weighed.
_FUSED = """
WITH near AS (
    SELECT DISTINCT ON (chunk) left(id::text, 33) AS chunk, id, score FROM ({near}) AS passages
    ORDER BY chunk, score DESC, id
), worded AS (
    SELECT left(id::text, 33) AS chunk, id, score FROM ({worded}) AS first_passages
), scales AS (
    SELECT least(0, (SELECT min(score) FROM near)) AS lowest, (SELECT max(score) FROM near) AS nearest,
        (SELECT max(score) FROM worded) AS best
)
SELECT coalesce(near.id, worded.id) AS id,
    coalesce(%(near_weight)s * (near.score - lowest) / nullif(nearest - lowest, 0), 0)
    + coalesce(%(worded_weight)s * worded.score / best, 0) AS score
FROM scales, near FULL JOIN worded USING (chunk) ORDER BY score DESC, 1 LIMIT %(wanted)s
"""


@dataclass(frozen=True, slots=True)
class Searches:
    """Searches of one table. So many points as ``exact_below`` are compared one by one, more with the index.

    Of each method, ``indexed`` says whether there is an index over the vectors.
    """

    table: str
    exact_below: int
    candidates: int
    counts: WordCounts

    def nearest(
        self,
        connection: Connection,
        query: Vectors,
        limit: int,
        documents: Collection[str] | None,
        indexed: bool,
    ) -> list[Found]:
        """Return the nearest points."""
        values: dict[str, Any] = {"limit": limit, **_named(documents)}
        if indexed and not self._few(connection, documents):
            _, values["query"] = _compared(connection, query, True)
            found = self._with_index(connection, _PACKED.format(rows=self._approximate(documents)), values)
            # A scan of the index gives up where too little of what it passes fits the filter.
            if len(found) == limit:
                return found
        column, values["query"] = _compared(connection, query, False)
        return _read(connection, _PACKED.format(rows=self._exact(column, documents)), values)

    def worded(
        self, connection: Connection, terms: Sequence[str], limit: int, documents: Collection[str] | None
    ) -> list[Found]:
        """Return the points that have any of some words."""
        counts, points = self.counts.look_up(connection, distinct(terms))
        if not counts:
            return []
        rows, values = ranked(self.table, counts, points, _among(documents))
        return _read(connection, _PACKED.format(rows=rows), {**values, "limit": limit, **_named(documents)})

    def fused(
        self,
        connection: Connection,
        query: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None,
        indexed: bool,
    ) -> list[Found]:
        """Return what both searches find, by their weighted scores; one point of a chunk."""
        through_index = indexed and not self._few(connection, documents)
        counts, points = self.counts.look_up(connection, distinct(terms))
        values: dict[str, Any] = {}
        rows = f"SELECT id, 0::float8 AS score FROM {self.table} WHERE false"
        if counts:
            rows, values = ranked(self.table, counts, points, _among(documents))
        column, asked = _compared(connection, query, through_index)
        values |= {"query": asked, "limit": max(limit, _DEPTH), "wanted": limit}
        total = sum(weights) or 1.0
        values |= {
            "near_weight": weights[0] / total,
            "worded_weight": weights[1] / total,
            **_named(documents),
        }
        near = self._approximate(documents) if through_index else self._exact(column, documents)
        statement = _PACKED.format(rows=_FUSED.format(near=near, worded=rows))
        return (self._with_index if through_index else _read)(connection, statement, values)

    def _exact(self, column: str, documents: Collection[str] | None) -> str:
        # Vectors are of length one, so that the inner product is the cosine. Ordered by the score and not by the
        # operator alone, a statement cannot use the index.
        return (
            f"SELECT id, -({column} <#> %(query)s) AS score FROM {self.table} WHERE {column} IS NOT NULL"
            f"{_among(documents)} ORDER BY score DESC LIMIT %(limit)s"
        )

    def _approximate(self, documents: Collection[str] | None) -> str:
        return (
            "SELECT * FROM ("
            f"SELECT id, -(half <#> %(query)s) AS score FROM {self.table} WHERE half IS NOT NULL{_among(documents)} "
            "ORDER BY half <#> %(query)s LIMIT %(limit)s"
            ") AS near ORDER BY score DESC, id"
        )

    def _with_index(self, connection: Connection, statement: str, values: dict[str, Any]) -> list[Found]:
        """Run a statement with the index, which is made to look as far as is needed; in one round trip."""
        candidates = min(MOST_CANDIDATES, max(self.candidates, values["limit"]))
        passed = max(_PASSED, _PASSED_FOR_ONE * values["limit"])
        with connection.pipeline(), connection.transaction():
            connection.execute(
                "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.max_scan_tuples', %s, true), "
                "set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_seqscan', 'off', true), "
                "set_config('enable_sort', 'off', true)",
                (str(candidates), str(passed)),
            )
            answer = connection.execute(statement, values, binary=True)
            row = answer.fetchone()
        return read_found(*row) if row else []

    def _few(self, connection: Connection, documents: Collection[str] | None) -> bool:
        """Whether a filter leaves so few points that all are compared."""
        if documents is None:
            return False
        found = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {self.table} WHERE true{_among(documents)} LIMIT %(most)s) AS few",
            {"most": self.exact_below + 1, **_named(documents)},
        ).fetchone()
        return found is not None and found[0] <= self.exact_below


def _compared(connection: Connection, query: Vectors, through_index: bool) -> tuple[str, Raw]:
    """Return the column that a query is compared with, and the query in its type.

    At half precision, the errors of single numbers even out, unless a vector has only a few.
    """
    if len(query) < _FEW_NUMBERS and not through_index:
        return "embedding", vector(query, connection.vector_oid)
    return "half", half_vector(query, connection.half_oid)


def _among(documents: Collection[str] | None) -> str:
    return "" if documents is None else " AND document = ANY(%(documents)s)"


def _named(documents: Collection[str] | None) -> dict[str, Any]:
    return {} if documents is None else {"documents": texts(documents)}


def _read(connection: Connection, statement: str, values: dict[str, Any]) -> list[Found]:
    row = connection.execute(statement, values, binary=True).fetchone()
    return read_found(*row) if row else []
