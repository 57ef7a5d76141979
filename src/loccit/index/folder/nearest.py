"""Nearest: the chunks whose passages are nearest to a query, in one state of the matrix and its smaller copies.

With the coarse copy the best chunks are exactly those of comparing every row, and nearly always so are all the others.
Only beyond a size where even that takes too long do signs choose which rows are compared at all. The work per row is
one product and a few comparisons; chunks, documents and deletions are looked up for the remaining rows only.

Products are computed on one core and not by ``@``, which would use all: on a busy machine, waiting for them takes
longer than the product.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError
from loccit.index.folder.coarse import Coarse, Signs, dot_products
from loccit.index.folder.digests import CHECK, Blocks, sound
from loccit.index.port.matching import Nearest
from loccit.models.embedding.protocol import Vectors

Places = NDArray[np.intp]
Ids = NDArray[np.int64]

ROW = np.dtype([("chunk", "<i8"), ("document", "<i8"), ("died", "<i8"), CHECK])
"""The owner of a row, and the generation in which it was deleted; 0 while it is live."""
SPAN = np.dtype([("start", "<u4"), ("count", "<u4"), CHECK])
"""The rows of a chunk or a document, which are contiguous."""

# Reading single rows costs more than reading all in order if they are more than one in this many.
_SINGLE_ROWS = 8
# If signs choose: rows to compare per wanted chunk, and at least; and the opposite rows that show how low a
# cosine can be.
_NEAR, _NEAR_LEAST = 20, 20_000
_FAR = 500
# This many of the best chunks are exact, whatever rounding did to their products.
_CERTAIN = 200
# How long it takes at most to mark a row as deleted.
_MOMENT = 0.01


@dataclass(frozen=True, slots=True)
class Runs:
    """Contiguous rows of one chunk: where each run starts, its rows, and whether it is deleted."""

    starts: Places
    counts: NDArray[np.int64]
    dead: Places
    of_row: NDArray[np.int32]
    """The run of each row."""

    @classmethod
    def of(cls, owners: Ids) -> Runs:
        """Find the runs in the owners of some rows, -1 for rows without an owner."""
        starts = _runs(owners)
        counts = np.diff(starts, append=len(owners))
        of_row = np.repeat(np.arange(len(starts), dtype=np.int32), counts)
        return cls(starts, counts, np.flatnonzero(owners[starts] < 0), of_row)

    def best(self, products: Vectors) -> Vectors:
        """Return the best product of each run; NaN if it is deleted, or has none."""
        best: Vectors = np.fmax.reduceat(products, self.starts)
        best[self.dead] = np.nan
        return best


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent state. Arrays are those of files; ``documents`` and ``chunks`` are spans by id.

    What a search reads of them is checked when it is first read; damage raises ``DamagedIndexError``.
    """

    generation: int
    name: str
    live: int
    matrix: Vectors
    rows: NDArray[Any]
    documents: NDArray[Any]
    chunks: NDArray[Any]
    coarse: Coarse | None = None
    signs: Signs | None = None
    blocks: Mapping[str, Blocks] = field(default_factory=dict)
    """The checksums of the files that only grow, by their suffixes."""
    _runs: list[Runs] = field(default_factory=list, init=False, repr=False, compare=False)
    _sound: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)

    def vectors(self, rows: Places | None = None) -> Vectors:
        """Return the vectors of some rows, or of all."""
        blocks = self.blocks[".f32"]
        if rows is None:
            blocks.check()
            return self.matrix
        blocks.check_rows(rows, 4 * self.matrix.shape[1])
        return self.matrix.take(rows, axis=0)

    def check_copy(self, rows: Places | None = None) -> None:
        """Check the coarse copy of some rows, or of all."""
        if rows is None:
            self.blocks[".i8"].check()
        elif self.coarse is not None:
            self.blocks[".i8"].check_rows(rows, self.coarse.rows.shape[1])
        self.blocks[".scale"].check()

    def _check_owners(self) -> None:
        if not self._sound:
            wrong = np.flatnonzero(~sound(self.rows))
            if len(wrong):
                # A running writer may be marking one at this very moment.
                time.sleep(_MOMENT)
                if not sound(self.rows[wrong]).all():
                    raise DamagedIndexError("a row of the vector index was changed by something else")
            self._sound.append(True)

    @property
    def runs(self) -> Runs:
        """The runs of all rows, computed once."""
        if not self._runs:
            self._runs.append(Runs.of(self.owners()))
        return self._runs[0]

    def owners(self, rows: Places | None = None) -> Ids:
        """Return the chunk of each of some rows, or of all; -1 if it is deleted."""
        self._check_owners()
        # Column by column: copying whole rows takes several times as long.
        chunk, died = (
            self.rows[name] if rows is None else self.rows[name][rows] for name in ("chunk", "died")
        )
        # A running writer marks rows ahead of what this state knows.
        return np.where((died == 0) | (died > self.generation), chunk, -1)

    def rows_of_chunks(self, chunks: Ids) -> tuple[Ids, NDArray[np.int64], Places]:
        """Return which of these chunks have rows, how many, and the rows, chunk by chunk."""
        chunks = chunks[(chunks >= 0) & (chunks < len(self.chunks))]
        spans = checked_spans(self.chunks[chunks])
        starts, counts = spans["start"].astype(np.int64), spans["count"].astype(np.int64)
        # A span may be older or newer than this state: the rows themselves decide.
        sound = (counts > 0) & (starts + counts <= len(self.rows))
        sound[sound] = self.owners(starts[sound]) == chunks[sound]
        chunks, starts, counts = chunks[sound], starts[sound], counts[sound]
        return chunks, counts, _stretched(starts, counts)

    def rows_of_documents(self, documents: Collection[int]) -> Places:
        """Return the live rows of some documents, in order."""
        wanted = np.fromiter(documents, np.int64, len(documents))
        wanted = wanted[(wanted >= 0) & (wanted < len(self.documents))]
        spans = checked_spans(self.documents[wanted])
        starts, counts = spans["start"].astype(np.int64), spans["count"].astype(np.int64)
        sound = (counts > 0) & (starts + counts <= len(self.rows))
        wanted, starts, counts = wanted[sound], starts[sound], counts[sound]
        rows = _stretched(starts, counts)
        mine = self.rows["document"][rows] == np.repeat(wanted, counts)
        return np.sort(rows[mine & (self.owners(rows) >= 0)])


