"""Reader: chunks and their vectors as a search reads them, from ranking on, each once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredChunk
from loccit.models.embedding.protocol import Vectors


class IndexReader:
    """Reads chunks and vectors from an index, each chunk once: one reader serves one search."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._read: dict[int, StoredChunk] = {}

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id from the record."""
        self._read.update(self._index.lookup.chunks([id_ for id_ in ids if id_ not in self._read]))
        return {id_: self._read[id_] for id_ in ids if id_ in self._read}

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return the normalised mean of each chunk's passage vectors."""
        chunks, units = self._units(np.asarray(ids, dtype=np.int64))
        return dict(zip(chunks.tolist(), units, strict=True))

    def vector_rows(self, ids: NDArray[np.int64]) -> tuple[Vectors, int]:
        """Return the same as one row per chunk, zeros if there is none, and the number of vectors."""
        chunks, units = self._units(ids)
        rows = np.zeros((len(ids), units.shape[1]), np.float32)
        if len(chunks):
            # They are ordered by id.
            at = np.minimum(np.searchsorted(chunks, ids), len(chunks) - 1)
            there = chunks[at] == ids
            rows[there] = units[at[there]]
        return rows, len(chunks)

    def _units(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], Vectors]:
        chunks, counts, passages = self._index.vectors.passages(ids)
        if not len(chunks):
            return chunks, passages
        # A mean has the direction of the sum; its length does not matter.
        sums = _sums(passages, counts)
        lengths = np.linalg.norm(sums, axis=1)
        # A damaged file may contain anything; NaN vectors are similar to nothing.
        sound = np.isfinite(lengths) & (lengths > 0)
        return chunks[sound], sums[sound] / lengths[sound, None]

    def passage_scores(self, ids: Sequence[int], query: Vectors) -> dict[int, list[tuple[int, int, float]]]:
        """Return the passages of chunks (start and end in their content) with their cosine similarity to a query."""
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
    """Sum the vectors of each chunk, given their counts; ``np.add.reduceat`` is slow with rows."""
    starts = np.cumsum(counts) - counts
    sums = passages[starts]
    for count in range(2, int(counts.max()) + 1):
        at = np.flatnonzero(counts == count)
        if len(at):
            sums[at] += passages[starts[at, None] + np.arange(1, count)].sum(axis=1)
    return np.asarray(sums)
