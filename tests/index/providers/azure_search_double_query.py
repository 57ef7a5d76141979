"""How the double of Azure AI Search answers a search: filters, vectors, words, and both by reciprocal ranks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.index.providers.azure_search_double_index import Index, RefusedError

Document = dict[str, Any]

_KNOWN = {
    "search", "filter", "orderby", "select", "top", "skip", "queryType", "searchMode", "searchFields", "sessionId",
    "scoringStatistics", "vectorQueries", "vectorFilterMode", "count",
}  # fmt: skip
_VECTOR_QUERY = {"kind", "vector", "k", "fields", "exhaustive", "weight"}
_PART = re.compile(
    r"\s*(?:(?P<in>search\.in\()\s*(?P<set>\w+)\s*,\s*'(?P<values>(?:[^']|'')*)'\s*,\s*'(?P<cut>[^']*)'\s*\)"
    r"|(?P<field>\w+)\s+(?P<op>eq|gt)\s+'(?P<value>(?:[^']|'')*)')\s*"
)
_PHRASE = re.compile(r'\s*"((?:[^"\\]|\\.)*)"')
RRF = 60


def answer(index: Index, asked: dict[str, Any], most: int) -> dict[str, Any]:
    """Return an answer of at most so many documents, and how to ask for the rest of what was asked for."""
    found = _found(index, asked)
    if len(found) <= most:
        return {"value": found}
    rest = {**asked, "skip": asked.get("skip", 0) + most, "top": asked.get("top", 50) - most}
    return {"value": found[:most], "@search.nextPageParameters": rest}


def _found(index: Index, asked: dict[str, Any]) -> list[Document]:
    if unknown := asked.keys() - _KNOWN:
        raise RefusedError(400, f"The property '{sorted(unknown)[0]}' is unknown to the double.")
    top, skip = asked.get("top", 50), asked.get("skip", 0)
    if not 0 < top <= 1_000:
        raise RefusedError(400, "the double answers with at most 1,000 documents a page, as the service does")
    if not 0 <= skip <= 100_000:
        raise RefusedError(400, "Value must be between 0 and 100000. Parameter name: $skip")
    passes = parse_filter(index, asked["filter"]) if asked.get("filter") else lambda _: True
    among = [document for document in index.documents() if passes(document)]
    scores = _scores(index, asked, among)
    keys = _list(asked.get("select")) or list(index.fields)
    for name in keys:
        index.demand(name, "retrievable")
    found = _ordered(index, asked, [document for document in among if document[index.key] in scores], scores)
    return [
        {"@search.score": scores[document[index.key]], **{name: document[name] for name in keys}}
        for document in found[skip : skip + top]
    ]


def _ordered(
    index: Index, asked: dict[str, Any], found: list[Document], scores: dict[str, float]
) -> list[Document]:
    order = _list(asked.get("orderby"))
    if not order:
        return sorted(found, key=lambda document: -scores[document[index.key]])
    if len(order) != 1:
        raise RefusedError(400, "the double orders by one field")
    index.demand(order[0], "sortable")
    return sorted(found, key=lambda document: str(document[order[0]]))


def _scores(index: Index, asked: dict[str, Any], among: list[Document]) -> dict[str, float]:
    """Return the score of each document that is found."""
    text, vectors = asked.get("search"), asked.get("vectorQueries") or []
    if not vectors:
        if text in (None, "", "*"):
            return {document[index.key]: 1.0 for document in among}
        return dict(_by_words(index, asked, text, among))
    legs = [(_by_vector(index, query, among), query.get("weight", 1.0)) for query in vectors]
    if text in (None, "", "*"):
        if len(legs) != 1:
            raise RefusedError(400, "the double takes one vector query")
        return dict(legs[0][0])
    legs.append((_by_words(index, asked, text, among), 1.0))
    fused: dict[str, float] = {}
    for leg, weight in legs:
        for rank, (key, _) in enumerate(leg, 1):
            fused[key] = fused.get(key, 0.0) + weight / (RRF + rank)
    return fused


def _by_vector(index: Index, query: dict[str, Any], among: list[Document]) -> list[tuple[str, float]]:
    if query.keys() - _VECTOR_QUERY or query["kind"] != "vector":
        raise RefusedError(400, "the double knows no such vector query")
    if not 1 <= query["k"] <= 10_000:
        raise RefusedError(400, "The value of 'k' must be between 1 and 10000.")
    if query.get("weight", 1.0) <= 0:
        raise RefusedError(400, "The weight of a vector query must be positive.")
    field = index.demand(query["fields"], "searchable")
    vector = np.asarray(query["vector"], np.float64)
    if len(vector) != field.get("dimensions"):
        raise RefusedError(
            400,
            f"The vector query's vector has a length of {len(vector)}, but the vector field '{field['name']}' has "
            f"dimension {field.get('dimensions')}.",
        )
    held = [document for document in among if document[field["name"]] is not None]
    if not held:
        return []
    matrix = np.asarray([document[field["name"]] for document in held])
    cosines = np.einsum("ij,j->i", matrix, vector) / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector))
    order = np.argsort(-cosines, kind="stable")[: query["k"]]
    return [(held[at][index.key], float(1.0 / (2.0 - cosines[at]))) for at in order]


def _by_words(
    index: Index, asked: dict[str, Any], text: str, among: list[Document]
) -> list[tuple[str, float]]:
    (name,) = _list(asked.get("searchFields")) or [""]
    field = index.demand(name, "searchable")
    if field.get("analyzer") != "whitespace":
        raise RefusedError(400, "the double analyses by whitespace")
    if (
        len(text) > 100_000
        or asked.get("searchMode") != "any"
        or asked.get("queryType", "simple") != "simple"
    ):
        raise RefusedError(400, "too long a search, or of a kind that the double does not know")
    words = parse_words(text)
    if len(words) > 3_000:
        raise RefusedError(400, "Too many clauses in the search.")
    # How rare a word is counts over all documents, also those that a filter leaves out.
    texts = {document[index.key]: Counter((document[name] or "").split()) for document in index.documents()}
    held = {key: counts for key, counts in texts.items() if counts}
    average = sum(counts.total() for counts in held.values()) / len(held) if held else 1.0
    rarity = {word: _rarity(sum(word in counts for counts in held.values()), len(held)) for word in words}
    scores: dict[str, float] = {}
    for document in among:
        counts = texts.get(document[index.key], Counter())
        share = 1.2 * (0.25 + 0.75 * counts.total() / average)
        score = sum(rarity[word] * counts[word] * 2.2 / (counts[word] + share) for word in words)
        if score > 0:
            scores[document[index.key]] = score
    return sorted(scores.items(), key=lambda hit: -hit[1])[:1_000]


def _rarity(having: int, everyone: int) -> float:
    return math.log(1 + (everyone - having + 0.5) / (having + 0.5))


def parse_words(text: str) -> list[str]:
    """Read a simple query; words outside quotes could be operators, which the double leaves to the service."""
    words: list[str] = []
    at = 0
    while at < len(text):
        found = _PHRASE.match(text, at)
        if found is None:
            raise RefusedError(400, "Failed to parse query string: the double reads words in quotes only")
        words.append(re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL))
        at = found.end()
    return words


def parse_filter(index: Index, text: str) -> Callable[[Document], bool]:
    """Read an OData filter of the kinds eq, gt, search.in and and."""
    tests: list[Callable[[Document], bool]] = []
    at = 0
    while True:
        part = _PART.match(text, at)
        if part is None:
            raise RefusedError(400, f"Invalid expression: Syntax error at position {at} in '{text[:200]}'.")
        tests.append(_test(index, part))
        at = part.end()
        if at == len(text):
            return lambda document: all(test(document) for test in tests)
        if not text.startswith("and ", at):
            raise RefusedError(400, f"Invalid expression: Syntax error at position {at}.")
        at += 4


def _test(index: Index, part: re.Match[str]) -> Callable[[Document], bool]:
    name = part["set"] or part["field"]
    index.demand(name, "filterable")
    if part["in"]:
        values = set(part["values"].replace("''", "'").split(part["cut"]))
        return lambda document: document[name] in values
    value = part["value"].replace("''", "'")
    if part["op"] == "eq":
        return lambda document: bool(document[name] == value)
    return lambda document: bool(document[name] is not None and document[name] > value)


def _list(value: str | list[str] | None) -> list[str]:
    return value.split(",") if isinstance(value, str) and value else list(value or [])
