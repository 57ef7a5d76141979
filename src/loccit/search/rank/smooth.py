"""Smooth: passages with the same content rise and fall together.

Each of the best candidates takes a share of the scores of its nearest neighbours in vector space. A chunk of a long
document already has its relatives there (see ``hierarchy``), so it takes less from elsewhere.
docs/decisions/0015-smoothing.md has the measurements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loccit.index.port.index import SearchIndex
from loccit.models.embedding.protocol import Vectors
from loccit.search.candidates import Scores
from loccit.search.rank.signal import Asked, Ranked, Signal
from loccit.search.reader import IndexReader

POOL = 100
SHARE = 0.3
_NEAREST = 5
# Only close neighbours matter: a cosine of .9 weighs seven times as much as one of .7.
_SHARPNESS = 8.0
# Larger products are spread over all cores, and synchronising takes longer than a product this small.
_ONE_CORE = 250_000


class Smoothing(Signal):
    """Scores the best candidates together with their nearest neighbours."""

    stage = "smoothing"
    column = "smoothed"

    def __init__(self, index: SearchIndex) -> None:
        super().__init__(index)
        self._reader = IndexReader(index)

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Smooth the best scores."""
        table = ranked.table
        order = table.best(POOL)
        vectors, found = self._reader.vector_rows(table.chunks[order])
        if found < 3:
            return table.scores
        scores = table.scores.copy()
        scores[order] = smooth(
            scores[order], vectors, table.known["document_chunks"][order].astype(np.float64)
        )
        # Candidates below the pool stay below it.
        lowest = float(scores[order].min())
        rest = np.ones(len(scores), bool)
        rest[order] = False
        scores[rest] = np.minimum(scores[rest], lowest)
        return np.asarray(scores)


def smooth(scores: Scores, vectors: Vectors, relatives: NDArray[np.float64]) -> Scores:
    """Return the candidates' scores, each moved towards those of its nearest neighbours.

    ``vectors`` are their unit vectors, zeros if there is none, and ``relatives`` the number of chunks in each one's
    document.
    """
    if len(scores) < 3:
        return scores
    likeness = _cosines(vectors)
    np.fill_diagonal(likeness, 0.0)
    count = min(_NEAREST, len(scores) - 1)
    nearest = np.argpartition(likeness, -count, axis=1)[:, -count:]
    near = likeness[np.arange(len(scores))[:, None], nearest]
    weights = np.maximum(near, 0.0).astype(np.float64) ** _SHARPNESS
    total = weights.sum(axis=1)
    around = (weights * scores[nearest]).sum(axis=1) / np.maximum(total, 1e-12)
    share = np.where(total > 0, SHARE / np.maximum(relatives, 1.0), 0.0)
    return np.asarray((1.0 - share) * scores + share * around)


def _cosines(vectors: Vectors) -> Vectors:
    """Compute all pairwise products, a few rows at a time."""
    count = len(vectors)
    height = max(1, _ONE_CORE // vectors.size)
    cosines = np.empty((count, count), np.float32)
    for start in range(0, count, height):
        np.matmul(vectors[start : start + height], vectors.T, out=cosines[start : start + height])
    return cosines
