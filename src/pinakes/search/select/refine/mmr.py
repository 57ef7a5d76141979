"""Maximal marginal relevance: each next result is good, and unlike those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.search.candidates import Candidate


def select(
    pool: Sequence[Candidate],
    vectors: Mapping[int, Vectors],
    trade_off: float,
    limit: int,
    admit: Callable[[Candidate], bool],
) -> list[Candidate]:
    """Choose up to ``limit`` of a pool that ``admit`` does not refuse, in the order of choice.

    At each step that with the most of ``trade_off * score - (1 - trade_off) * likeness`` is next, where likeness
    is the greatest cosine to what has been chosen; among equals, the earlier. What the query names comes first.
    """
    chosen: list[Candidate] = []
    matrix = _matrix(pool, vectors)
    scores = np.array([candidate.score for candidate in pool], dtype=np.float64)
    likeness = np.zeros(len(pool))
    left = np.ones(len(pool), dtype=bool)
    named = [at for at, candidate in enumerate(pool) if candidate.pin > 0][::-1]
    while len(chosen) < limit and left.any():
        if named:
            best = named.pop()
        else:
            worth = np.where(left, trade_off * scores - (1 - trade_off) * likeness, -np.inf)
            best = int(np.argmax(worth))
        left[best] = False
        if not admit(pool[best]):
            continue
        cosines = matrix @ matrix[best]
        likeness = np.maximum(likeness, cosines) if chosen else cosines
        chosen.append(pool[best])
    return chosen


def _matrix(pool: Sequence[Candidate], vectors: Mapping[int, Vectors]) -> Vectors:
    """Return one row for each candidate; zeros, which are like nothing, where there is no vector."""
    width = len(next(iter(vectors.values()), ()))
    missing = np.zeros(width, dtype=np.float32)
    rows = [vectors.get(candidate.chunk, missing) for candidate in pool]
    return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)