def checked_spans(spans: NDArray[Any]) -> NDArray[Any]:
    """Return spans as they were written; a span of nothing was not."""
    if not (sound(spans) | ((spans["count"] == 0) & (spans["check"] == 0))).all():
        raise DamagedIndexError("a span of the vector index was changed by something else")
    return spans


def _stretched(starts: Ids, counts: NDArray[np.int64]) -> Places:
    """Return all rows of some spans, one after another."""
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(starts - before, counts))


def nearest(
    snapshot: Snapshot, query: Vectors, limit: int, documents: Collection[int] | None = None
) -> Nearest:
    """Return the best ``limit`` chunks by their best row, from all documents or from some."""
    rows = None if documents is None else snapshot.rows_of_documents(documents)
    count = len(snapshot.rows) if rows is None else len(rows)
    if limit < 1 or not count:
        return Nearest(np.zeros(0, np.int64), np.zeros(0), 0.0)
    if count > limit and count * _SINGLE_ROWS > len(snapshot.rows):
        looked = _look(snapshot, query, limit, rows)
        found = looked and _best_of(snapshot, query, limit, looked)
        if found is not None:
            return found
    return _best(*_compared(snapshot, query, rows), limit)


def ordered(matrix: Vectors, query: Vectors) -> Nearest:
    """Return the rows of a small matrix, each as one chunk under its number, all of them, nearest first."""
    return _best(np.arange(len(matrix), dtype=np.int64), _products(matrix, query), len(matrix))


def _compared(snapshot: Snapshot, query: Vectors, rows: Places | None) -> tuple[Ids, Vectors]:
    """Return the chunks of some rows, in row order, with their best cosines."""
    return _by_chunk(snapshot.owners(rows), _products(snapshot.vectors(rows), query))


def _products(rows: Vectors, query: Vectors) -> Vectors:
    products: Vectors = dot_products(np.asarray(rows), query)
    # A damaged file may contain anything; NaN is no match.
    products[~np.isfinite(products)] = -np.inf
    return products


def _by_chunk(owners: Ids, products: Vectors) -> tuple[Ids, Vectors]:
    """Return chunks with their best products, without deleted rows; rows of one chunk are contiguous."""
    if not len(owners):
        return owners, products
    starts = _runs(owners)
    chunks, best = owners[starts], np.fmax.reduceat(products, starts)
    alive = chunks >= 0
    return chunks[alive], best[alive]


