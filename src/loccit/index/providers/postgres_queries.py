"""Queries for PostgreSQL: rows in binary, and searches by vector, by words, and both fused.

Ranking by ``ts_rank`` alone finds half of what BM25 finds, because it weighs all words equally. So each word is ranked
separately and weighted by its IDF, which comes close to BM25.
"""

from __future__ import annotations

import math
import re
import struct
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np

from loccit.index.providers.postgres_link import Connection, Raw
from loccit.index.store import Found
from loccit.models.embedding.protocol import Vectors

# PostgreSQL's type numbers for its own types, and for arrays of them.
_UUID, _TEXT, _TSVECTOR = 2950, 25, 3614
_UUIDS, _TEXTS, _TSVECTORS = 2951, 1009, 3643
# Limits of tsvector: positions in a text, positions of one word, bytes of one word and of all.
_LAST_PLACE = 16_383
_MOST_PLACES = 255
_LONGEST_WORD = 2_000
_MOST_BYTES = 500_000
# What text in PostgreSQL cannot contain, and the character that replaces it.
_UNFIT = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


def _array(array_oid: int, oid: int, items: Sequence[bytes | None]) -> Raw:
    if not items:
        return Raw(array_oid, struct.pack(">iiI", 0, 0, oid))
    head = struct.pack(">iiIii", 1, int(None in items), oid, len(items), 1)
    null = b"\xff\xff\xff\xff"
    return Raw(
        array_oid,
        head + b"".join(null if item is None else len(item).to_bytes(4, "big") + item for item in items),
    )


def uuids(ids: Iterable[str]) -> Raw:
    """Return ids as an array of uuid."""
    return _array(_UUIDS, _UUID, [UUID(name).bytes for name in ids])


def texts(values: Iterable[str]) -> Raw:
    """Return texts as an array of text."""
    return _array(_TEXTS, _TEXT, [value.encode("utf-8") for value in values])


def vectors(values: Iterable[Vectors | None], oid: int, array_oid: int) -> Raw:
    """Return vectors as an array of pgvector's type, whose number differs between databases."""
    return _array(array_oid, oid, [None if value is None else _vector(value) for value in values])


def vector(value: Vectors, oid: int) -> Raw:
    """Return a vector as pgvector's type."""
    return Raw(oid, _vector(value))


def _vector(value: Vectors) -> bytes:
    return struct.pack(">HH", len(value), 0) + value.astype(">f4").tobytes()


def half_vector(value: Vectors, oid: int) -> Raw:
    """Return a vector as pgvector's type of half precision."""
    return Raw(oid, struct.pack(">HH", len(value), 0) + value.astype(">f2").tobytes())


def read_vector(data: bytes) -> Vectors:
    """Read a vector as ``vector_send`` writes it."""
    return np.frombuffer(data, ">f4", offset=4).astype(np.float32)


def tsvectors(values: Iterable[str]) -> Raw:
    """Return texts of words as an array of tsvector, each word unchanged; a text without words is null."""
    return _array(_TSVECTORS, _TSVECTOR, [_tsvector(value) if value.strip() else None for value in values])


def _tsvector(terms: str) -> bytes:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(readable(terms).split()[:_LAST_PLACE], 1):
        found = places.get(word)
        if found is None:
            places[word] = [place]
        elif len(found) < _MOST_PLACES:
            found.append(place)
    parts = []
    size = 0
    for word, found in places.items():
        data = _cut(word.encode("utf-8"))
        size += len(data)
        if size > _MOST_BYTES:
            break
        parts.append(data + b"\0" + struct.pack(f">{len(found) + 1}H", len(found), *found))
    return struct.pack(">i", len(parts)) + b"".join(parts)


def lexeme(word: str) -> str:
    """Return a word in the form of a tsvector."""
    return _cut(readable(word).encode("utf-8")).decode("utf-8")


def _cut(word: bytes) -> bytes:
    """Return a word, truncated if it is too long."""
    if len(word) <= _LONGEST_WORD:
        return word
    return word[:_LONGEST_WORD].decode("utf-8", "ignore").encode("utf-8")


def tsquery_word(word: str) -> str:
    """Return a word quoted for the text form of a tsquery."""
    text = lexeme(word).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"


def readable(text: str) -> str:
    """Return a text for people in a form that the database can hold."""
    return _UNFIT.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Return any text in a form that the database can hold, so that ``unescaped`` gives it back exactly."""
    return _UNFIT.sub(lambda found: f"\x1a{ord(found[0]):04x}", text)


def unescaped(text: str) -> str:
    """Return the text that was given to ``escaped``."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\x1a" in text else text


def read_found(ids: str | None, scores: bytes | None) -> list[Found]:
    """Parse an answer that the database packed into two values: all the ids, and all the scores."""
    if not ids or not scores:
        return []
    return list(map(Found, ids.split(" "), np.frombuffer(scores, ">f4").tolist()))


