"""The plans of the Cosmos DB double: how a query is to be put to the partitions, one by one, and put together again."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.index.providers.cosmos_nosql_double_query import BadQueryError, Query, split

# What the client fills in, once it has asked all partitions for their numbers.
_TOTAL = "{documentdb-formattablehybridsearchquery-totaldocumentcount}"
_WORDS = "{documentdb-formattablehybridsearchquery-totalwordcount-0}"
_HITS = "{documentdb-formattablehybridsearchquery-hitcountsarray-0}"


def plan(query: Query) -> dict[str, Any]:
    """Say how a query is to be put to the partitions one by one."""
    where = f" WHERE {query.where}" if query.where else ""
    planned: dict[str, Any] = {
        "partitionedQueryExecutionInfoVersion": 2,
        "queryRanges": [{"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}],
    }
    if query.counts:
        rewritten = f'SELECT VALUE [{{"item": COUNT(1)}}] FROM c{where}'
        planned["queryInfo"] = _info(rewritten, aggregates=["Count"], hasSelectValue=True)
    elif query.ranked:
        planned["hybridSearchQueryInfo"] = _hybrid(query, where)
    else:
        payload = '{"id": c.id, "score": ' + query.order + "}"
        planned["queryInfo"] = {**_component(query.top or 0, query.order, payload, where), "top": query.top}
    return planned


def _info(rewritten: str, **more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "distinctType": "None",
        "top": None,
        "offset": None,
        "limit": None,
        "orderBy": [],
    }
    return {**empty, "aggregates": [], "hasSelectValue": False, "rewrittenQuery": rewritten, **more}


def _component(top: int, order: str, payload: str, where: str) -> dict[str, Any]:
    select = f'c._rid, [{{"item": {order}}}] AS orderByItems, {payload} AS payload'
    rewritten = f"SELECT TOP {top} {select} FROM c{where} ORDER BY {order}"
    more = {"orderBy": ["Descending"], "orderByExpressions": [order], "hasNonStreamingOrderBy": True}
    return _info(rewritten, **more)


def _hybrid(query: Query, where: str) -> dict[str, Any]:
    found = re.fullmatch(r"RRF\((.+)\)", query.order)
    parts = split(found[1]) if found else [query.order]
    weights = json.loads(parts.pop()) if parts[-1].startswith("[") else []
    if weights and len(weights) != len(parts):
        raise BadQueryError("RRF must have one weight for each of its functions.")
    counted: list[str] = []
    for at, part in enumerate(parts):
        if text := re.fullmatch(r"FullTextScore\(c\.words, (.+)\)", part):
            words = [query.value(word) for word in split(text[1])]
            counted = [f'COUNTIF(FullTextContains(c.words, "{word}"))' for word in words]
            parts[at] = f"_FullTextScore(c.words, {json.dumps(words)}, {_TOTAL}, {_WORDS}, {_HITS})"
        elif not part.startswith("VectorDistance("):
            raise BadQueryError(f"Syntax error, incorrect syntax near '{part[:60]}'.")
    top = query.top or 0
    payload = '{"payload": {"id": c.id}, "componentScores": [' + ", ".join(parts) + "]}"
    return {
        "globalStatisticsQuery": (
            'SELECT COUNT(1) AS documentCount, [{"totalWordCount": SUM(_FullTextWordCount(c.words)), "hitCounts": ['
            + ", ".join(counted)
            + "]}] AS fullTextStatistics FROM c"
        ),
        "componentQueryInfos": [_component(max(2 * top, 120), part, payload, where) for part in parts],
        "componentWithoutPayloadQueryInfos": [],
        "projectionQueryInfo": None,
        "componentWeights": weights,
        "skip": 0,
        "take": top,
        "requiresGlobalStatistics": True,
    }
