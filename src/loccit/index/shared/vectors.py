"""Semantic search in a database: its answer, a list of points, becomes chunks of the record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loccit.index.folder.database import batches
from loccit.index.folder.record import Record
from loccit.index.port.matching import Nearest, PassageVectors
from loccit.index.shared.ids import edition_of
from loccit.index.shared.replica import STORED_GENERATION
from loccit.index.store import Found, Store
from loccit.models.embedding.protocol import Vectors

_POINT = np.dtype([("document", ">u8"), ("version", ">u4"), ("number", ">u4")])
_PASSAGES_BITS = 12
_DEPTH = 400
# How many chunks are sampled to estimate the score of unrelated ones.
_SAMPLE = 2000
# Some points belong to versions that are unknown here, or to chunks already found.
_SPARE = 1.1


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some chunks from all over the record, with their documents and vectors."""

    generation: int
    documents: NDArray[np.int64]
    passages: PassageVectors


class StoreVectors:
    """Queries the database, and the record for the vectors of single chunks."""

    def __init__(self, store: Store, record: Record) -> None:
        self._store = store
        self._record = record
        self._sample: _Sample | None = None

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model of these vectors."""
        return self._record.meta("model"), int(self._record.meta("dimension") or 0)

    @property
    def generation(self) -> int:
        """The record's generation up to which everything is in the database."""
        return int(self._record.meta(STORED_GENERATION) or 0)

    @property
    def depth(self) -> int:
        """How many chunks to ask for: each is a row to find, sort and send."""
        return _DEPTH

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search."""
        there = "SELECT 1 FROM stored s JOIN chunks c ON c.document = s.document LIMIT 1"
        return self._record.database.value(there) is None

    def reload(self) -> None:
        """Notice what another process wrote: nothing is cached here that could be outdated."""

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> Nearest:
        """Return the chunks nearest to a query, by the cosine of their best passage, best first."""
        bounds = self._store.capabilities
        names = self._names(documents)
        if names == []:
            return Nearest(np.zeros(0, np.int64), np.zeros(0), 0.0)
        wanted = self._points_for(limit)
        while True:
            found = self._store.search(query, wanted, names)
            chunks, scores = self._chunks(found, documents if names is None else None)
            if len(chunks) >= limit or len(found) < wanted or wanted >= bounds.max_results:
                break
            # Too many belonged together, or to excluded documents.
            wanted = min(4 * wanted, bounds.max_results)
        exhausted = len(found) < wanted
        floor = float(scores.min()) if len(scores) and exhausted else self.floor(query, documents)
        return Nearest(chunks[:limit], scores[:limit], floor)

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the chunks that the database's own keyword search finds, best first."""
        return self._chunks(self._store.keyword(terms, limit, self._names(documents)), documents)

    def hybrid(
        self,
        query: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[int] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the chunks that the database's own fusion finds, best first."""
        found = self._store.hybrid(query, terms, weights, self._points_for(limit), self._names(documents))
        chunks, scores = self._chunks(found, documents)
        return chunks[:limit], scores[:limit]

    def _points_for(self, chunks: int) -> int:
        """Return how many points to ask for, to cover this many chunks."""
        known, passages = (self._count(kind) for kind in ("chunks", "passages"))
        each = max(1.0, passages / known) if known else 1.0
        return min(int(chunks * each * _SPARE) + 50, self._store.capabilities.max_results)

    def _count(self, kind: str) -> int:
        return self._record.database.stored_count(kind)

    def _names(self, documents: Collection[int] | None) -> list[str] | None:
        """Return the keys of documents to restrict the search to; None if there are too many."""
        if documents is None:
            return None
        names: list[str] = []
        for batch in batches(documents):
            marks = ",".join("?" * len(batch))
            rows = self._record.database.rows(f"SELECT key FROM stored WHERE document IN ({marks})", batch)
            names += (str(row[0]) for row in rows)
            if len(names) > self._store.capabilities.max_filter:
                return None
        return names

    def passages(self, chunks: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of some chunks from the record, without those that have none."""
        wanted = [int(chunk) for chunk in np.unique(chunks)]
        rows = []
        for batch in batches(wanted):
            marks = ",".join("?" * len(batch))
            rows += self._record.database.rows(
                "SELECT p.chunk, v.vector FROM passages p JOIN vectors v ON v.text_hash = p.text_hash "
                f"WHERE p.chunk IN ({marks}) ORDER BY p.chunk, p.id",
                batch,
            )
        owners = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        found, counts = np.unique(owners, return_counts=True)
        data = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32)
        return PassageVectors(found, counts, data.reshape(len(rows), self.model[1]))

    def _chunks(
        self, found: Sequence[Found], documents: Collection[int] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Turn points into chunks with the score of their best passage, without those of versions not known here."""
        raw = bytes.fromhex("".join(hit.id for hit in found).replace("-", ""))
        points = np.frombuffer(raw, dtype=_POINT)
        scores = np.fromiter((hit.score for hit in found), np.float64, len(found))
        keys, places = np.unique(points["document"], return_inverse=True)
        versions, owners, first_chunks = self._known(keys)
        ours = (owners[places] > 0) & (versions[places] == points["version"])
        if documents is not None:
            ours &= np.isin(owners[places], np.fromiter(documents, np.int64, len(documents)))
        chunks = first_chunks[places[ours]] + (points["number"][ours] >> _PASSAGES_BITS).astype(np.int64)
        scores = scores[ours]
        order = np.lexsort((chunks, -scores))
        chunks, scores = chunks[order], scores[order]
        _, best = np.unique(chunks, return_index=True)
        best.sort()
        return chunks[best], scores[best]

    def _known(
        self, keys: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the version, the document and its first chunk for each key; 0 for documents not known here."""
        found: dict[str, tuple[int, int, int]] = {}
        names = [f"{key:016x}" for key in keys.tolist()]
        for batch in batches(names):
            marks = ",".join("?" * len(batch))
            for key, version, document, first in self._record.database.rows(
                "SELECT key, version, document, (SELECT MIN(id) FROM chunks WHERE document = s.document) "
                f"FROM stored s WHERE key IN ({marks})",
                batch,
            ):
                if first is not None:
                    found[key] = int(edition_of(version), 16), document, first
        columns = np.array([found.get(name, (0, 0, 0)) for name in names], np.int64).reshape(-1, 3)
        return columns[:, 0], columns[:, 1], columns[:, 2]

    def floor(self, query: Vectors, documents: Collection[int] | None = None) -> float:
        """Estimate the lowest cosine of all chunks from a sample of them."""
        sample = self._sampled()
        chunks, counts, vectors = sample.passages
        if not len(chunks):
            return 0.0
        best = np.maximum.reduceat(np.einsum("ij,j->i", vectors, query), np.cumsum(counts) - counts)
        if documents is not None:
            inside = np.isin(sample.documents, np.fromiter(documents, np.int64, len(documents)))
            best = best[inside] if inside.any() else best
        return float(best.min())

    def _sampled(self) -> _Sample:
        """Return the sample, a new one when one document in twenty changed since it was taken."""
        sample, generation = self._sample, self._record.generation()
        if sample is None or abs(generation - sample.generation) * 20 > self._count("documents"):
            # Two threads may both do this; either result is right.
            sample = self._sample = self._take_sample(generation)
        return sample

    def _take_sample(self, generation: int) -> _Sample:
        database = self._record.database
        last = int(database.value("SELECT MAX(id) FROM chunks") or 0)
        first = int(database.value("SELECT MIN(id) FROM chunks") or 0)
        step = max(1, (last - first + 1) // _SAMPLE)
        # The chunk at every step, or the next after it, each found by id: no table scan.
        rows = database.rows(
            "WITH RECURSIVE at (id) AS (SELECT MIN(id) FROM chunks UNION ALL "
            "SELECT (SELECT MIN(id) FROM chunks WHERE id >= at.id + ?) FROM at WHERE at.id IS NOT NULL) "
            "SELECT c.id, c.document FROM at JOIN chunks c ON c.id = at.id",
            (step,),
        )
        owners = {int(row[0]): int(row[1]) for row in rows}
        passages = self.passages(np.array(list(owners), np.int64))
        documents = np.array([owners[chunk] for chunk in passages.chunks.tolist()], np.int64)
        return _Sample(generation, documents, passages)
