"""Searches of the double: the queries that a store sends, ranked by the formulas that the vendors document."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from tests.index.providers.opensearch_double_index import Index, error

_BODY = {"query", "knn", "size", "sort", "search_after", "_source", "track_total_hits", "search_pipeline"}
_WINDOW = 10_000
_MAX_TERMS = 65_536
_MAX_CLAUSES = 1_024
_SCRIPTS = {
    False: "Math.max(0.0, 1.0 + cosineSimilarity(params.query, doc['vector']))",
    True: "Math.max(0.0, 1.0 + cosineSimilarity(params.query, 'vector'))",
}
_K1, _B = 1.2, 0.75


def search(index: Index, body: dict[str, Any], *, elastic: bool) -> list[dict[str, Any]]:
    """Return the hits of a search."""
    if unknown := body.keys() - (_BODY - ({"search_pipeline"} if elastic else {"knn"})):
        raise error(400, "parsing_exception", f"unknown key for a VALUE in {sorted(unknown)}.")
    size = body.get("size", 10)
    if size > _WINDOW:
        reason = f"Result window is too large, from + size must be less than or equal to: [{_WINDOW}] but was [{size}]"
        raise error(400, "illegal_argument_exception", reason)
    scores = _fused(index, body) if "search_pipeline" in body else _run(index, body, size, elastic)
    hits: list[dict[str, Any]]
    if "sort" in body:
        ((name, order),) = body["sort"][0].items()
        assert order == "asc"
        rows = sorted((index.visible[key][name], key) for key in scores)
        after = body.get("search_after", [""])[0]
        keys = [key for value, key in rows if value > after][:size]
        hits = [{"_id": key, "_score": None, "sort": [index.visible[key][name]]} for key in keys]
    else:
        best = sorted(scores, key=lambda key: (-scores[key], key))[:size]
        hits = [{"_id": key, "_score": scores[key]} for key in best]
    return [
        {"_index": index.name, **hit, **_source(index, hit["_id"], body.get("_source", True))} for hit in hits
    ]


def _source(index: Index, key: str, wanted: Any) -> dict[str, Any]:
    if wanted is False:
        return {}
    source = index.shown(index.visible[key])
    return {"_source": source if wanted is True else {k: v for k, v in source.items() if k in wanted}}


def _run(index: Index, body: dict[str, Any], size: int, elastic: bool) -> dict[str, float]:
    if "knn" in body:
        asked = body["knn"]
        if asked.keys() - {"field", "query_vector", "k", "num_candidates", "filter"}:
            raise error(400, "x_content_parse_exception", "[knn] unknown field")
        if not asked["k"] <= asked["num_candidates"] <= _WINDOW:
            raise error(400, "illegal_argument_exception", "[num_candidates] must be between [k] and 10000")
        found = _nearest(index, asked["query_vector"], asked["k"], asked.get("filter"))
        return dict(list(found.items())[:size])
    return _score(index, body["query"], elastic=elastic)


def _fused(index: Index, body: dict[str, Any]) -> dict[str, float]:
    """Normalise and combine, as the processor does: 0.001 for the last, 1.0 where all are the same."""
    (((_, processor),),) = [p.items() for p in body["search_pipeline"]["phase_results_processors"]]
    assert processor["normalization"] == {"technique": "min_max"}
    weights = processor["combination"]["parameters"]["weights"]
    queries = body["query"]["hybrid"]["queries"]
    if len(weights) != len(queries) or abs(sum(weights) - 1) > 0.01:
        raise error(400, "illegal_argument_exception", "sum of weights for combination must be equal to 1.0")
    if len(queries) > 5:
        raise error(
            400, "illegal_argument_exception", "Number of sub-queries exceeds maximum supported by [hybrid]"
        )
    total: dict[str, float] = {}
    for query, weight in zip(queries, weights, strict=True):
        scores = _score(index, query, elastic=False)
        best = dict(sorted(scores.items(), key=lambda item: -item[1])[: body.get("size", 10)])
        low, high = (min(best.values()), max(best.values())) if best else (0.0, 0.0)
        for key, score in best.items():
            part = 1.0 if high == low else max((score - low) / (high - low), 0.001)
            total[key] = total.get(key, 0.0) + weight * part
    return total


def _score(index: Index, query: dict[str, Any], *, elastic: bool) -> dict[str, float]:
    ((kind, asked),) = query.items()
    if kind == "match_all":
        return dict.fromkeys(index.visible, 1.0)
    if kind == "term":
        ((name, wanted),) = asked.items()
        return _term(index, name, wanted["value"], wanted.get("boost", 1.0))
    if kind == "terms":
        ((name, values),) = asked.items()
        if len(values) > _MAX_TERMS:
            raise error(
                400, "illegal_argument_exception", "The number of terms has exceeded the allowed maximum"
            )
        among = set(values)
        return {key: 1.0 for key, doc in index.visible.items() if doc.get(name) in among}
    if kind == "bool":
        return _bool(index, asked, elastic=elastic)
    if kind == "script_score":
        if asked["script"]["source"] != _SCRIPTS[elastic]:
            raise error(400, "script_exception", "compile error")
        some = _score(index, asked["query"], elastic=elastic)
        return {
            key: max(0.0, 1 + cos)
            for key, cos in _cosines(index, asked["script"]["params"]["query"], some).items()
        }
    if kind == "knn" and not elastic:
        wanted = asked["vector"]
        if wanted.keys() - {"vector", "k", "filter"} or not 1 <= wanted["k"] <= _WINDOW:
            raise error(400, "parsing_exception", "[knn] requires k to be in the range (0, 10000]")
        return _nearest(index, wanted["vector"], wanted["k"], wanted.get("filter"))
    raise error(400, "parsing_exception", f"unknown query [{kind}]")


def _bool(index: Index, asked: dict[str, Any], *, elastic: bool) -> dict[str, float]:
    if asked.keys() - {"should", "filter", "minimum_should_match"}:
        raise error(400, "parsing_exception", "[bool] query does not support this")
    if len(asked.get("should", [])) > _MAX_CLAUSES:
        raise error(400, "too_many_nested_clauses", "maxClauseCount is set to 1024")
    total: dict[str, float] = {}
    for clause in asked.get("should", []):
        for key, score in _score(index, clause, elastic=elastic).items():
            total[key] = total.get(key, 0.0) + score
    if "should" not in asked:
        total = dict.fromkeys(index.visible, 0.0)
    for clause in asked.get("filter", []):
        allowed = _score(index, clause, elastic=elastic)
        total = {key: score for key, score in total.items() if key in allowed}
    return total


def _term(index: Index, name: str, value: str, boost: float) -> dict[str, float]:
    """Rank a word by BM25 where the field is text; match the whole value where it is not."""
    shape = index.properties[name]
    if shape["type"] != "text":
        return {key: 1.0 for key, doc in index.visible.items() if doc.get(name) == value}
    if shape.get("index") is False:
        raise error(400, "query_shard_exception", f"Cannot search on field [{name}] since it is not indexed.")
    words = {key: Counter(doc[name].split()) for key, doc in index.visible.items() if doc.get(name)}
    having = [key for key, counts in words.items() if value in counts]
    if not having:
        return {}
    mean = sum(sum(counts.values()) for counts in words.values()) / len(words)
    idf = math.log(1 + (len(words) - len(having) + 0.5) / (len(having) + 0.5))
    scores = {}
    for key in having:
        tf, length = words[key][value], sum(words[key].values())
        scores[key] = boost * idf * tf / (tf + _K1 * (1 - _B + _B * length / mean))
    return scores


def _nearest(index: Index, query: list[float], k: int, some: dict[str, Any] | None) -> dict[str, float]:
    allowed = _score(index, some, elastic=False) if some else index.visible
    best = sorted(_cosines(index, query, allowed).items(), key=lambda item: -item[1])[:k]
    return {key: (1 + cos) / 2 for key, cos in best}


def _cosines(index: Index, query: list[float], some: Any) -> dict[str, float]:
    shape = index.properties["vector"]
    wanted = shape.get("dimension") or shape.get("dims")
    if len(query) != wanted:
        reason = f"Query vector has invalid dimension: {len(query)}. Dimension should be: {wanted}"
        raise error(400, "illegal_argument_exception", reason)
    keys = [key for key in index.visible if key in some]
    if not keys:
        return {}
    matrix = np.asarray([index.visible[key]["vector"] for key in keys], np.float32)
    asked = np.asarray(query, np.float32)
    cosines = matrix @ asked / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(asked))
    return {key: float(cos) for key, cos in zip(keys, cosines, strict=True)}
