"""The query language of the Cosmos DB double: what the store asks, what the client makes of it, and no more.

Written from the documentation of the query language and from what the client sends: a query over all partitions is
not answered at once where it needs the answers of several put together, but planned; the client then asks each range
with the rewritten query of the plan. A query that is not understood is refused, as the service refuses it (400).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Item = Mapping[str, Any]
Expression = Callable[[Item], Any]
UNDEFINED = object()
_QUERY = re.compile(
    r"SELECT (?:TOP (?P<top>\d+) )?(?P<select>.+?) FROM c(?: WHERE (?P<where>.+?))?(?: ORDER BY (?P<order>.+))?",
    re.S,
)
# An analysis like that of a language: it stems, and drops words that say little.
_STOP = frozenset("a an and are as at be by for from in is it of on or the this to was with".split())


class BadQueryError(Exception):
    """A query that the service would refuse."""


def analysed(text: str) -> list[str]:
    """Return the words of a text as an analysis for English would leave them."""
    words = (word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _STOP)
    return [re.sub(r"(?:ing|ed|ies|es|s|ion|al|er|ly)$", "", word) for word in words]


def split(text: str) -> list[str]:
    """Split at the commas that are in no brackets and no quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif not quoted and sign in "([{":
            depth += 1
        elif not quoted and sign in ")]}":
            depth -= 1
        elif not quoted and depth == 0 and sign == ",":
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


@dataclass
class Query:
    """A query that was understood."""

    text: str
    parameters: Mapping[str, Any]
    top: int | None
    select: str
    where: str
    order: str
    ranked: bool

    @property
    def counts(self) -> bool:
        """Whether it asks for a number alone."""
        return self.select == "VALUE COUNT(1)"

    @property
    def needs_plan(self) -> bool:
        """Whether the answers of several partitions must be put together."""
        return self.counts or bool(self.order)

    def fits(self, item: Item) -> bool:
        """Whether an item is among the answers."""
        return all(self._condition(part)(item) for part in self.where.split(" AND ") if self.where)

    def value(self, text: str) -> Any:
        """Return a literal, or the value of a parameter."""
        if text.startswith("@"):
            if text not in self.parameters:
                raise BadQueryError(f"Must declare the scalar variable {text}.")
            return self.parameters[text]
        try:
            return json.loads(text)
        except ValueError as error:
            raise BadQueryError(f"Syntax error, incorrect syntax near '{text[:40]}'.") from error

    def _condition(self, text: str) -> Callable[[Item], bool]:
        if found := re.fullmatch(r"ARRAY_CONTAINS\((@\w+), c\.(\w+)\)", text):
            wanted, name = set(self.value(found[1])), found[2]
            return lambda item: item[name] in wanted
        if found := re.fullmatch(r"(c\.\w+|c\[\"\w+\"\]) = (@\w+)", text):
            name, value = _field(found[1]), self.value(found[2])
            return lambda item: item.get(name) == value
        if found := re.fullmatch(r"c\.(\w+) IN \((.+)\)", text):
            allowed, name = {self.value(part) for part in split(found[2])}, found[1]
            return lambda item: item[name] in allowed
        if found := re.fullmatch(r"FullTextContainsAny\(c\.words, (.+)\)", text):
            words = {word for part in split(found[1]) for word in analysed(self.value(part))}
            return lambda item: bool(words & set(analysed(item.get("words", ""))))
        raise BadQueryError(f"Syntax error, incorrect syntax near '{text[:60]}'.")

    def score(self, text: str) -> Expression:
        """Return what an expression in ORDER BY is for an item."""
        if found := re.fullmatch(r"VectorDistance\((.+)\)", text):
            given = split(found[1])
            if (
                given[0] != "c.vector"
                or len(given) > 4
                or (len(given) > 2 and given[2] not in ("true", "false"))
            ):
                raise BadQueryError("The function VectorDistance got arguments that it does not know.")
            options = self.value(given[3]) if len(given) > 3 else {}
            if unknown := options.keys() - {"searchListSizeMultiplier", "quantizedVectorListMultiplier"}:
                raise BadQueryError(f"VectorDistance does not know the options {sorted(unknown)}.")
            return _cosine(np.asarray(self.value(given[1]), np.float32))
        if found := re.fullmatch(r"_FullTextScore\(c\.words, (\[.*?\]), (\d+), (\d+), (\[.*?\])\)", text):
            return _bm25(json.loads(found[1]), int(found[2]), int(found[3]), json.loads(found[4]))
        raise BadQueryError(f"Syntax error, incorrect syntax near '{text[:60]}'.")


