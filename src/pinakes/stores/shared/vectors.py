"""Search by meaning in a database: its answer, a list of points, becomes chunks of the record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.port.matching import Nearest, PassageVectors
from pinakes.stores.embedded.record import Record
from pinakes.stores.shared.replica import STORED_GENERATION, STORED_MARK
from pinakes.stores.store import Found, Store

_POINT = np.dtype([("document", ">u8"), ("version", ">u4"), ("number", ">u4")])
_PASSAGES_BITS = 12
_BATCH = 500
_DEPTH = 400
# How many chunks tell what one that has nothing to do with a query scores.
_SAMPLE = 2000
# Some points belong to versions that are not known here, or to chunks that are there already.
_SPARE = 1.1


@dataclass(frozen=True, slots=True)
class _Known:
    """What the record has of the documents in the database, in the order of their keys."""

    mark: tuple[int, str]
    keys: NDArray[np.uint64]
    versions: NDArray[np.uint32]
    documents: NDArray[np.int64]
    first_chunks: NDArray[np.int64]
    passages_a_chunk: float
    names: dict[int, str]
    sample: PassageVectors


class StoreVectors:
    """Asks the database, and the record for the vectors of single chunks."""

    def __init__(self, store: Store, record: Record) -> None:
        self._store = store
        self._record = record
        self._cached: _Known | None = None

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model whose vectors these are."""
        return self._record.meta("model"), int(self._record.meta("dimension") or 0)

    @property
    def generation(self) -> int:
        """The record's generation up to which everything is in the database."""
        return int(self._record.meta(STORED_GENERATION) or 0)

    @property
    def depth(self) -> int:
        """How many chunks to ask for: each is a row to be found, sorted and sent."""
        return _DEPTH

    @property
    def empty(self) -> bool:
        """Whether there is nothing to be found."""
        return not len(self._known().keys)

    def reload(self) -> None:
        """See what another process wrote: nothing is kept here that could be late."""

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> Nearest:
        """Return the chunks nearest to a query, by the cosine of the best of their passages, best first."""
        known, bounds = self._known(), self._store.capabilities
        names = self._names(known, documents)
        if names == []:
            return Nearest(np.zeros(0, np.int64), np.zeros(0), 0.0)
        wanted = min(int(limit * known.passages_a_chunk * _SPARE) + 50, bounds.max_results)
        while True:
            found = self._store.search(query, wanted, names)
            chunks, scores = self._chunks(known, found, documents if names is None else None)
            if len(chunks) >= limit or len(found) < wanted or wanted >= bounds.max_results:
                break
            # Too many belonged together, or to documents that are not wanted.
            wanted = min(4 * wanted, bounds.max_results)
        exhausted = len(found) < wanted
        floor = float(scores.min()) if len(scores) and exhausted else self._floor(known, query, documents)
        return Nearest(chunks[:limit], scores[:limit], floor)

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the chunks that the database's own keyword search finds, best first."""
        known = self._known()
        names = self._names(known, documents)
        return self._chunks(known, self._store.keyword(terms, limit, names), documents)

    def hybrid(
        self,
        query: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[int] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the chunks that the database's own fusion finds, best first."""
        known = self._known()
        wanted = min(int(limit * known.passages_a_chunk * _SPARE) + 50, self._store.capabilities.max_results)
        found = self._store.hybrid(query, terms, weights, wanted, self._names(known, documents))
        chunks, scores = self._chunks(known, found, documents)
        return chunks[:limit], scores[:limit]

    def _names(self, known: _Known, documents: Collection[int] | None) -> list[str] | None:
        if documents is None:
            return None
        names = [known.names[document] for document in documents if document in known.names]
        return names if len(names) <= self._store.capabilities.max_filter else None

    def passages(self, chunks: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of some chunks from the record, without those that have none."""
        wanted = [int(chunk) for chunk in np.unique(chunks)]
        rows = []
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
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
        self, known: _Known, found: Sequence[Found], documents: Collection[int] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Turn points into chunks with the score of their best passage, without those of versions not known here."""
        raw = bytes.fromhex("".join(hit.id for hit in found).replace("-", ""))
        points = np.frombuffer(raw, dtype=_POINT)
        scores = np.fromiter((hit.score for hit in found), np.float64, len(found))
        keys = points["document"].astype(np.uint64)
        places = np.minimum(np.searchsorted(known.keys, keys), max(len(known.keys) - 1, 0))
        if not len(known.keys):
            return np.zeros(0, np.int64), np.zeros(0)
        ours = (known.keys[places] == keys) & (known.versions[places] == points["version"])
        if documents is not None:
            ours &= np.isin(known.documents[places], np.fromiter(documents, np.int64, len(documents)))
        chunks = known.first_chunks[places[ours]] + (points["number"][ours] >> _PASSAGES_BITS).astype(
            np.int64
        )
        scores = scores[ours]
        order = np.lexsort((chunks, -scores))
        chunks, scores = chunks[order], scores[order]
        _, best = np.unique(chunks, return_index=True)
        best.sort()
        return chunks[best], scores[best]

    def _floor(self, known: _Known, query: Vectors, documents: Collection[int] | None) -> float:
        """Estimate the lowest cosine of all chunks from a sample of them."""
        chunks, counts, vectors = known.sample
        if not len(chunks):
            return 0.0
        best = np.maximum.reduceat(np.einsum("ij,j->i", vectors, query), np.cumsum(counts) - counts)
        if documents is not None:
            allowed = np.fromiter(documents, np.int64, len(documents))
            owners = known.documents[np.argsort(known.first_chunks)][
                np.searchsorted(np.sort(known.first_chunks), chunks, side="right") - 1
            ]
            inside = np.isin(owners, allowed)
            best = best[inside] if inside.any() else best
        return float(best.min())

    def _known(self) -> _Known:
        mark = (self._record.generation(), self._record.meta(STORED_MARK))
        cached = self._cached
        if cached is None or cached.mark != mark:
            # Two threads may both do this; either result is right.
            cached = self._cached = self._read(mark)
        return cached

    def _read(self, mark: tuple[int, str]) -> _Known:
        database = self._record.database
        rows = database.rows(
            "SELECT s.key, s.version, s.document, MIN(c.id) FROM stored s JOIN chunks c ON c.document = s.document "
            "GROUP BY s.key ORDER BY s.key"
        )
        chunks, passages = (
            int(database.value("SELECT count FROM counters WHERE kind = ?", (kind,)))
            for kind in ("chunks", "passages")
        )
        step = max(1, chunks // _SAMPLE)
        some = database.rows(f"SELECT id FROM chunks WHERE id % {step} = 0 LIMIT {2 * _SAMPLE}")
        return _Known(
            mark,
            np.array([int(row[0], 16) for row in rows], np.uint64),
            np.array([int(row[1], 16) for row in rows], np.uint32),
            np.array([row[2] for row in rows], np.int64),
            np.array([row[3] for row in rows], np.int64),
            max(1.0, passages / chunks) if chunks else 1.0,
            {int(row[2]): str(row[0]) for row in rows},
            self.passages(np.array([row[0] for row in some], np.int64)),
        )
