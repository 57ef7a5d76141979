"""The vector matrix: every passage vector in one memory-mapped file, searched exactly.

Rows are only ever appended; a removed document leaves dead rows until they are worth compacting. A large matrix has
a coarse copy beside it. A manifest names the files and how many rows count, and is replaced last, so a reader always
sees a consistent whole.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.errors import DamagedIndexError
from pinakes.port.matching import DEPTH, Nearest, PassageVectors
from pinakes.stores.embedded.by_chunk import ByChunk
from pinakes.stores.embedded.coarse import Coarse, coarse_names, open_coarse, write_coarse
from pinakes.stores.embedded.files import read_json, write_json
from pinakes.stores.embedded.nearest import Runs, nearest

FORMAT = 1
# Dead rows cost time in every search; below this many they are not worth a rewrite.
_MIN_DEAD = 2_000
# From this many rows on a coarse copy makes searches quicker; docs/decisions/0017-vector-search-at-scale.md.
COARSE_ROWS = 40_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent state: ``rows`` holds document and chunk id of each row, -1 where it is dead."""

    generation: int
    matrix: Vectors
    rows: NDArray[np.int64]
    matrix_name: str
    rows_name: str
    runs: Runs
    coarse: Coarse | None = None

    @property
    def live(self) -> int:
        """How many rows belong to documents that exist."""
        return int((self.rows[:, 0] >= 0).sum())


