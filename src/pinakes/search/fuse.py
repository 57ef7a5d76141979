"""Fuse: the ranked lists of the legs become one.

Two ways: weighted reciprocal ranks, which need nothing but the order, and weighted scores, brought to one scale
first. Either way the result is between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pinakes.search.candidates import Candidate, Leg


def fuse(legs: Sequence[Leg], weights: Mapping[str, float], *, method: str, rrf_k: int) -> list[Candidate]:
    """Join the legs into one list, best first; scores lie between 0 and 1."""
    active = [leg for leg in legs if leg.hits and weights.get(leg.name, 0.0) > 0]
    total = sum(weights[leg.name] for leg in active)
    candidates: dict[int, Candidate] = {}
    for leg in active:
        values = _reciprocal(leg, rrf_k) if method == "rrf" else _normalised(leg)
        for rank, ((chunk, score), value) in enumerate(zip(leg.hits, values, strict=True), 1):
            candidate = candidates.setdefault(chunk, Candidate(chunk))
            candidate.ranks[leg.name] = rank
            candidate.scores[leg.name] = score
            candidate.score += weights[leg.name] * value / total
    return sorted(candidates.values(), key=lambda item: (-item.score, item.chunk))


def _reciprocal(leg: Leg, rrf_k: int) -> list[float]:
    """1 for the first rank, falling off with ``rrf_k``."""
    return [(rrf_k + 1) / (rrf_k + rank) for rank in range(1, len(leg.hits) + 1)]


def _normalised(leg: Leg) -> list[float]:
    """Scores stretched between 0 for the last and 1 for the first of the leg."""
    scores = [score for _, score in leg.hits]
    low, high = min(scores), max(scores)
    if high <= low:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]