def parse(text: str, parameters: Mapping[str, Any]) -> Query:
    """Understand a query."""
    if len(text) > 512 * 1024:
        raise BadQueryError("The SQL query text exceeded the maximum limit of 524288 characters.")
    found = _QUERY.fullmatch(" ".join(text.split()))
    if not found:
        raise BadQueryError(f"Syntax error, incorrect syntax near '{text[:60]}'.")
    order = found["order"] or ""
    top = int(found["top"]) if found["top"] else None
    query = Query(
        text,
        parameters,
        top,
        found["select"],
        found["where"] or "",
        order.removeprefix("RANK "),
        order.startswith("RANK "),
    )
    if query.order and top is None:
        raise BadQueryError("A vector or full text search must have TOP.")
    if not query.order and top is not None:
        raise BadQueryError("The double knows TOP only together with ORDER BY.")
    return query


# -- answers ---------------------------------------------------------------------------------------------------


def answer(query: Query, items: Sequence[Item]) -> list[Any]:
    """Answer a query from the items of one partition, or of several where nothing is to be put together."""
    fitting = [item for item in items if query.fits(item)]
    if query.select.startswith("COUNT(1) AS documentCount"):
        return [_statistics(query, fitting)]
    if query.select == 'VALUE [{"item": COUNT(1)}]':
        return [[{"item": len(fitting)}]]
    if query.counts:
        return [len(fitting)]
    if query.order:
        return _ordered(query, fitting)
    if query.select == "VALUE c.id":
        return [item["id"] for item in fitting]
    names = [_field(part) for part in split(query.select)]
    return [{name: item[name] for name in names if name in item} for item in fitting]


def _field(text: str) -> str:
    found = re.fullmatch(r"c\.(\w+)|c\[\"(\w+)\"\]", text)
    # These are words of the language, and must stand in brackets.
    if not found or found[1] in ("value", "group", "order", "top"):
        raise BadQueryError(f"Syntax error, incorrect syntax near '{text[:40]}'.")
    return found[1] or found[2]


def _ordered(query: Query, items: Sequence[Item]) -> list[Any]:
    found = re.fullmatch(
        r'c\._rid, \[\{"item": (?P<order>.+)\}\] AS orderByItems, (?P<payload>\{.+\}) AS payload',
        query.select,
    )
    if not found or found["order"] != query.order:
        raise BadQueryError("The double answers searches only as their plan rewrites them.")
    score = query.score(query.order)
    components = re.search(r'"componentScores": \[(.+)\]\}$', found["payload"])
    others = [query.score(part) for part in split(components[1])] if components else []
    scored = [(value, item) for item in items if (value := score(item)) is not UNDEFINED]
    scored.sort(key=lambda pair: -pair[0])
    rows = []
    for value, item in scored[: query.top]:
        payload: dict[str, Any] = {"id": item["id"]}
        if components:
            values = [other(item) for other in others]
            payload = {"payload": payload, "componentScores": [0 if v is UNDEFINED else v for v in values]}
        elif '"score":' in found["payload"]:
            payload["score"] = value
        rows.append({"_rid": item["_rid"], "orderByItems": [{"item": value}], "payload": payload})
    return rows


def _cosine(query: Any) -> Expression:
    def score(item: Item) -> Any:
        if "vector" not in item or len(item["vector"]) != len(query):
            return UNDEFINED
        vector = np.asarray(item["vector"], np.float32)
        return float(vector @ query / (np.linalg.norm(vector) * np.linalg.norm(query)))

    return score


def _bm25(words: list[str], total: int, length: int, hits: list[int]) -> Expression:
    average = length / max(1, total)

    def score(item: Item) -> float:
        found = analysed(item.get("words", ""))
        counted = Counter(found)
        result = 0.0
        for word, hit in zip(words, hits, strict=True):
            count = sum(counted[part] for part in analysed(word))
            weight = math.log(1 + (total - hit + 0.5) / (hit + 0.5))
            result += weight * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * len(found) / max(average, 1e-9)))
        return result

    return score


def _statistics(query: Query, items: list[Item]) -> dict[str, Any]:
    words = re.findall(r'FullTextContains\(c\.words, "(\w+)"\)', query.select)
    found = [analysed(item.get("words", "")) for item in items]
    hits = [sum(analysed(word)[0] in tokens for tokens in found) for word in words]
    statistics = [{"totalWordCount": sum(map(len, found)), "hitCounts": hits}] if words else []
    return {"documentCount": len(items), "fullTextStatistics": statistics}
