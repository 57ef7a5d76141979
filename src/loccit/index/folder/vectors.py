"""The vector matrix: every passage vector in one memory-mapped file.

Rows are only ever appended; those of a removed document are marked with the generation of the removal, until there are
so many that compacting pays. Spans say where the rows of a chunk and of a document are. So a change costs only what it
touches, and a reader with the files mapped continues with what it knows. A large matrix has smaller copies next to it.
A manifest names the files and the number of valid rows, and is replaced last.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError
from loccit.index.folder.coarse import (
    coarse_names,
    open_coarse,
    open_signs,
    signs_name,
    write_coarse,
    write_signs,
)
from loccit.index.folder.digests import Blocks, extended, seal, sound
from loccit.index.folder.files import read_json, read_records, write_json, write_records
from loccit.index.folder.nearest import ROW, SPAN, Snapshot, checked_spans, nearest
from loccit.index.port.matching import DEPTH, Nearest, PassageVectors
from loccit.models.embedding.protocol import Vectors

FORMAT = 3
# Deleted rows cost time in every search; below this many they are not worth a rewrite.
_MIN_DEAD = 2_000
# From this many rows on, smaller copies make searches faster; docs/decisions/0017-vector-search-at-scale.md.
COARSE_ROWS = 16_000
SIGNS_ROWS = 400_000
_BLOCK = 4096
_SUFFIXES = (".f32", ".rows", ".documents", ".chunks")


class VectorIndex:
    """Nearest-neighbour search over the passages of all documents."""

    def __init__(self, folder: Path, model: str, dimension: int) -> None:
        self._folder = folder
        self._model = model
        self._dimension = dimension
        self._manifest = folder / "manifest.json"
        self._stamp: tuple[int, int] | None = None
        self._damage = ""
        self._snapshot = self._empty()
        self.reload()

    def _empty(self) -> Snapshot:
        matrix = np.zeros((0, self._dimension), dtype=np.float32)
        blocks = {".f32": Blocks("", matrix, [])}
        return Snapshot(
            0, "", 0, matrix, np.zeros(0, ROW), np.zeros(0, SPAN), np.zeros(0, SPAN), blocks=blocks
        )

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model of these vectors."""
        return self._model, self._dimension

    @property
    def generation(self) -> int:
        """The record's generation that this index has seen."""
        return self._snapshot.generation

    @property
    def depth(self) -> int:
        """How many chunks to ask for; here, where every row is scanned anyway, as many as are useful."""
        return DEPTH

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search."""
        return not len(self._snapshot.rows)

    @property
    def snapshot(self) -> Snapshot:
        """The state that searches currently use."""
        return self._snapshot

    def reload(self) -> None:
        """Notice what another process wrote; cheap if nothing changed."""
        for attempt in range(5):
            try:
                stat = self._manifest.stat()
            except FileNotFoundError:
                self._stamp, self._snapshot, self._damage = None, self._empty(), ""
                return
            stamp = (stat.st_mtime_ns, stat.st_ino)
            if stamp == self._stamp:
                if self._damage:
                    raise DamagedIndexError(self._damage)
                return
            try:
                self._snapshot = self._load()
            except FileNotFoundError:
                # A writer replaced the files between reading the manifest and opening them.
                if attempt == 4:
                    raise DamagedIndexError("a file of the vector index is missing") from None
                continue
            self._stamp, self._damage = stamp, ""
            return

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Remember damage that is met while reading, until the index has been written again."""
        try:
            yield
        except DamagedIndexError as error:
            self._damage = str(error)
            raise

    def _load(self) -> Snapshot:
        manifest = read_json(self._manifest)
        if manifest is None:
            raise FileNotFoundError(self._manifest)
        if (
            manifest.get("format") != FORMAT
            or manifest.get("model") != self._model
            or manifest.get("dimension") != self._dimension
        ):
            raise DamagedIndexError("the vector index has another model or format")
        try:
            name, count, live = str(manifest["matrix"]), int(manifest["count"]), int(manifest["live"])
            if live > count:
                raise ValueError(f"{live} of {count} rows cannot be valid")
            shape = (count, self._dimension)
            facts, sums = manifest.get("coarse"), manifest["checksums"]
            matrix = self._mapped(name, np.dtype(np.float32), *shape)
            coarse = open_coarse(self._folder, name, shape, facts) if facts else None
            signs = open_signs(self._folder, name, shape) if manifest.get("signs") else None
            arrays: dict[str, NDArray[Any]] = {".f32": matrix}
            if coarse is not None:
                arrays |= {".i8": coarse.rows, ".scale": coarse.scales}
            if signs is not None:
                arrays[".signs"] = signs.data
            return Snapshot(
                int(manifest["generation"]),
                name,
                live,
                matrix,
                self._mapped(_beside(name, ".rows"), ROW, count),
                self._mapped(_beside(name, ".documents"), SPAN, int(manifest["documents"])),
                self._mapped(_beside(name, ".chunks"), SPAN, int(manifest["chunks"])),
                coarse,
                signs,
                {
                    suffix: Blocks(_beside(name, suffix), array, sums[suffix])
                    for suffix, array in arrays.items()
                },
            )
        except FileNotFoundError:
            raise
        except (KeyError, ValueError, TypeError, OSError, EOFError) as error:
            raise DamagedIndexError(f"the vector index is unreadable: {error}") from error

    def _mapped(self, name: str, kind: np.dtype[Any], *shape: int) -> NDArray[Any]:
        # As a plain array: taking rows from it is faster.
        path = self._folder / name
        return np.asarray(np.memmap(path, kind, "r", shape=shape)) if shape[0] else np.zeros(shape, kind)

    # -- writing ---------------------------------------------------------------------------------------------

    def apply(
        self, removed: Collection[int], added: Iterable[tuple[int, list[int], Vectors]], generation: int
    ) -> None:
        """Remove and add documents, and store the generation. Adding a document twice is harmless."""
        self._folder.mkdir(parents=True, exist_ok=True)
        old = self._snapshot
        name = old.name or "matrix-0.f32"
        with ExitStack() as stack:
            files = [stack.enter_context(self._opened(_beside(name, suffix), old)) for suffix in _SUFFIXES]
            writing = _Writing(old, generation, self._dimension, *files)
            for document, chunks, vectors in added:
                writing.bury(document)
                writing.add(document, np.array(chunks, np.int64), vectors)
            for document in removed:
                writing.bury(document)
            for stream in files:
                stream.flush()
                os.fsync(stream.fileno())
        facts = {
            "count": writing.count,
            "live": writing.live,
            "documents": writing.documents,
            "chunks": writing.chunks,
        }
        if writing.count - writing.live > max(_MIN_DEAD, writing.live // 3):
            name, facts = self._compact(name, facts, generation)
        self._publish(name, facts, generation)

    def _opened(self, name: str, old: Snapshot) -> BinaryIO:
        path = self._folder / name
        if not old.name:
            # A stray file of that name may still be mapped by a reader: leave it alone.
            path.unlink(missing_ok=True)
        return path.open("r+b" if old.name else "w+b")

    def _compact(self, name: str, facts: dict[str, int], generation: int) -> tuple[str, dict[str, int]]:
        """Write the live rows into new files."""
        new = f"matrix-{generation}.f32"
        if new == name:
            return name, facts
        count = facts["count"]
        rows = self._mapped(_beside(name, ".rows"), ROW, count)
        if not sound(rows).all():
            raise DamagedIndexError("a row of the vector index was changed by something else")
        # What came with this change follows what had been there.
        self._snapshot.vectors()
        matrix = self._mapped(name, np.dtype(np.float32), count, self._dimension)
        living = np.flatnonzero(rows["died"] == 0)
        kept = rows[living]
        spans = {".documents": _spans(kept["document"]), ".chunks": _spans(kept["chunk"])}
        with (self._folder / new).open("wb") as stream:
            for start in range(0, len(living), _BLOCK):
                stream.write(np.ascontiguousarray(matrix[living[start : start + _BLOCK]]).tobytes())
            stream.flush()
            os.fsync(stream.fileno())
        for suffix, values in {".rows": kept, **spans}.items():
            with (self._folder / _beside(new, suffix)).open("wb") as stream:
                stream.write(values.tobytes())
                stream.flush()
                os.fsync(stream.fileno())
        return new, {
            "count": len(kept),
            "live": len(kept),
            "documents": len(spans[".documents"]),
            "chunks": len(spans[".chunks"]),
        }

    def _publish(self, name: str, facts: dict[str, int], generation: int) -> None:
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "model": self._model,
            "dimension": self._dimension,
            "generation": generation,
            "matrix": name,
            **facts,
        }
        kept = {self._manifest.name, *(_beside(name, suffix) for suffix in _SUFFIXES)}
        known = self._snapshot if name == self._snapshot.name else self._empty()
        sizes = {".f32": 4 * facts["count"] * self._dimension}
        matrix = self._mapped(name, np.dtype(np.float32), facts["count"], self._dimension)
        if facts["count"] >= COARSE_ROWS:
            manifest["coarse"] = write_coarse(self._folder, name, matrix, known.coarse)
            kept.update(coarse_names(name))
            sizes |= {".i8": facts["count"] * self._dimension, ".scale": 4 * facts["count"]}
            if facts["count"] >= SIGNS_ROWS:
                write_signs(self._folder, name, matrix, known.signs)
                manifest["signs"] = True
                kept.add(signs_name(name))
                sizes[".signs"] = 4 * self._dimension + facts["count"] * -(-self._dimension // 8)
        manifest["checksums"] = {
            suffix: extended(self._folder / _beside(name, suffix), size, known.blocks.get(suffix))
            for suffix, size in sizes.items()
        }
        write_json(self._manifest, manifest)
        self.reload()
        for path in self._folder.iterdir():
            if path.name not in kept:
                # Readers that still hold an old file keep it alive; otherwise it stays until next time.
                try:
                    path.unlink()
                except OSError:
                    continue

    # -- searching -------------------------------------------------------------------------------------------

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> Nearest:
        """Return the chunks nearest to a query, by the cosine of their best passage."""
        with self._noticing():
            return nearest(self._snapshot, query, limit, documents)

    def passages(self, chunks: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of some chunks, without those that have none; only their rows are read."""
        snapshot = self._snapshot
        with self._noticing():
            found, counts, rows = snapshot.rows_of_chunks(np.unique(chunks))
            return PassageVectors(found, counts, snapshot.vectors(rows))

    def verify(self) -> str:
        """Say what is wrong with the files, if anything; reads all of them."""
        snapshot = self._snapshot
        try:
            for blocks in snapshot.blocks.values():
                blocks.check()
            for spans in (snapshot.documents, snapshot.chunks):
                checked_spans(np.asarray(spans))
        except DamagedIndexError as error:
            return str(error)
        return ""


class _Writing:
    """One change of the files: rows are appended or marked as deleted, and spans updated."""

    def __init__(
        self,
        old: Snapshot,
        generation: int,
        dimension: int,
        matrix: BinaryIO,
        rows: BinaryIO,
        documents: BinaryIO,
        chunks: BinaryIO,
    ) -> None:
        self._old = old
        self._generation = generation
        self._matrix, self._rows = matrix, rows
        self._document_spans, self._chunk_spans = documents, chunks
        self.count, self.live = len(old.rows), old.live
        self.documents, self.chunks = len(old.documents), len(old.chunks)
        # Whatever an interrupted run wrote beyond the last valid row is overwritten.
        matrix.truncate(self.count * dimension * 4)
        rows.truncate(self.count * ROW.itemsize)

    def bury(self, document: int) -> None:
        """Mark the current rows of a document as deleted."""
        (span,) = checked_spans(read_records(self._document_spans, SPAN, document, 1))
        start, count = int(span["start"]), int(span["count"])
        if not count:
            return
        known = self._old.rows
        if start + count > len(known) or (known["document"][start : start + count] != document).any():
            # An interrupted run changed the span; that is too rare to store more than this.
            mine = np.flatnonzero(known["document"] == document)
            start, count = (int(mine[0]), int(mine[-1] - mine[0]) + 1) if len(mine) else (0, 0)
        rows = read_records(self._rows, ROW, start, count)
        if not sound(rows).all():
            raise DamagedIndexError("a row of the vector index was changed by something else")
        dying = (rows["document"] == document) & ((rows["died"] == 0) | (rows["died"] > self._old.generation))
        if dying.any():
            rows["died"][dying] = self._generation
            write_records(self._rows, start, seal(rows))
            self.live -= int(dying.sum())

    def add(self, document: int, chunks: NDArray[np.int64], vectors: Vectors) -> None:
        """Append the rows of a document."""
        rows = np.zeros(len(chunks), ROW)
        rows["chunk"], rows["document"] = chunks, document
        write_records(self._matrix, self.count * vectors.shape[1], np.asarray(vectors, np.float32))
        write_records(self._rows, self.count, seal(rows))
        write_records(self._document_spans, document, seal(np.array([(self.count, len(rows), 0)], SPAN)))
        starts = np.flatnonzero(np.diff(chunks, prepend=-1))
        spans = np.zeros(len(starts), SPAN)
        spans["start"], spans["count"] = self.count + starts, np.diff(starts, append=len(chunks))
        # Chunks of a document nearly always have consecutive numbers.
        breaks = np.flatnonzero(np.diff(chunks[starts]) != 1) + 1
        for part in np.split(np.arange(len(starts)), breaks):
            if len(part):
                write_records(self._chunk_spans, int(chunks[starts[part[0]]]), seal(spans[part]))
        self.count += len(rows)
        self.live += len(rows)
        self.documents = max(self.documents, document + 1)
        self.chunks = max(self.chunks, int(chunks.max(initial=-1)) + 1)


def _beside(matrix_name: str, suffix: str) -> str:
    return matrix_name.rpartition(".")[0] + suffix


def _spans(owners: NDArray[np.int64]) -> NDArray[Any]:
    """Return the span of each owner by id; the rows of one are contiguous."""
    spans = np.zeros(int(owners.max(initial=-1)) + 1, SPAN)
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    spans["start"][owners[starts]] = starts
    spans["count"][owners[starts]] = np.diff(starts, append=len(owners))
    spans[owners[starts]] = seal(spans[owners[starts]])
    return spans
