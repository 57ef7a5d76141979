"""Fuse: the ranked lists of the legs become one.

There are two methods: weighted reciprocal ranks, which need only the order, and weighted scores, normalised first.
Either way the result is between 0 and 1, on a scale that later stages can work with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from loccit.search.candidates import KEYWORD, SEMANTIC, Candidates, RankedList, Scores, union

FUSED = "fused"
"""The first column of the candidates."""

# Legs that have a score for nearly everything, with the share of a full match from which on their best hit may be an
# answer. The others only list what the query names.
_ENOUGH = {SEMANTIC: 0.8, KEYWORD: 0.3}
# How many of a leg's first hits say what its scores are worth: a share of the library, within bounds. More of them are
# all alike, and of a small library they would be everything: there a word in one chunk stands out from all others as
# no vector ever does.
POOL = 100
_SHARE, _FEWEST = 0.1, 20
# A hit this many standard deviations above the mean of these is worth 1, one half a deviation below it nothing.
_ALL, _NOTHING = 3.5, -0.5
_BEND = 20.0
# How fast scores fall along an order: the 11th place has half the score of the first.
_FALL = 10


def pool_of(legs: Sequence[RankedList], *, total: int, depth: int) -> int:
    """How many first hits are compared, of ``total`` chunks or, if legs found less than ``depth``, of these.

    Where a filter leaves few chunks, they are a small library.
    """
    found = max(map(len, legs), default=0)
    return min(POOL, max(_FEWEST, int(_SHARE * (found if found < depth else total))))


def fuse(
    legs: Sequence[RankedList],
    weights: Mapping[str, float],
    *,
    method: str,
    rrf_k: int,
    pool: int = POOL,
) -> Candidates:
    """Fuse the legs; a leg that found nothing is ignored. ``pool`` hits of each say what its scores are worth."""
    active = [leg for leg in legs if len(leg) and weights.get(leg.name, 0.0) > 0]
    chunks = union(*(leg.chunks for leg in active)) if active else np.zeros(0, np.int64)
    scores = np.zeros(len(chunks))
    total = sum(weights[leg.name] for leg in active)
    pool = min(pool, max(map(len, active), default=0))
    for leg in active:
        values = _reciprocal(leg, rrf_k) if method == "rrf" else _standardised(leg, pool)
        scores[np.searchsorted(chunks, leg.chunks)] += weights[leg.name] / total * values
    if method == "rrf":
        scores = _by_place(scores)
    elif len(scores):
        scores /= max(1.0, float(scores.max()))
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


def _standardised(leg: RankedList, pool: int) -> Scores:
    """Scores by how far they stand out among the first ``pool`` of their leg: 0 for the crowd, 1 for a clear best.

    What a leg cannot tell apart so counts for little, whatever its weight: all of it is in the crowd. And it counts for
    less if even its best hit has little of the query. Chunks that it did not find have the score of unrelated ones.
    """
    first = np.full(max(pool, 1), leg.floor)
    first[: len(leg)] = leg.scores[: len(first)]
    deviation = float(first.std())
    if leg.name not in _ENOUGH or deviation <= 0:
        return _of_best(leg)
    standing = ((leg.scores - first.mean()) / deviation - _NOTHING) / (_ALL - _NOTHING)
    enough = _ENOUGH[leg.name] * (leg.full - leg.floor)
    trust = min(1.0, max(0.0, float(leg.scores[0]) - leg.floor) / enough) if enough > 0 else 1.0
    # Nearly max(0, standing), but even the crowd keeps its order.
    return np.asarray(trust * np.logaddexp(0.0, _BEND * standing) / _BEND)


def _of_best(leg: RankedList) -> Scores:
    """Scores as shares of the best one."""
    best = float(leg.scores.max())
    return leg.scores / best if best > 0 else np.ones(len(leg))
