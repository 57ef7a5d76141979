"""FAISS in memory and in its file: exact for new or few points, a graph (HNSW) for many."""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from loccit.embedding.protocol import Vectors

logger: logging.Logger = logging.getLogger("loccit")

Rows = npt.NDArray[np.int64]


class State(NamedTuple):
    """A version of the points: the incarnation of the collection, its last row, and its last deletion."""

    epoch: str
    row: int
    gone: int


# The state is in the name: renaming the finished file is the one step that makes it valid.
_NAME = re.compile(r"index-([0-9a-f]{16})-(\d+)-(\d+)\.faiss")
_NOTHING = State("", 0, 0)
# A graph keeps deleted rows; with this share it is rebuilt.
_DEAD_SHARE = 0.2


class Knobs(NamedTuple):
    """The user's options."""

    exact_below: int
    ef_search: int
    ef_construction: int
    neighbors: int


class FaissIndex:
    """The vectors of a collection in some state. Not thread-safe."""

    def __init__(self, dimension: int, knobs: Knobs) -> None:
        self.dimension = dimension
        self.state: State = _NOTHING
        self._knobs = knobs
        self._flat: Any = _exact(dimension)
        self._graph: Any = None
        # The rows in the graph in its order, which is ascending, and those of them that are deleted.
        self._graph_rows: Rows = np.zeros(0, np.int64)
        self._dead: set[int] = set()

    @property
    def in_graph(self) -> int:
        """The number of rows in the graph."""
        return len(self._graph_rows)

    def advance(self, state: State, rows: Rows, vectors: Vectors, gone: Rows) -> None:
        """Add the changes up to a state."""
        if len(rows):
            self._flat.add_with_ids(np.ascontiguousarray(vectors, np.float32), rows)
        if len(gone):
            self._dead.update(np.intersect1d(gone, self._graph_rows).tolist())
            self._flat.remove_ids(faiss.IDSelectorBatch(gone))
        self.state = state

    def bury(self, living: Rows) -> None:
        """Set which rows of a loaded graph are deleted: the graph itself cannot store that."""
        self._dead.update(np.setdiff1d(self._graph_rows, living).tolist())

    def search(self, vector: Vectors, limit: int, rows: Rows | None = None) -> list[tuple[int, float]]:
        """Return the rows nearest to a vector with their scores, best first; only of some rows if any are named."""
        query = np.ascontiguousarray(vector, np.float32).reshape(1, -1)
        parts = [self._in_flat(query, limit, rows)]
        if self._graph is not None:
            near = self._in_graph(query, limit) if rows is None else self._in_rows(query, limit, rows)
            parts.append(near)
        found = np.concatenate([ids for ids, _ in parts])
        scores = np.concatenate([values for _, values in parts])
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(int(found[at]), float(scores[at])) for at in order]

    def _in_flat(self, query: Vectors, limit: int, rows: Rows | None) -> tuple[Rows, Vectors]:
        selector = None if rows is None else faiss.IDSelectorBatch(rows)
        most = self._flat.ntotal if rows is None else min(len(rows), self._flat.ntotal)
        return _ask(self._flat, query, min(limit, most), selector)

    def _in_graph(self, query: Vectors, limit: int) -> tuple[Rows, Vectors]:
        living = self.in_graph - len(self._dead)
        wanted = min(limit, living)
        dead = faiss.IDSelectorBatch(np.array(sorted(self._dead), np.int64)) if self._dead else None
        selector = faiss.IDSelectorNot(dead) if dead is not None else None
        found = _ask(self._graph, query, wanted, selector, ef=max(self._knobs.ef_search, 2 * wanted))
        if len(found[0]) < wanted:
            # Many identical points make disconnected parts in a graph: then everything is compared.
            return self._in_rows(query, limit, self._graph_rows)
        return found

    def _in_rows(self, query: Vectors, limit: int, rows: Rows) -> tuple[Rows, Vectors]:
        """Compare rows of the graph one by one: walking a graph finds too few if most are excluded."""
        if self._dead:
            rows = np.setdiff1d(rows, np.array(sorted(self._dead), np.int64))
        places = np.searchsorted(self._graph_rows, rows)
        places[places == self.in_graph] = 0
        places = places[self._graph_rows[places] == rows]
        vectors = faiss.downcast_index(_inner(self._graph).storage)
        found, scores = _ask(vectors, query, min(limit, len(places)), faiss.IDSelectorBatch(places))
        return self._graph_rows[found], scores

    def settle(self) -> None:
        """Move new rows into the graph, if there is one or it is time for one."""
        rows, vectors = faiss.vector_to_array(self._flat.id_map), _vectors(_inner(self._flat))
        if len(self._dead) > _DEAD_SHARE * self.in_graph:
            alive = ~np.isin(self._graph_rows, np.array(sorted(self._dead), np.int64))
            old = _vectors(faiss.downcast_index(_inner(self._graph).storage))[alive]
            rows, vectors = np.concatenate([self._graph_rows[alive], rows]), np.concatenate([old, vectors])
            self._graph, self._graph_rows, self._dead = None, self._graph_rows[:0], set()
        self._flat = _exact(self.dimension)
        if self._graph is None and len(rows) < self._knobs.exact_below:
            self._flat.add_with_ids(vectors, rows)
            return
        if self._graph is None:
            graph = faiss.IndexHNSWFlat(self.dimension, self._knobs.neighbors, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = self._knobs.ef_construction
            self._graph = faiss.IndexIDMap(graph)
        faiss.omp_set_num_threads(os.cpu_count() or 1)
        self._graph.add_with_ids(vectors, rows)
        self._graph_rows = np.concatenate([self._graph_rows, rows])

    def save(self, folder: Path) -> None:
        """Write the index next to the older ones, atomically."""
        self.settle()
        path = folder / f"index-{self.state.epoch}-{self.state.row}-{self.state.gone}.faiss"
        half = folder / f"index-{os.getpid()}.half"
        try:
            faiss.write_index(self._flat if self._graph is None else self._graph, str(half))
            half.replace(path)
        finally:
            with suppress(OSError):
                half.unlink()
        for other in saved_files(folder):
            if other != path:
                remove_saved(other)
        # One process saves at a time: a partial file is from one that was killed.
        for other in folder.glob("index-*.half"):
            remove_saved(other)

    @classmethod
    def load(cls, folder: Path, epoch: str, dimension: int, knobs: Knobs) -> FaissIndex:
        """Read the newest file of the collection's incarnation; without one, an empty index."""
        index = cls(dimension, knobs)
        index.state = State(epoch, 0, 0)
        files = [path for path in saved_files(folder) if saved_state(path).epoch == epoch]
        for path in sorted(files, key=saved_state, reverse=True):
            try:
                read: Any = faiss.read_index(str(path))
            except RuntimeError:
                # Another process may have replaced it; or it is damaged, and SQLite has its content too.
                logger.info("The index file %s could not be read; the points are read instead.", path.name)
                continue
            if isinstance(_inner(read), faiss.IndexHNSW):
                index._graph, index._graph_rows = read, faiss.vector_to_array(read.id_map)
            else:
                index._flat = read
            index.state = saved_state(path)
            break
        return index


def saved_files(folder: Path) -> list[Path]:
    """Return the index files of a folder."""
    return [path for path in folder.glob("index-*.faiss") if _NAME.fullmatch(path.name)]


def saved_state(path: Path) -> State:
    """Return the state of an index file."""
    match = _NAME.fullmatch(path.name)
    return State(match[1], int(match[2]), int(match[3])) if match else _NOTHING


def remove_saved(path: Path) -> None:
    """Delete an index file; one that another process is reading is left for the next time."""
    with suppress(OSError):
        path.unlink()


def _exact(dimension: int) -> Any:
    return faiss.IndexIDMap(faiss.IndexFlatIP(dimension))


def _inner(index: Any) -> Any:
    return faiss.downcast_index(index.index)


def _vectors(flat: Any) -> Vectors:
    if not flat.ntotal:
        return np.zeros((0, flat.d), np.float32)
    return np.asarray(flat.reconstruct_n(0, flat.ntotal), np.float32)


def _ask(
    index: Any, query: Vectors, limit: int, selector: Any = None, ef: int | None = None
) -> tuple[Rows, Vectors]:
    if limit <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    choice = {} if selector is None else {"sel": selector}
    if ef is None:
        how: Any = faiss.SearchParameters(**choice)
    else:
        # The types that come with the package leave this one out.
        how = faiss.SearchParametersHNSW(efSearch=ef, **choice)  # type: ignore[attr-defined]
    # One query is work for one thread: several only get in each other's way. This affects the calling thread
    # alone.
    faiss.omp_set_num_threads(1)
    scores, found = index.search(query, limit, params=how)
    real = found[0] >= 0
    return found[0][real], scores[0][real]
