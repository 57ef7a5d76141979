"""The vector matrix: every passage vector in one memory-mapped file, searched exactly.

Rows are only ever appended; a removed document leaves dead rows until they are worth compacting. A manifest
names the files and how many rows count, and is replaced last, so a reader always sees a consistent whole.
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
from pinakes.stores.embedded.files import read_json, write_json

FORMAT = 1
# Dead rows cost time in every search; below this many they are not worth a rewrite.
_MIN_DEAD = 2_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent state: ``rows`` holds document and chunk id of each row, -1 where it is dead."""

    generation: int
    matrix: Vectors
    rows: NDArray[np.int64]
    matrix_name: str
    rows_name: str

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
        self.reload()

    def _empty(self) -> Snapshot:
        matrix = np.zeros((0, self._dimension), dtype=np.float32)
        return Snapshot(0, matrix, np.zeros((0, 2), dtype=np.int64), "", "")

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model whose vectors this index holds."""
        return self._model, self._dimension

    @property
    def generation(self) -> int:
        """The record's generation that this index has seen."""
        return self._snapshot.generation

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
                matrix = np.memmap(
                    self._folder / manifest["matrix"],
                    dtype=np.float32,
                    mode="r",
                    shape=(count, self._dimension),
                )
            else:
                matrix = np.zeros((0, self._dimension), dtype=np.float32)
        except FileNotFoundError:
            raise
        except (KeyError, ValueError, TypeError, OSError, EOFError) as error:
            raise DamagedIndexError(f"the vector index is unreadable: {error}") from error
        if rows.shape != (count, 2):
            raise DamagedIndexError("the vector index does not fit its list of rows")
        return Snapshot(int(manifest["generation"]), matrix, rows, manifest["matrix"], manifest["rows"])

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
        rows_name = f"rows-{generation}-{len(rows)}.npy"
        temporary = self._folder / f"{rows_name}.{os.getpid()}.tmp"
        with temporary.open("wb") as stream:
            np.save(stream, rows)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._folder / rows_name)
        write_json(
            self._manifest,
            {
                "format": FORMAT,
                "model": self._model,
                "dimension": self._dimension,
                "generation": generation,
                "count": len(rows),
                "matrix": matrix_name,
                "rows": rows_name,
            },
        )
        self.reload()
        for path in self._folder.iterdir():
            if path.name not in (matrix_name, rows_name, self._manifest.name):
                # Readers that still hold an old file keep it alive; where they do not, it stays for next time.
                try:
                    path.unlink()
                except OSError:
                    continue

    # -- searching -------------------------------------------------------------------------------------------

    def search(
        self, query: Vectors, limit: int, documents: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the best chunks and their cosine: the best of their passages."""
        snapshot = self._snapshot
        if not len(snapshot.rows):
            return []
        scores = snapshot.matrix @ query
        chunk_ids = snapshot.rows[:, 1]
        allowed = chunk_ids >= 0
        if documents is not None:
            allowed &= np.isin(snapshot.rows[:, 0], np.fromiter(documents, dtype=np.int64))
        # A damaged file may hold anything; what is no number is no match.
        scores = np.where(allowed & np.isfinite(scores), scores, -np.inf)
        return _best_chunks(scores, chunk_ids, limit)


def _best_chunks(scores: Vectors, chunk_ids: NDArray[np.int64], limit: int) -> list[tuple[int, float]]:
    """Keep each chunk's best passage. Long chunks crowd the top rows, so look deeper until enough are found."""
    depth = limit * 4
    while True:
        depth = min(depth, len(scores))
        top = np.argpartition(scores, -depth)[-depth:] if depth < len(scores) else np.arange(len(scores))
        top = top[np.argsort(-scores[top], kind="stable")]
        best: dict[int, float] = {}
        for row in top:
            score = float(scores[row])
            if score == -np.inf:
                break
            best.setdefault(int(chunk_ids[row]), score)
        if len(best) >= limit or depth == len(scores) or float(scores[top[-1]]) == -np.inf:
            return list(best.items())[:limit]
        depth *= 4
