"""Keyword search in PostgreSQL's full text, with what its own ranking lacks: a rare word counts for more.

Ranking by ``ts_rank`` alone finds half of what BM25 finds, because it takes all words for equally telling. So each
word is ranked by itself and weighed by how few points have it, which comes close to BM25.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pinakes.stores.providers.postgres.connection import Connection
from pinakes.stores.providers.postgres.rows import lexeme, texts, tsquery_word

_REMEMBER_SECONDS = 300.0
_MOST_REMEMBERED = 50_000
# Counting stops here; a word that so many points have tells little.
_COUNT_UP_TO = 20_000
# Points that have nothing but words that are in more than this share of all are not looked at.
_COMMON = 0.1
# Of a very long query, the rarest words.
_MOST_WORDS = 64


@dataclass(slots=True)
class WordCounts:
    """How many points have a word, asked once and remembered for some minutes."""

    table: str
    _known: dict[str, int] = field(default_factory=dict)
    _points: int = 0
    _since: float = -math.inf
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def look_up(self, connection: Connection, words: Sequence[str]) -> tuple[dict[str, int], int]:
        """Return the numbers of points that have these words, without those that none has; and of all with words."""
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
        """Ask again the next time."""
        with self._guard:
            self._known, self._since = {}, -math.inf


def ranked(table: str, counts: Mapping[str, int], points: int, among: str) -> tuple[str, dict[str, Any]]:
    """Return a statement, without its limit's value, for the points that have some words, and the values it wants."""
    words = sorted(counts, key=lambda word: (counts[word], word))[:_MOST_WORDS]
    telling = [word for word in words if counts[word] <= _COMMON * points] or words
    values: dict[str, Any] = {"any_word": " | ".join(map(tsquery_word, telling))}
    parts = []
    for number, word in enumerate(words):
        values[f"word{number}"], values[f"worth{number}"] = tsquery_word(word), idf(counts[word], points)
        # 1: the longer the text, the less its words count.
        parts.append(f"%(worth{number})s * ts_rank(all_words, %(word{number})s::tsquery, 1)")
    # The words are kept beside the table; adding nothing to them fetches them once and not for each of the query's.
    return (
        f"SELECT id, {' + '.join(parts)} AS score FROM ("
        f"SELECT id, words || ''::tsvector AS all_words FROM {table} "
        f"WHERE words @@ %(any_word)s::tsquery{among} OFFSET 0) AS matching ORDER BY score DESC, id LIMIT %(limit)s"
    ), values


def idf(having: int, points: int) -> float:
    """Return what a word counts for that some of the points have, as BM25 has it."""
    return math.log(1 + (max(points, having) - having + 0.5) / (having + 0.5))


def distinct(terms: Sequence[str]) -> list[str]:
    """Return the words of a query as the table has them, each once."""
    return list(dict.fromkeys(word for term in terms if (word := lexeme(term)).strip()))
