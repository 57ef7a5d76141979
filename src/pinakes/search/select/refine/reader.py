"""Reader: the texts and vectors that refining looks at, a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.port.index import SearchIndex
from pinakes.port.rows import StoredChunk


class Reader(Protocol):
    """What refining asks about chunks."""

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, without those that are gone."""
        ...

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return a unit vector for each chunk that has one."""
        ...


class IndexReader:
    """Reads from an index."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id from the record."""
        return self._index.lookup.chunks(ids)

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return the normalised mean of each chunk's passage vectors."""
        chunks, counts, passages = self._index.vectors.passages(np.asarray(ids, dtype=np.int64))
        if not len(chunks):
            return {}
        # A mean points where the sum does; the length is lost in either case.
        sums = _sums(passages, counts)
        lengths = np.linalg.norm(sums, axis=1)
        # A damaged file may hold anything; what is no number is like nothing.
        sound = np.isfinite(lengths) & (lengths > 0)
        units = sums[sound] / lengths[sound, None]
        return dict(zip(chunks[sound].tolist(), units, strict=True))

    def passage_scores(self, ids: Sequence[int], query: Vectors) -> dict[int, list[tuple[int, int, float]]]:
        """Return the passages of chunks (start and end in their contents) with their cosines to a query."""
        chunks, counts, passages = self._index.vectors.passages(np.asarray(ids, dtype=np.int64))
        scores = np.nan_to_num(np.einsum("ij,j->i", passages, query), neginf=-1.0).tolist()
        starts = np.cumsum(counts) - counts
        places = dict(zip(chunks.tolist(), zip(starts.tolist(), counts.tolist(), strict=True), strict=True))
        scored: dict[int, list[tuple[int, int, float]]] = {}
        for chunk, spans in self._index.lookup.passages(ids).items():
            first, count = places.get(chunk, (0, 0))
            if count == len(spans):
                pairs = zip(spans, scores[first : first + count], strict=True)
                scored[chunk] = [(*span, score) for span, score in pairs]
        return scored


def _sums(passages: Vectors, counts: NDArray[np.int64]) -> Vectors:
    """Add up the vectors of each chunk, of which it has so many; ``np.add.reduceat`` is slow with rows."""
    starts = np.cumsum(counts) - counts
    sums = passages[starts]
    for count in range(2, int(counts.max()) + 1):
        at = np.flatnonzero(counts == count)
        if len(at):
            sums[at] += passages[starts[at, None] + np.arange(1, count)].sum(axis=1)
    return np.asarray(sums)