_REMEMBER_SECONDS = 300.0
_MOST_REMEMBERED = 50_000
# Counting stops here; a word in this many points has a low IDF.
_COUNT_UP_TO = 20_000
# Points that only have words in more than this share of all are ignored.
_COMMON = 0.1
# Of a very long query, the rarest words.
_MOST_WORDS = 64


@dataclass(slots=True)
class WordCounts:
    """The number of points with a word, cached for some minutes."""

    table: str
    _known: dict[str, int] = field(default_factory=dict)
    _points: int = 0
    _since: float = -math.inf
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def look_up(self, connection: Connection, words: Sequence[str]) -> tuple[dict[str, int], int]:
        """Return the numbers of points with these words, without those that none has; and of all with words."""
        with self._guard:
            if time.monotonic() - self._since > _REMEMBER_SECONDS or len(self._known) > _MOST_REMEMBERED:
                self._known, self._since = {}, -math.inf
            missing = [word for word in words if word not in self._known]
            stale = self._since == -math.inf
        if stale:
            row = connection.execute(f"SELECT count(words) FROM {self.table}").fetchone()
            with self._guard:
                self._points, self._since = (row[0] if row else 0), time.monotonic()
        if missing:
            counted = connection.execute(
                "SELECT (SELECT count(*) FROM ("
                f"SELECT 1 FROM {self.table} WHERE words @@ word::tsquery LIMIT %s) AS counted)"
                " FROM unnest(%s) WITH ORDINALITY AS asked (word, place) ORDER BY place",
                (_COUNT_UP_TO, texts(map(tsquery_word, missing))),
            ).fetchall()
            with self._guard:
                # A word that nobody has today may be written the next moment.
                self._known.update(
                    (word, row[0]) for word, row in zip(missing, counted, strict=True) if row[0]
                )
        with self._guard:
            return {word: self._known[word] for word in words if word in self._known}, self._points

    def forget(self) -> None:
        """Query again the next time."""
        with self._guard:
            self._known, self._since = {}, -math.inf


def ranked(table: str, counts: Mapping[str, int], points: int, among: str) -> tuple[str, dict[str, Any]]:
    """Return a statement, without its limit's value, for the points with some words, and its parameters."""
    words = sorted(counts, key=lambda word: (counts[word], word))[:_MOST_WORDS]
    telling = [word for word in words if counts[word] <= _COMMON * points] or words
    values: dict[str, Any] = {"any_word": " | ".join(map(tsquery_word, telling))}
    parts = []
    for number, word in enumerate(words):
        values[f"word{number}"], values[f"worth{number}"] = tsquery_word(word), idf(counts[word], points)
        # 1: the longer the text, the less its words count.
        parts.append(f"%(worth{number})s * ts_rank(all_words, %(word{number})s::tsquery, 1)")
    # The words are stored outside the table; concatenating nothing fetches them once and not for each query
    # word.
    return (
        f"SELECT id, {' + '.join(parts)} AS score FROM ("
        f"SELECT id, words || ''::tsvector AS all_words FROM {table} "
        f"WHERE words @@ %(any_word)s::tsquery{among} OFFSET 0) AS matching ORDER BY score DESC, id LIMIT %(limit)s"
    ), values


def idf(having: int, points: int) -> float:
    """Return the IDF of a word that some of the points have, as in BM25."""
    return math.log(1 + (max(points, having) - having + 0.5) / (having + 0.5))


def distinct(terms: Sequence[str]) -> list[str]:
    """Return the words of a query in the form of the table, without duplicates."""
    return list(dict.fromkeys(word for term in terms if (word := lexeme(term)).strip()))


# The minimum depth of each side of a fusion.
_DEPTH = 200
# pgvector's own limit of candidates in an index scan.
MOST_CANDIDATES = 1_000
# How many points an index scan may visit, at least and for each one wanted.
_PASSED, _PASSED_FOR_ONE = 20_000, 20
# Vectors that are compared at full precision when all are.
_FEW_NUMBERS = 64
_PACKED = "SELECT string_agg(id::text, ' '), string_agg(float4send(score::float4), '') FROM ({rows}) AS found"
# The passages of a chunk differ in the last three digits of their ids; only the first of them has words. Each
# side is normalised so that its best is 1, as in our own fusion. Rank fusion, which other databases use,
# prefers whatever is on both lists, however the sides are weighted.
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
    """Searches of one table. Up to ``exact_below`` points are compared exhaustively, more with the index.

    In each method, ``indexed`` says whether there is a vector index.
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
            # An index scan gives up if too little of what it visits passes the filter.
            if len(found) == limit:
                return found
        column, values["query"] = _compared(connection, query, False)
        return _read(connection, _PACKED.format(rows=self._exact(column, documents)), values)

    def worded(
        self, connection: Connection, terms: Sequence[str], limit: int, documents: Collection[str] | None
    ) -> list[Found]:
        """Return the points with any of some words."""
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
        """Return what both searches find, by weighted score; one point per chunk."""
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
        # Vectors have length one, so the inner product is the cosine. Ordered by the score and not by the
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
        """Run a statement with the index, searched as deep as needed; in one round trip."""
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

    At half precision, the errors of single numbers average out, unless a vector has only a few.
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