class VectorIndex:
    """Exact nearest-neighbour search over the passages of all documents."""

    def __init__(self, folder: Path, model: str, dimension: int) -> None:
        self._folder = folder
        self._model = model
        self._dimension = dimension
        self._manifest = folder / "manifest.json"
        self._stamp: tuple[int, int] | None = None
        self._snapshot = self._empty()
        self._by_chunk: ByChunk | None = None
        self.reload()

    def _empty(self) -> Snapshot:
        matrix = np.zeros((0, self._dimension), dtype=np.float32)
        rows = np.zeros((0, 2), dtype=np.int64)
        return Snapshot(0, matrix, rows, "", "", Runs.of(rows))

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model whose vectors this index holds."""
        return self._model, self._dimension

    @property
    def generation(self) -> int:
        """The record's generation that this index has seen."""
        return self._snapshot.generation

    @property
    def depth(self) -> int:
        """How many chunks to ask for; here, where every row is looked at anyway, as many as are of use."""
        return DEPTH

    @property
    def empty(self) -> bool:
        """Whether there is nothing to be found."""
        return not len(self._snapshot.rows)

    @property
    def snapshot(self) -> Snapshot:
        """The state that searches use now."""
        return self._snapshot

    def reload(self) -> None:
        """See what another process wrote; cheap when nothing changed."""
        for attempt in range(5):
            try:
                stat = self._manifest.stat()
            except FileNotFoundError:
                self._stamp, self._snapshot = None, self._empty()
                return
            stamp = (stat.st_mtime_ns, stat.st_ino)
            if stamp == self._stamp:
                return
            try:
                self._snapshot = self._load()
            except FileNotFoundError:
                # A writer replaced the files between reading the manifest and opening them.
                if attempt == 4:
                    raise DamagedIndexError("a file of the vector index is missing") from None
                continue
            self._stamp = stamp
            return

    def _load(self) -> Snapshot:
        manifest = read_json(self._manifest)
        if manifest is None:
            raise FileNotFoundError(self._manifest)
        if (
            manifest.get("format") != FORMAT
            or manifest.get("model") != self._model
            or manifest.get("dimension") != self._dimension
        ):
            raise DamagedIndexError("the vector index is of another model or format")
        try:
            count = int(manifest["count"])
            rows = np.load(self._folder / manifest["rows"], allow_pickle=False)
            matrix: Vectors
            if count:
                path = self._folder / manifest["matrix"]
                # As a plain array: taking rows from it is quicker.
                matrix = np.asarray(
                    np.memmap(path, dtype=np.float32, mode="r", shape=(count, self._dimension))
                )
            else:
                matrix = np.zeros((0, self._dimension), dtype=np.float32)
            facts = manifest.get("coarse")
            coarse = open_coarse(self._folder, manifest["matrix"], matrix.shape, facts) if facts else None
        except FileNotFoundError:
            raise
        except (KeyError, ValueError, TypeError, OSError, EOFError) as error:
            raise DamagedIndexError(f"the vector index is unreadable: {error}") from error
        if rows.shape != (count, 2):
            raise DamagedIndexError("the vector index does not fit its list of rows")
        return Snapshot(
            int(manifest["generation"]),
            matrix,
            rows,
            manifest["matrix"],
            manifest["rows"],
            Runs.of(rows),
            coarse,
        )

    # -- writing ---------------------------------------------------------------------------------------------

    def apply(
        self, removed: Collection[int], added: Iterable[tuple[int, list[int], Vectors]], generation: int
    ) -> None:
        """Take documents out and others in, and note the generation. Adding a document twice is harmless."""
        self._folder.mkdir(parents=True, exist_ok=True)
        old = self._snapshot
        rows = old.rows.copy()
        matrix_name = old.matrix_name or "matrix-0.f32"
        added_ids: list[int] = []
        new_rows: list[NDArray[np.int64]] = []
        count = len(rows)
        if not old.matrix_name:
            # A file of that name that nobody vouches for may still be mapped by a reader: leave it to them.
            (self._folder / matrix_name).unlink(missing_ok=True)
        with (self._folder / matrix_name).open("r+b" if old.matrix_name else "w+b") as stream:
            # Whatever an interrupted run wrote beyond the last row that counts is overwritten.
            stream.truncate(count * self._dimension * 4)
            stream.seek(0, os.SEEK_END)
            for document, chunks, vectors in added:
                stream.write(np.ascontiguousarray(vectors, dtype=np.float32).tobytes())
                new_rows.append(
                    np.array([[document, chunk] for chunk in chunks], dtype=np.int64).reshape(-1, 2)
                )
                added_ids.append(document)
            stream.flush()
            os.fsync(stream.fileno())
        dead = np.isin(rows[:, 0], np.fromiter({*removed, *added_ids}, dtype=np.int64))
        rows[dead] = -1
        rows = np.concatenate([rows, *new_rows])
        live = int((rows[:, 0] >= 0).sum())
        if len(rows) - live > max(_MIN_DEAD, live // 3):
            rows, matrix_name = self._compact(rows, matrix_name, generation)
        self._publish(rows, matrix_name, generation)

    def _compact(
        self, rows: NDArray[np.int64], matrix_name: str, generation: int
    ) -> tuple[NDArray[np.int64], str]:
        name = f"matrix-{generation}.f32"
        if name == matrix_name:
            return rows, matrix_name
        keep = rows[:, 0] >= 0
        old = np.memmap(
            self._folder / matrix_name, dtype=np.float32, mode="r", shape=(len(rows), self._dimension)
        )
        with (self._folder / name).open("wb") as stream:
            positions = np.flatnonzero(keep)
            for start in range(0, len(positions), 4096):
                stream.write(np.ascontiguousarray(old[positions[start : start + 4096]]).tobytes())
            stream.flush()
            os.fsync(stream.fileno())
        return rows[keep], name

    def _publish(self, rows: NDArray[np.int64], matrix_name: str, generation: int) -> None:
        manifest = {
            "format": FORMAT,
            "model": self._model,
            "dimension": self._dimension,
            "generation": generation,
            "count": len(rows),
            "matrix": matrix_name,
            "rows": f"rows-{generation}-{len(rows)}.npy",
        }
        kept = {self._manifest.name, matrix_name, manifest["rows"]}
        if len(rows) >= COARSE_ROWS:
            manifest["coarse"] = self._write_coarse(matrix_name, len(rows))
            kept.update(coarse_names(matrix_name))
        self._write_rows(rows, self._folder / str(manifest["rows"]))
        write_json(self._manifest, manifest)
        self.reload()
        for path in self._folder.iterdir():
            if path.name not in kept:
                # Readers that still hold an old file keep it alive; where they do not, it stays for next time.
                try:
                    path.unlink()
                except OSError:
                    continue

    def _write_coarse(self, matrix_name: str, count: int) -> dict[str, float]:
        matrix = np.memmap(
            self._folder / matrix_name, dtype=np.float32, mode="r", shape=(count, self._dimension)
        )
        known = self._snapshot.coarse if matrix_name == self._snapshot.matrix_name else None
        return write_coarse(self._folder, matrix_name, matrix, known)

    def _write_rows(self, rows: NDArray[np.int64], path: Path) -> None:
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        with temporary.open("wb") as stream:
            np.save(stream, rows)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)

    # -- searching -------------------------------------------------------------------------------------------

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> Nearest:
        """Return the chunks nearest to a query, by the cosine of the best of their passages."""
        snapshot = self._snapshot
        return nearest(snapshot.matrix, snapshot.runs, snapshot.coarse, query, limit, documents)

    def passages(self, chunks: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of some chunks, without those that have none."""
        snapshot, known = self._snapshot, self._by_chunk
        if known is None or known.snapshot is not snapshot:
            # Two threads may both do this; either result is right.
            known = self._by_chunk = ByChunk.of(snapshot)
        return known.passages(chunks)

    def verify(self) -> str:
        """Say what is wrong with the coarse copy, if anything; reads the whole matrix."""
        coarse, matrix = self._snapshot.coarse, self._snapshot.matrix
        return (
            ""
            if coarse is None or coarse.fits(matrix)
            else "the coarse copy of the vectors differs from them"
        )
