"""How the containers of Azure Cosmos DB are indexed, and the searches that are put to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pinakes.embedding.protocol import Vectors


def vector_policy(dimension: int) -> dict[str, Any]:
    """Say where the vectors are; it cannot be changed later."""
    return {
        "vectorEmbeddings": [
            {"path": "/vector", "dataType": "float32", "dimensions": dimension, "distanceFunction": "cosine"}
        ]
    }


def full_text_policy() -> dict[str, Any]:
    """Say where the words are. A language must be named; the words are written so that it does not matter."""
    return {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/words", "language": "en-US"}]}


def point_indexes(kind: str, *, words: bool) -> dict[str, Any]:
    """Index the vectors, the document, and the words where they are asked for; everything else is only stored."""
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
    """Index what entries are looked for by."""
    return {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/shard/?"}, {"path": "/kind/?"}, {"path": "/group/?"}],
        "excludedPaths": [{"path": "/*"}],
    }


def vector_query(limit: int, documents: list[str] | None, *, exact: bool, knobs: Mapping[str, int]) -> str:
    """Ask for the points nearest to @vector; the service puts the most similar first."""
    distance = f"VectorDistance(c.vector, @vector{_manner(exact=exact, knobs=knobs)})"
    return f"SELECT TOP {limit} c.id, {distance} AS score FROM c{where_all(_within(documents))} ORDER BY {distance}"


def keyword_query(words: Sequence[str], limit: int, documents: list[str] | None) -> str:
    """Ask for the points that have any of some words, the best by BM25 first. Words are letters and need no quoting."""
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
    """Ask for what the fusion of both gives. All is written into the query: its parts are sent one by one."""
    listed = ", ".join(f'"{word}"' for word in words)
    distance = f"VectorDistance(c.vector, {json.dumps(digits(vector))}{_manner(exact=exact, knobs=knobs)})"
    fusion = f"RRF({distance}, FullTextScore(c.words, {listed}), [{weights[0]:.6g}, {weights[1]:.6g}])"
    return f"SELECT TOP {limit} c.id FROM c{where_all(_within(documents))} ORDER BY RANK {fusion}"


def digits(vector: Vectors) -> list[float]:
    """Return a vector with as many digits as tell all single precision numbers apart, and no more."""
    return [float(f"{number:.9g}") for number in vector.tolist()]


def _manner(*, exact: bool, knobs: Mapping[str, int]) -> str:
    if exact:
        return ", true"
    return f", false, {json.dumps(dict(knobs))}" if knobs else ""


def _within(documents: list[str] | None) -> str:
    # Written out, so that the service can see which partitions are meant.
    return "" if documents is None else f"c.document IN ({', '.join(json.dumps(name) for name in documents)})"


def where_all(*conditions: str) -> str:
    """Return what follows a query so that all of some conditions hold; empty ones do not count."""
    wanted = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(wanted)}" if wanted else ""
