"""Reader: the texts and vectors that refining looks at, a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.lookup import StoredChunk
from pinakes.stores.embedded.vectors import Snapshot


class Reader(Protocol):
    """What refining asks about chunks."""

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, without those that are gone."""
        ...

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return a unit vector for each chunk that has one."""
        ...


@dataclass(frozen=True, slots=True)
class _ByChunk:
    """Where each chunk's rows are in a snapshot: chunk ids in ascending order, and the rows they stand for."""

    snapshot: Snapshot
    chunks: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, snapshot: Snapshot) -> _ByChunk:
        chunks = snapshot.rows[:, 1]
        # Rows come nearly in order, for which a stable sort is quick.
        rows = np.argsort(chunks, kind="stable")
        return cls(snapshot, chunks[rows], rows)


class IndexReader:
    """Reads from an index. Keep it between searches: it remembers which rows belong to which chunk."""

    def __init__(self, index: EmbeddedIndex) -> None:
        self._index = index
        self._by_chunk: _ByChunk | None = None

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id from the record."""
        return self._index.lookup.chunks(ids)

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return the normalised mean of each chunk's passage vectors; only their rows are read."""
        by_chunk = self._current()
        wanted = np.unique(np.asarray(ids, dtype=np.int64))
        first = np.searchsorted(by_chunk.chunks, wanted, side="left")
        count = np.searchsorted(by_chunk.chunks, wanted, side="right") - first
        found = (count > 0) & (wanted >= 0)
        wanted, first, count = wanted[found], first[found], count[found]
        if not len(wanted):
            return {}
        starts = np.concatenate([[0], np.cumsum(count)[:-1]])
        places = np.arange(int(count.sum())) + np.repeat(first - starts, count)
        passages = np.asarray(by_chunk.snapshot.matrix[by_chunk.rows[places]])
        # A mean points where the sum does; the length is lost in either case.
        sums = np.add.reduceat(passages, starts, axis=0)
        lengths = np.linalg.norm(sums, axis=1)
        # A damaged file may hold anything; what is no number is like nothing.
        sound = np.isfinite(lengths) & (lengths > 0)
        units = sums[sound] / lengths[sound, None]
        return dict(zip(wanted[sound].tolist(), units, strict=True))

    def passage_scores(self, ids: Sequence[int], query: Vectors) -> dict[int, list[tuple[int, int, float]]]:
        """Return the passages of chunks (start and end in their contents) with their cosines to a query."""
        by_chunk = self._current()
        scored: dict[int, list[tuple[int, int, float]]] = {}
        for chunk, spans in self._index.lookup.passages(ids).items():
            low, high = np.searchsorted(by_chunk.chunks, (chunk, chunk + 1)).tolist()
            if high - low == len(spans):
                rows = np.sort(by_chunk.rows[low:high])
                scores = np.einsum("ij,j->i", np.asarray(by_chunk.snapshot.matrix[rows]), query)
                pairs = zip(spans, np.nan_to_num(scores, neginf=-1.0).tolist(), strict=True)
                scored[chunk] = [(*span, score) for span, score in pairs]
        return scored

    def _current(self) -> _ByChunk:
        snapshot = self._index.vectors.snapshot
        known = self._by_chunk
        if known is None or known.snapshot is not snapshot:
            # Two threads may both do this; either result is right.
            known = self._by_chunk = _ByChunk.of(snapshot)
        return known
