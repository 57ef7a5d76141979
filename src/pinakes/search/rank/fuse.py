"""Fuse: the ranked lists of the legs become one.

Two ways: weighted reciprocal ranks, which need nothing but the order, and weighted scores, brought to one scale
first. Either way the result is between 0 and 1, on a scale that later stages can reckon with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pinakes.search.candidates import Candidates, RankedList, Scores, union

FUSED = "fused"
"""The first column of the candidates."""

# A hit with this share of what a full match scores is as good as one.
ENOUGH = 0.6
# How fast the scores of an order fall: that of the 11th place is half that of the first.
_FALL = 10


def fuse(legs: Sequence[RankedList], weights: Mapping[str, float], *, method: str, rrf_k: int) -> Candidates:
    """Join the legs; a leg that found nothing has no say."""
    active = [leg for leg in legs if len(leg) and weights.get(leg.name, 0.0) > 0]
    chunks = union(*(leg.chunks for leg in active)) if active else np.zeros(0, np.int64)
    scores = np.zeros(len(chunks))
    total = sum(weights[leg.name] for leg in active)
    for leg in active:
        values = _reciprocal(leg, rrf_k) if method == "rrf" else _normalised(leg)
        scores[np.searchsorted(chunks, leg.chunks)] += weights[leg.name] / total * values
    if method == "rrf":
        scores = _by_place(scores)
    return Candidates(chunks, active, {FUSED: scores})


def _reciprocal(leg: RankedList, rrf_k: int) -> Scores:
    """1 for the first rank, falling off with ``rrf_k``."""
    return (rrf_k + 1) / (rrf_k + np.arange(1.0, len(leg) + 1))


def _by_place(sums: Scores) -> Scores:
    """Return the sums, but none above what its place in their order is worth; equals share a place.

    With a large ``rrf_k`` all sums are nearly the same, and what weighs them against each other later, such as the
    evidence of a document, would count hits instead. Both sides fall along the order, so that it stays as it is.
    """
    places = np.searchsorted(np.sort(-sums), -sums)
    return np.minimum(sums, (_FALL + 1) / (_FALL + 1 + places))


def _normalised(leg: RankedList) -> Scores:
    """Scores stretched between 0 for what is unrelated and 1 for the best, or for nearly all that could be asked.

    A best hit that has one of five words is not worth as much as one that has them all.
    """
    low, high = min(leg.floor, float(leg.scores.min())), float(leg.scores.max())
    high = max(high, ENOUGH * leg.full)
    if high <= low:
        return np.ones(len(leg))
    return (leg.scores - low) / (high - low)
