"""Fuse: the ranked lists of the legs become one.

There are two methods: weighted reciprocal ranks, which need only the order, and weighted scores, normalised first.
Either way the result is between 0 and 1, on a scale that later stages can work with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from loccit.search.candidates import Candidates, RankedList, Scores, union

FUSED = "fused"
"""The first column of the candidates."""

# A hit with this share of a full match's score counts as a full match.
ENOUGH = 0.6
# How fast scores fall along an order: the 11th place has half the score of the first.
_FALL = 10


def fuse(legs: Sequence[RankedList], weights: Mapping[str, float], *, method: str, rrf_k: int) -> Candidates:
    """Fuse the legs; a leg that found nothing is ignored."""
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
    """Return the sums, each capped by its place in their order; ties share a place.

    With a large ``rrf_k`` all sums are nearly equal, and later stages that compare them, such as the evidence of a
    document, would merely count hits. Sums and caps both fall along the order, so the order is unchanged.
    """
    places = np.searchsorted(np.sort(-sums), -sums)
    return np.minimum(sums, (_FALL + 1) / (_FALL + 1 + places))


def _normalised(leg: RankedList) -> Scores:
    """Scores scaled from 0 for unrelated chunks to 1 for the best hit, or for a nearly complete match.

    A best hit with one of five query words should count less than one with all of them.
    """
    low, high = min(leg.floor, float(leg.scores.min())), float(leg.scores.max())
    high = max(high, ENOUGH * leg.full)
    if high <= low:
        return np.ones(len(leg))
    return (leg.scores - low) / (high - low)
