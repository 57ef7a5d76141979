"""Index policies of Azure Cosmos DB containers, and the queries on them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from loccit.embedding.protocol import Vectors


def vector_policy(dimension: int) -> dict[str, Any]:
    """Define where the vectors are; it cannot be changed later."""
    return {
        "vectorEmbeddings": [
            {"path": "/vector", "dataType": "float32", "dimensions": dimension, "distanceFunction": "cosine"}
        ]
    }


def full_text_policy() -> dict[str, Any]:
    """Define where the words are. A language must be named; the words are encoded so that it does not matter."""
    return {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/words", "language": "en-US"}]}


def point_indexes(kind: str, *, words: bool) -> dict[str, Any]:
    """Index the vectors, the document, and the words if wanted; everything else is only stored."""
    policy: dict[str, Any] = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/document/?"}],
        "excludedPaths": [{"path": "/*"}, {"path": "/vector/*"}],
        "vectorIndexes": [{"path": "/vector", "type": kind}],
    }
    if words:
        policy["fullTextIndexes"] = [{"path": "/words"}]
    return policy


def entry_indexes() -> dict[str, Any]:
    """Index the fields that entries are looked up by."""
    return {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/shard/?"}, {"path": "/kind/?"}, {"path": "/group/?"}],
        "excludedPaths": [{"path": "/*"}],
    }


def vector_query(limit: int, documents: list[str] | None, *, exact: bool, knobs: Mapping[str, int]) -> str:
    """Query the points nearest to @vector; the service puts the most similar first."""
    distance = f"VectorDistance(c.vector, @vector{_manner(exact=exact, knobs=knobs)})"
    return f"SELECT TOP {limit} c.id, {distance} AS score FROM c{where_all(_within(documents))} ORDER BY {distance}"


def keyword_query(words: Sequence[str], limit: int, documents: list[str] | None) -> str:
    """Query the points with any of some words, best first by BM25. Words are letters and need no quoting."""
    listed = ", ".join(f'"{word}"' for word in words)
    conditions = (f"FullTextContainsAny(c.words, {listed})", _within(documents))
    return f"SELECT TOP {limit} c.id FROM c{where_all(*conditions)} ORDER BY RANK FullTextScore(c.words, {listed})"


def hybrid_query(
    vector: Vectors,
    words: Sequence[str],
    weights: tuple[float, float],
    limit: int,
    documents: list[str] | None,
    *,
    exact: bool,
    knobs: Mapping[str, int],
) -> str:
    """Query the fusion of both. Values are inlined: the client sends the parts separately."""
    listed = ", ".join(f'"{word}"' for word in words)
    distance = f"VectorDistance(c.vector, {json.dumps(digits(vector))}{_manner(exact=exact, knobs=knobs)})"
    fusion = f"RRF({distance}, FullTextScore(c.words, {listed}), [{weights[0]:.6g}, {weights[1]:.6g}])"
    return f"SELECT TOP {limit} c.id FROM c{where_all(_within(documents))} ORDER BY RANK {fusion}"


def digits(vector: Vectors) -> list[float]:
    """Return a vector with as many digits as distinguish all single precision numbers, and no more."""
    return [float(f"{number:.9g}") for number in vector.tolist()]


def _manner(*, exact: bool, knobs: Mapping[str, int]) -> str:
    if exact:
        return ", true"
    return f", false, {json.dumps(dict(knobs))}" if knobs else ""


def _within(documents: list[str] | None) -> str:
    # Written out, so that the service can see which partitions are meant.
    return "" if documents is None else f"c.document IN ({', '.join(json.dumps(name) for name in documents)})"


def where_all(*conditions: str) -> str:
    """Return the WHERE clause for all conditions, ignoring empty ones."""
    wanted = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(wanted)}" if wanted else ""
