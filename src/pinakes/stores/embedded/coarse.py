"""The coarse copy of the vector matrix: one byte a number, to look at everything quickly.

It says for every row within what bounds its product with a query lies. So those that can be among the best are known
for certain, and only they are read from the matrix itself. docs/decisions/0017-vector-search-at-scale.md has figures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors

_LARGEST = 127
_BLOCK = 8192
# What adding up in float32 may lose, for vectors of some thousand numbers.
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class Coarse:
    """Rows of whole numbers, and what 1 stands for in each (no number where the row has none).

    ``longest`` and ``error`` bound the lengths of the rows and of what they lack to the original.
    """

    rows: NDArray[np.int8]
    scales: Vectors
    longest: float
    error: float

    @classmethod
    def of(cls, vectors: Vectors) -> Coarse:
        """Round every row to whole numbers of a scale of its own."""
        sound = np.asarray(np.isfinite(vectors).all(axis=1))
        vectors = np.where(sound[:, None], vectors, np.float32(0))
        scales = np.abs(vectors).max(axis=1, initial=0) / np.float32(_LARGEST)
        rows = np.rint(vectors / np.where(scales > 0, scales, np.float32(1))[:, None]).astype(np.int8)
        restored = rows * scales[:, None]
        scales[~sound] = np.nan
        return cls(rows, scales, _longest(restored), _longest(vectors - restored))

    def look(self, query: Vectors) -> tuple[Vectors, float] | None:
        """Return the product of each row with a query, and by how much each may be wrong.

        None without the package that does it quickly, or when the query is zero or not of numbers.
        """
        cdist = _cdist()
        step = np.float32(np.abs(query).max(initial=0) / _LARGEST)
        if cdist is None or not np.isfinite(step) or step == 0:
            return None
        rounded = np.rint(query / step).astype(np.int8)
        # One thread: the processor waits for memory, and other threads would have to be waited for too.
        products = np.asarray(cdist(rounded[None], self.rows, "dot", threads=1, out_dtype="f32"))[0]
        lost = _longest((query - step * rounded)[None])
        margin = self.error * _longest(query[None]) + self.longest * lost + _ROUNDING
        return products * (self.scales * step), margin

    def fits(self, matrix: Vectors) -> bool:
        """Whether this is the copy of a matrix; reads all of it."""
        return all(
            np.array_equal(block.rows, self.rows[start : start + _BLOCK])
            and np.array_equal(block.scales, self.scales[start : start + _BLOCK], equal_nan=True)
            and block.longest <= self.longest
            and block.error <= self.error
            for start, block in _blocks(matrix, 0)
        )

    def facts(self) -> dict[str, float]:
        """Return what the files do not say, for the manifest."""
        return {"longest": self.longest, "error": self.error}


def _longest(vectors: NDArray[np.floating[Any]]) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0)))


def coarse_names(matrix_name: str) -> tuple[str, str]:
    """Return the names of the files with the rows and the scales that belong to a matrix."""
    stem = matrix_name.rpartition(".")[0]
    return f"{stem}.i8", f"{stem}.scale"


def open_coarse(folder: Path, matrix_name: str, shape: tuple[int, int], facts: dict[str, Any]) -> Coarse:
    """Open the copy of a matrix; ``facts`` are those of `Coarse.facts`. Raises what opening files raises."""
    rows_name, scales_name = coarse_names(matrix_name)
    rows = np.memmap(folder / rows_name, dtype=np.int8, mode="r", shape=shape)
    scales = np.fromfile(folder / scales_name, dtype=np.float32, count=shape[0])
    if len(scales) != shape[0]:
        raise ValueError(f"{scales_name} is too short")
    return Coarse(np.asarray(rows), scales, float(facts["longest"]), float(facts["error"]))


def write_coarse(folder: Path, matrix_name: str, matrix: Vectors, known: Coarse | None) -> dict[str, float]:
    """Bring the copy up to date with a matrix of which it has the first rows, or none; return its facts."""
    facts = known.facts() if known else {"longest": 0.0, "error": 0.0}
    done = len(known.scales) if known else 0
    rows_path, scales_path = (folder / name for name in coarse_names(matrix_name))
    if known is None:
        # Whatever has that name may still be mapped by a reader: leave it to them.
        rows_path.unlink(missing_ok=True)
        scales_path.unlink(missing_ok=True)
    mode = "r+b" if known else "w+b"
    with rows_path.open(mode) as rows_stream, scales_path.open(mode) as scales_stream:
        rows_stream.seek(done * matrix.shape[1])
        scales_stream.seek(done * 4)
        for _, block in _blocks(matrix, done):
            rows_stream.write(block.rows.tobytes())
            scales_stream.write(block.scales.tobytes())
            facts = {name: max(value, facts[name]) for name, value in block.facts().items()}
        for stream in (rows_stream, scales_stream):
            # An interrupted run may have written more.
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
    return facts


def _blocks(matrix: Vectors, start: int) -> Iterator[tuple[int, Coarse]]:
    """Yield the copy of a matrix from some row on, in parts, with the row that each begins with."""
    for place in range(start, len(matrix), _BLOCK):
        yield place, Coarse.of(np.asarray(matrix[place : place + _BLOCK]))


def _cdist() -> Any:
    try:
        import simsimd
    except ImportError:
        return None
    return simsimd.cdist
