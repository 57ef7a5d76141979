"""Metrics: an answer against the expected one, and which metrics each kind of set shows.

The gains of a ranking are linear and discounted by log2, as in trec_eval. For character spans, it is measured how much
of what was expected was returned, and how much else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

import numpy as np

from loccit.evaluation.datasets import ANSWERS, FIXED, LIBRARY, RETRIEVAL, SPANS

NDCG_AT = (5, 10)
RECALL_AT = (10, 100)
MRR_AT = 10
PASS_AT = (5, 10, 20)
SPANS_AT = (1, 3, 5, 10)
Span = tuple[int, int]
Spans = Mapping[str, Iterable[Span]]
_RANKING = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
_SHOWN = {
    RETRIEVAL: _RANKING,
    LIBRARY: ("ndcg@10", "recall@10", "mrr@10", "hit@10"),
    FIXED: ("pass@5", "pass@10", "pass@20", "ndcg@10", "mrr@10"),
    SPANS: ("span_recall@5", "span_precision@5", "span_iou@5", "span_recall@10", "span_iou@10"),
    ANSWERS: ("quotes_exact", "quotes_altered", "quotes_absent", "quoting"),
}
_LOOKUPS = ("top1", "mrr@10")
_MAIN = {
    RETRIEVAL: "ndcg@10",
    LIBRARY: "ndcg@10",
    FIXED: "pass@10",
    SPANS: "span_iou@5",
    ANSWERS: "quotes_exact",
}


def unique(names: Iterable[str]) -> list[str]:
    """Return each name once, at its best rank."""
    return list(dict.fromkeys(names))


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Return the discounted gain of the first ``k`` relative to the best possible.

    >>> ndcg(["a", "x", "b"], {"a": 1, "b": 1}, 10)  # doctest: +ELLIPSIS
    0.9197...
    """
    ideal = _gain(sorted(relevant.values(), reverse=True)[:k])
    return _gain([relevant.get(name, 0.0) for name in ranked[:k]]) / ideal if ideal else 0.0


def _gain(grades: Iterable[float]) -> float:
    return sum(grade / log2(place + 2) for place, grade in enumerate(grades))


def recall(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Return the share of relevant items among the first ``k``."""
    return len(relevant.keys() & set(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(hits: Sequence[bool], k: int = MRR_AT) -> float:
    """Return the reciprocal rank of the first hit among the first ``k``, or 0."""
    return next((1 / (place + 1) for place, hit in enumerate(hits[:k]) if hit), 0.0)


def pass_at(texts: Sequence[str], golden: Sequence[str], k: int) -> float:
    """Return the share of the golden texts among the first ``k``; two golden ones may be equal."""
    found = set(texts[:k])
    return sum(text in found for text in golden) / len(golden) if golden else 0.0


def ranking_values(ranked: Sequence[str], relevant: Mapping[str, float]) -> dict[str, float]:
    """Return every metric of a ranking without duplicates, by name."""
    values = {f"ndcg@{k}": ndcg(ranked, relevant, k) for k in NDCG_AT}
    values |= {f"recall@{k}": recall(ranked, relevant, k) for k in RECALL_AT}
    hits = [name in relevant for name in ranked[:MRR_AT]]
    return values | {f"mrr@{MRR_AT}": reciprocal_rank(hits), f"hit@{MRR_AT}": float(any(hits))}


def means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the questions."""
    return {name: float(np.mean([row[name] for row in values])) for name in values[0]} if values else {}


def percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile of some times."""
    low, high = np.percentile(milliseconds, [50, 95]) if milliseconds else (0.0, 0.0)
    return {"p50": round(float(low), 3), "p95": round(float(high), 3)}


def union(spans: Iterable[Span]) -> list[Span]:
    """Merge spans that overlap or touch, in order.

    >>> union([(5, 9), (0, 3), (2, 5), (12, 12)])
    [(0, 9)]
    """
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def length(spans: Iterable[Span]) -> int:
    """Return the number of characters in spans that do not overlap."""
    return sum(end - start for start, end in spans)


def overlap(one: list[Span], other: list[Span]) -> int:
    """Return the number of characters that two lists of merged spans share."""
    shared, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        shared += max(0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1
    return shared


def coverage(returned: Spans, golden: Spans) -> tuple[float, float, float]:
    """Return recall, precision and intersection over union, in characters over all files."""
    mine = {file: union(spans) for file, spans in returned.items()}
    theirs = {file: union(spans) for file, spans in golden.items()}
    shared = sum(overlap(spans, theirs.get(file, [])) for file, spans in mine.items())
    given, wanted = sum(map(length, mine.values())), sum(map(length, theirs.values()))
    return (
        shared / wanted if wanted else 0.0,
        shared / given if given else 0.0,
        shared / (given + wanted - shared) if given + wanted else 0.0,
    )


def shown_metrics(kind: str) -> tuple[str, ...]:
    """Return the metrics shown in tables and plots; a run keeps all."""
    return _SHOWN.get(kind, _LOOKUPS)


def main_metric(kind: str) -> str:
    """Return the metric used for comparisons."""
    return _MAIN.get(kind, _LOOKUPS[0])
