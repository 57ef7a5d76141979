"""By chunk: the vectors of some chunks' passages, found in a snapshot of the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pinakes.port.matching import PassageVectors

if TYPE_CHECKING:
    from pinakes.stores.embedded.vectors import Snapshot


@dataclass(frozen=True, slots=True)
class ByChunk:
    """Where each chunk's rows are in a snapshot: chunk ids in ascending order, and the rows they stand for."""

    snapshot: Snapshot
    chunks: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, snapshot: Snapshot) -> ByChunk:
        """Put the rows of a snapshot in the order of their chunks."""
        chunks = snapshot.rows[:, 1]
        # Rows come nearly in order, for which a stable sort is quick.
        rows = np.argsort(chunks, kind="stable")
        return cls(snapshot, chunks[rows], rows)

    def passages(self, ids: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of chunks, without those that have none; only their rows are read."""
        wanted = np.unique(ids)
        first = np.searchsorted(self.chunks, wanted, side="left")
        counts = np.searchsorted(self.chunks, wanted, side="right") - first
        found = (counts > 0) & (wanted >= 0)
        wanted, first, counts = wanted[found], first[found], counts[found]
        starts = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(first - starts, counts)
        return PassageVectors(wanted, counts, np.asarray(self.snapshot.matrix[self.rows[places]]))
