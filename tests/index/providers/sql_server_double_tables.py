"""The tables of the double of SQL Server, how their rows are written, and how full text search ranks them."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from tests.index.providers.sql_server_double_statements import PAYLOAD


class Table:
    """A table of points (with a dimension), of entries, or of somebody else (with columns of its own)."""

    def __init__(self, columns: dict[str, str], dimension: int = 0) -> None:
        self.columns, self.dimension = columns, dimension
        self.rows: dict[str, dict[str, Any]] = {}
        self.full_text = False
        # What the background indexing has seen.
        self.words: dict[str, list[str]] = {}


def whole(row: dict[str, Any]) -> tuple[Any, ...]:
    """Write a row; vectors come as text with seven digits after the point, as the server has it."""
    vector = row["vector"]
    text = None if vector is None else "[" + ",".join(f"{number:.7e}" for number in vector) + "]"
    return (row["id"], row["document"], text, *(row[name] for name in PAYLOAD))


def bm25(documents: dict[str, list[str]], query: list[str]) -> dict[str, int]:
    """Rank like FREETEXTTABLE: Okapi BM25 with k1 = 1.2 and b = 0.75, as a whole number up to 1,000."""
    average = sum(map(len, documents.values())) / max(1, len(documents))
    scores: dict[str, float] = {}
    for word in set(query):
        holders = {name: Counter(words)[word] for name, words in documents.items() if word in words}
        weight = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for name, count in holders.items():
            bound = 1.2 * (0.25 + 0.75 * len(documents[name]) / average)
            scores[name] = scores.get(name, 0.0) + weight * 2.2 * count / (bound + count)
    return {name: min(1000, round(40 * score)) for name, score in scores.items()}
