"""Smaller copies of the vector matrix, to scan everything quickly.

The coarse copy has one byte per number. It bounds the product of every row with a query. So the rows that can be among
the best are known for certain, and only they are read from the matrix itself. Signs are one bit per number, for
matrices where even the coarse copy takes too long: rows that share few of them with a query are skipped. Both follow
the matrix row by row. docs/decisions/0017-vector-search-at-scale.md has figures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from loccit.models.embedding.protocol import Vectors

_LARGEST = 127
_BLOCK = 8192
# Of how many rows the middle is taken, how many tell how many signs differ, and how many are looked at at once.
_MIDDLE = 50_000
_SAMPLE = 20_000
_PART = 32_768
# What adding up in float32 may lose, for vectors of some thousand numbers.
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class Coarse:
    """Rows of integers, and the scale of each (NaN if the row has none).

    ``longest`` and ``error`` bound the lengths of the rows and of their rounding errors.
    """

    rows: NDArray[np.int8]
    scales: Vectors
    longest: float
    error: float

    @classmethod
    def of(cls, vectors: Vectors) -> Coarse:
        """Round every row to integers, each with its own scale."""
        sound = np.asarray(np.isfinite(vectors).all(axis=1))
        vectors = np.where(sound[:, None], vectors, np.float32(0))
        scales = np.abs(vectors).max(axis=1, initial=0) / np.float32(_LARGEST)
        rows = np.rint(vectors / np.where(scales > 0, scales, np.float32(1))[:, None]).astype(np.int8)
        restored = rows * scales[:, None]
        scales[~sound] = np.nan
        return cls(rows, scales, _longest(restored), _longest(vectors - restored))

    def look(self, query: Vectors, rows: NDArray[np.intp] | None = None) -> tuple[Vectors, float] | None:
        """Return the product of each row, or of some, with a query, and the error bound of each.

        None without the package that does it quickly, or if the query is zero or not finite.
        """
        cdist = _cdist()
        step = np.float32(np.abs(query).max(initial=0) / _LARGEST)
        if cdist is None or not np.isfinite(step) or step == 0:
            return None
        rounded = np.rint(query / step).astype(np.int8)
        # One thread: the processor waits for memory, and other threads would have to be waited for too.
        some = self.rows if rows is None else self.rows[rows]
        products = np.asarray(cdist(rounded[None], some, "dot", threads=1, out_dtype="f32"))[0]
        lost = _longest((query - step * rounded)[None])
        margin = self.error * _longest(query[None]) + self.longest * lost + _ROUNDING
        products *= self.scales if rows is None else self.scales[rows]
        products *= step
        return products, margin

    def facts(self) -> dict[str, float]:
        """Return what the files do not contain, for the manifest."""
        return {"longest": self.longest, "error": self.error}


@dataclass(frozen=True, slots=True)
class Signs:
    """On which side of the mean of all rows each row is, one bit per dimension; ``data`` is both in one piece."""

    middle: Vectors
    rows: NDArray[np.uint8]
    data: NDArray[np.uint8]

    def look(self, query: Vectors, near: int, far: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """Return about this many rows that share most signs with a query, and those that share fewest, in order.

        None without the package that counts quickly.
        """
        cdist = _cdist()
        if cdist is None:
            return None
        own = _signs(query[None], self.middle)

        def differing(rows: NDArray[np.uint8]) -> Vectors:
            counts: Vectors = np.asarray(
                cdist(own, rows, "hamming", dtype="bin8", threads=1, out_dtype="f32")
            )
            return np.asarray(counts[0])

        # A sample says how few is few. Then the rest is looked at in parts that stay in the processor's own memory.
        step = max(1, len(self.rows) // _SAMPLE)
        sample = np.sort(differing(np.ascontiguousarray(self.rows[::step])))
        few = sample[min(len(sample) - 1, near // step)]
        many = sample[max(0, len(sample) - 1 - far // step)]
        found: tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]] = ([], [])
        for at in range(0, len(self.rows), _PART):
            part = differing(self.rows[at : at + _PART])
            found[0].append(np.flatnonzero(part <= few) + at)
            found[1].append(np.flatnonzero(part >= many) + at)
        return np.concatenate(found[0]), np.concatenate(found[1])


def _signs(vectors: Vectors, middle: Vectors) -> NDArray[np.uint8]:
    return np.packbits(np.asarray(vectors) > middle, axis=1)


def signs_name(matrix_name: str) -> str:
    """Return the name of the sign file of a matrix: the mean, then the rows."""
    return f"{matrix_name.rpartition('.')[0]}.signs"


def open_signs(folder: Path, matrix_name: str, shape: tuple[int, int]) -> Signs:
    """Open the signs of a matrix. Raises whatever opening files raises."""
    path, (count, dimension) = folder / signs_name(matrix_name), shape
    width = -(-dimension // 8)
    data = np.asarray(np.memmap(path, np.uint8, "r", shape=(4 * dimension + count * width,)))
    middle = data[: 4 * dimension].view(np.float32)
    return Signs(middle, data[4 * dimension :].reshape(count, width), data)


def write_signs(folder: Path, matrix_name: str, matrix: Vectors, known: Signs | None) -> None:
    """Update the signs for a matrix of which they have the first rows, or none."""
    path = folder / signs_name(matrix_name)
    if known is None:
        path.unlink(missing_ok=True)
        step = max(1, len(matrix) // _MIDDLE)
        sample = np.asarray(matrix[::step])
        middle = np.asarray(sample[np.isfinite(sample).all(axis=1)].mean(axis=0), np.float32)
    else:
        middle = known.middle
    with path.open("r+b" if known else "w+b") as stream:
        if known is None:
            stream.write(middle.tobytes())
        done = len(known.rows) if known else 0
        stream.seek(4 * len(middle) + done * -(-len(middle) // 8))
        for at in range(done, len(matrix), _BLOCK):
            stream.write(_signs(matrix[at : at + _BLOCK], middle).tobytes())
        _settle(stream)


def _settle(stream: IO[bytes]) -> None:
    # An interrupted run may have written more.
    stream.truncate()
    stream.flush()
    os.fsync(stream.fileno())


def _longest(vectors: NDArray[np.floating[Any]]) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0)))


def coarse_names(matrix_name: str) -> tuple[str, str]:
    """Return the names of the files with the rows and scales for a matrix."""
    stem = matrix_name.rpartition(".")[0]
    return f"{stem}.i8", f"{stem}.scale"


def open_coarse(folder: Path, matrix_name: str, shape: tuple[int, int], facts: dict[str, Any]) -> Coarse:
    """Open the copy of a matrix; ``facts`` are those of `Coarse.facts`. Raises whatever opening files raises."""
    rows_name, scales_name = coarse_names(matrix_name)
    rows = np.memmap(folder / rows_name, dtype=np.int8, mode="r", shape=shape)
    scales = np.memmap(folder / scales_name, dtype=np.float32, mode="r", shape=shape[:1])
    return Coarse(np.asarray(rows), np.asarray(scales), float(facts["longest"]), float(facts["error"]))


def write_coarse(folder: Path, matrix_name: str, matrix: Vectors, known: Coarse | None) -> dict[str, float]:
    """Update the copy of a matrix of which it has the first rows, or none; return its facts."""
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
        _settle(rows_stream)
        _settle(scales_stream)
    return facts


def _blocks(matrix: Vectors, start: int) -> Iterator[tuple[int, Coarse]]:
    """Yield the copy of a matrix from a row on, in parts, with the first row of each."""
    for place in range(start, len(matrix), _BLOCK):
        yield place, Coarse.of(np.asarray(matrix[place : place + _BLOCK]))


def dot_products(rows: Vectors, query: Vectors) -> Vectors:
    """Return the product of each of some rows with a query, computed on one core."""
    cdist = _cdist()
    if cdist is None or rows.dtype != np.float32 or query.dtype != np.float32 or not rows.flags.c_contiguous:
        return np.asarray(np.einsum("ij,j->i", rows, query))
    products: Vectors = np.asarray(cdist(query[None], rows, "dot", threads=1, out_dtype="f32"))
    return np.asarray(products[0])


def _cdist() -> Any:
    try:
        import simsimd
    except ImportError:
        return None
    return simsimd.cdist