def _runs(owners: Ids) -> Places:
    """Return where the rows of each chunk begin."""
    return np.concatenate([np.zeros(1, np.intp), np.flatnonzero(owners[1:] != owners[:-1]) + 1])


def _best(chunks: Ids, scores: Vectors, limit: int) -> Nearest:
    sound = scores > -np.inf
    chunks, values = chunks[sound], scores[sound].astype(np.float64)
    if not len(chunks):
        return Nearest(chunks, values, 0.0)
    floor = float(values.min())
    if limit < len(values):
        # Including all ties with the last one, so that these are chosen by id.
        enough = np.flatnonzero(values >= np.partition(values, -limit)[-limit])
        chunks, values = chunks[enough], values[enough]
    if (chunks[1:] < chunks[:-1]).any():
        by_id = np.argsort(chunks)
        chunks, values = chunks[by_id], values[by_id]
    order = np.argsort(-values, kind="stable")[:limit]
    return Nearest(chunks[order], values[order], floor)


# -- a look at the smaller copies --------------------------------------------------------------------------------


class _Look(NamedTuple):
    """Products with the rows of the coarse copy, and their error bounds.

    ``rows`` says which rows these are, None for all; ``low`` are others that can have the lowest cosine.
    """

    rows: Places | None
    runs: Runs
    products: Vectors
    margin: float
    low: Places | None = None


def _look(snapshot: Snapshot, query: Vectors, limit: int, within: Places | None) -> _Look | None:
    """Scan all rows, or those ``within``; only those with similar signs if there are too many.

    None if there is no copy to scan, or nothing in it.
    """
    coarse, signs = snapshot.coarse, snapshot.signs
    if coarse is None:
        return None
    if within is None and signs is not None:
        snapshot.blocks[".signs"].check()
        alike = signs.look(query, max(_NEAR_LEAST, _NEAR * limit), _FAR)
        if alike is not None:
            snapshot.check_copy(alike[0])
        seen = coarse.look(query, alike[0]) if alike is not None else None
        if alike is None or seen is None:
            return None
        near, far = alike
        owners = snapshot.owners(far)
        _, _, low = snapshot.rows_of_chunks(np.unique(owners[owners >= 0]))
        return _Look(near, Runs.of(snapshot.owners(near)), *seen, low)
    snapshot.check_copy()
    seen = coarse.look(query)
    if seen is None:
        return None
    products, margin = seen
    if within is not None:
        outside = np.ones(len(products), bool)
        outside[within] = False
        products[outside] = np.nan
    return _Look(None, snapshot.runs, products, margin)


def _best_of(snapshot: Snapshot, query: Vectors, limit: int, look: _Look) -> Nearest | None:
    """Return the best chunks of those scanned; None if all rows have to be compared.

    The first have exact cosines and are those of comparing every row; the others have the copy's.
    """
    rows, runs, products, margin, low = look
    best = runs.best(products)
    known = best[best == best]
    if len(known) < limit:
        return None
    certain = min(limit, _CERTAIN)
    ranked = np.partition(known, (0, len(known) - limit, len(known) - certain))
    # Each product may be off by the margin, and so may what it is compared with.
    sure = ranked[-certain] - 2 * margin
    high = np.flatnonzero(products >= sure)
    high = high[products[high] >= best[runs.of_row[high]] - 2 * margin]
    others = np.flatnonzero((best >= ranked[-limit]) & (best < sure))
    if rows is None:
        lowest = np.flatnonzero(best <= ranked[0] + 2 * margin)
        low = _stretched(runs.starts[lowest], runs.counts[lowest])
        if (len(high) + len(low)) * _SINGLE_ROWS > len(products):
            # All are so similar that the copy cannot tell the best from the last.
            return None
    owners, cosines = _compared(snapshot, query, high if rows is None else rows[high])
    _, lowest_cosines = _compared(snapshot, query, low)
    # What was not compared is not better than the last certain one.
    below = np.nextafter(np.partition(cosines, -certain)[-certain], np.float32(-np.inf))
    starts = runs.starts[others]
    more = snapshot.owners(starts if rows is None else rows[starts])
    chunks, values = (
        np.concatenate([owners, more]),
        np.concatenate([cosines, np.minimum(best[others], below)]),
    )
    found, floors = _best(chunks, values, limit), lowest_cosines[lowest_cosines > -np.inf]
    return found._replace(floor=float(floors.min())) if len(floors) else found
