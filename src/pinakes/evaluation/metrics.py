"""Measures of a ranking against what is relevant. Gains are linear and discounted by log2, as trec_eval has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

import numpy as np

NDCG_AT = (5, 10)
RECALL_AT = (10, 100)
MRR_AT = 10
PASS_AT = (5, 10, 20)


def unique(names: Iterable[str]) -> list[str]:
    """Return each name once, at its best place."""
    return list(dict.fromkeys(names))


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Return the discounted gain of the first ``k``, as a share of the best possible.

    >>> ndcg(["a", "x", "b"], {"a": 1, "b": 1}, 10)  # doctest: +ELLIPSIS
    0.9197...
    """
    ideal = _gain(sorted(relevant.values(), reverse=True)[:k])
    return _gain([relevant.get(name, 0.0) for name in ranked[:k]]) / ideal if ideal else 0.0


def _gain(grades: Iterable[float]) -> float:
    return sum(grade / log2(place + 2) for place, grade in enumerate(grades))


def recall(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Return the share of what is relevant that is among the first ``k``."""
    return len(relevant.keys() & set(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(hits: Sequence[bool], k: int = MRR_AT) -> float:
    """Return 1 over the place of the first hit among the first ``k``, else 0."""
    return next((1 / (place + 1) for place, hit in enumerate(hits[:k]) if hit), 0.0)


def pass_at(texts: Sequence[str], golden: Sequence[str], k: int) -> float:
    """Return the share of the golden texts that are among the first ``k``; two golden ones may read the same."""
    found = set(texts[:k])
    return sum(text in found for text in golden) / len(golden) if golden else 0.0


def ranking_values(ranked: Sequence[str], relevant: Mapping[str, float]) -> dict[str, float]:
    """Return every measure of a ranking without repetitions, by name."""
    values = {f"ndcg@{k}": ndcg(ranked, relevant, k) for k in NDCG_AT}
    values |= {f"recall@{k}": recall(ranked, relevant, k) for k in RECALL_AT}
    hits = [name in relevant for name in ranked[:MRR_AT]]
    return values | {f"mrr@{MRR_AT}": reciprocal_rank(hits), f"hit@{MRR_AT}": float(any(hits))}


def means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the questions."""
    return {name: float(np.mean([row[name] for row in values])) for name in values[0]} if values else {}


def percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile of some times."""
    low, high = np.percentile(milliseconds, [50, 95]) if milliseconds else (0.0, 0.0)
    return {"p50": round(float(low), 3), "p95": round(float(high), 3)}
