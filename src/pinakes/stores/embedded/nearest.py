"""Nearest: the chunks whose passages lie nearest to a query, out of a matrix and, where there is one, its coarse copy.

Either way the answer is that of comparing every row. Products are made by ``einsum`` and not by ``@``, which would
call on all cores: on a machine that has other work to do, waiting for them takes longer than the product.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.port.matching import Nearest
from pinakes.stores.embedded.coarse import Coarse

Places = NDArray[np.intp]

# Reading single rows costs more than reading all in order when they are more than one in so many.
_SINGLE_ROWS = 8


@dataclass(frozen=True, slots=True)
class Runs:
    """The rows of each chunk, which stand together: where they begin, how many they are, and whose."""

    starts: Places
    lengths: Places
    documents: NDArray[np.int64]
    chunks: NDArray[np.int64]

    @classmethod
    def of(cls, rows: NDArray[np.int64]) -> Runs:
        """Find the runs in a list of document and chunk ids, one a row; -1 for dead rows."""
        if not len(rows):
            return cls(np.zeros(0, np.intp), np.zeros(0, np.intp), *np.zeros((2, 0), np.int64))
        starts = np.concatenate([[0], np.flatnonzero(np.diff(rows[:, 1])) + 1])
        documents, chunks = np.ascontiguousarray(rows[starts].T)
        return cls(starts, np.diff(starts, append=len(rows)), documents, chunks)

    def allowed(self, documents: Collection[int] | None) -> NDArray[np.bool_]:
        """Say which runs belong to living documents, and to some of these where any are named."""
        alive = self.chunks >= 0
        if documents is None:
            return alive
        wanted = np.fromiter(documents, np.int64, len(documents))
        return np.asarray(alive & np.isin(self.documents, wanted))

    def rows(self, runs: Places) -> Places:
        """Return the rows of some runs, in order."""
        lengths = self.lengths[runs]
        before = np.cumsum(lengths) - lengths
        return np.asarray(np.arange(lengths.sum()) + np.repeat(self.starts[runs] - before, lengths))

    def holding(self, rows: Places) -> Places:
        """Return the run that each of some rows is in."""
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1)


def nearest(
    matrix: Vectors,
    runs: Runs,
    coarse: Coarse | None,
    query: Vectors,
    limit: int,
    documents: Collection[int] | None = None,
) -> Nearest:
    """Return the best ``limit`` chunks by the best of their rows, of all documents or of some."""
    allowed = runs.allowed(documents)
    if limit < 1 or not allowed.any():
        return Nearest(np.zeros(0, np.int64), np.zeros(0), 0.0)
    rows = candidate_rows(runs, allowed, coarse, query, limit)
    if rows is None or len(rows) * _SINGLE_ROWS > len(matrix):
        scores = np.maximum.reduceat(_products(matrix, query), runs.starts)
        return _best(runs.chunks[allowed], scores[allowed], limit)
    found, firsts = np.unique(runs.holding(rows), return_index=True)
    return _best(runs.chunks[found], np.maximum.reduceat(_products(matrix[rows], query), firsts), limit)


def _products(rows: Vectors, query: Vectors) -> Vectors:
    products: Vectors = np.einsum("ij,j->i", np.asarray(rows), query)
    # A damaged file may hold anything; what is no number is no match.
    products[~np.isfinite(products)] = -np.inf
    return products


def candidate_rows(
    runs: Runs, allowed: NDArray[np.bool_], coarse: Coarse | None, query: Vectors, limit: int
) -> Places | None:
    """Return the rows that can be the best of one of the best chunks, and all of those that can be the last.

    None when all have to be looked at.
    """
    if limit >= int(allowed.sum()):
        return runs.rows(np.flatnonzero(allowed))
    seen = coarse.look(query) if coarse is not None else None
    if seen is None:
        return None
    products, margin = seen
    products[np.isnan(products)] = -np.inf
    scores = np.where(allowed, np.maximum.reduceat(products, runs.starts), -np.inf)
    # Each product may be wrong by the margin, and so may what it is compared with.
    entry = np.partition(scores, -limit)[-limit] - 2 * margin
    lowest = scores[scores > -np.inf].min(initial=np.inf) + 2 * margin
    if entry <= lowest:
        # All are so much alike that the coarse copy cannot tell the best from the last.
        return None
    high = np.flatnonzero(products >= entry)
    low = np.flatnonzero(allowed & (scores <= lowest))
    return np.sort(np.concatenate([high[allowed[runs.holding(high)]], runs.rows(low)]))


def _best(chunks: NDArray[np.int64], scores: Vectors, limit: int) -> Nearest:
    sound = scores > -np.inf
    chunks, values = chunks[sound], scores[sound].astype(np.float64)
    if not len(chunks):
        return Nearest(chunks, values, 0.0)
    floor = float(values.min())
    if limit < len(values):
        # All that are as good as the last that fits in, so that equal ones are chosen by their ids.
        enough = np.flatnonzero(values >= np.partition(values, -limit)[-limit])
        chunks, values = chunks[enough], values[enough]
    order = np.lexsort((chunks, -values))[:limit]
    return Nearest(chunks[order], values[order], floor)
