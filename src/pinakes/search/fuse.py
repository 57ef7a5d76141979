"""Fuse: the ranked lists of the legs become one.

Two ways: weighted reciprocal ranks, which need nothing but the order, and weighted scores, brought to one scale
first. Either way the result is between 0 and 1, and what one leg finds beyond doubt is not voted down by legs
that know nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pinakes.search.candidates import Candidate, Leg

# Score of the best, in standard deviations above the leg's other hits, at which one leg needs no second.
STRONG_DEVIATIONS = 4.0
_MIN_HITS_FOR_STRENGTH = 10


def fuse(legs: Sequence[Leg], weights: Mapping[str, float], *, method: str, rrf_k: int) -> list[Candidate]:
    """Join the legs into one list, best first; scores lie between 0 and 1."""
    active = [leg for leg in legs if leg.hits and weights.get(leg.name, 0.0) > 0]
    total = sum(weights[leg.name] for leg in active)
    candidates: dict[int, Candidate] = {}
    for leg in active:
        values = _reciprocal(leg, rrf_k) if method == "rrf" else _normalised(leg)
        strong = _strong_hits(leg)
        for rank, ((chunk, score), value) in enumerate(zip(leg.hits, values, strict=True), 1):
            candidate = candidates.setdefault(chunk, Candidate(chunk))
            candidate.ranks[leg.name] = rank
            candidate.scores[leg.name] = score
            candidate.score += weights[leg.name] * value / total
            if rank <= strong:
                candidate.strong = leg.name
    for candidate in candidates.values():
        if candidate.strong:
            # As if the other legs had not been asked: they have no better reason to rank it low than ignorance.
            candidate.score = max(candidate.score, 1.0 - 0.01 * candidate.ranks[candidate.strong])
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


def _strong_hits(leg: Leg) -> int:
    """Return how many of the first hits stand far above the rest of their leg."""
    if leg.name == "exact" or len(leg.hits) < _MIN_HITS_FOR_STRENGTH:
        return 0
    scores = [score for _, score in leg.hits]
    rest = scores[3:]
    mean = sum(rest) / len(rest)
    deviation = (sum((score - mean) ** 2 for score in rest) / len(rest)) ** 0.5
    limit = mean + STRONG_DEVIATIONS * max(deviation, 0.02 * abs(mean))
    return sum(score > limit for score in scores[:3])
