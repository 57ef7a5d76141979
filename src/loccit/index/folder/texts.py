"""The texts of all documents, as written and in verbatim form, concatenated in memory-mapped files.

Derived from the record like the other indexes. Texts are only appended; a deleted one loses its row, and the files are
rewritten when more than half of them is deleted. A manifest has the valid length of the files and the generation that
has been seen; it is replaced last.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError
from loccit.grammar.text.verbatim import END, verbatim_form
from loccit.index.folder.digests import CHECK, checksum, seal, sound
from loccit.index.folder.files import read_json, read_records, write_json, write_records
from loccit.index.port.records import StoredText
from loccit.index.port.texts import TextBlock

logger: logging.Logger = logging.getLogger("loccit")

FORMAT = 2
_ROWS, _MANIFEST = "documents.bin", "manifest.json"
_FILES = {"written": "\n", "folded": END}
"""The files, each with the separator between its texts."""
_ROW = np.dtype([("document", "<i8"), *((name, "<i8", (3,)) for name in _FILES), CHECK])
"""Of each text its start, its end, and its checksum."""
# Smaller ones are not worth compacting.
_SMALL = 1 << 22


@dataclass(frozen=True, slots=True)
class _State:
    """What one manifest describes."""

    generation: int
    rows: NDArray[np.void]
    sizes: dict[str, int]
    blocks: dict[str, TextBlock]
    unread: set[str]
    """The files of which not all texts have been checked."""

    def check(self, name: str) -> None:
        """Check the texts of a file when it is first read."""
        if name not in self.unread:
            return
        # Also those of deleted documents: a pattern is looked for in the file as a whole.
        data, spans = self.blocks[name].data, self.rows[name]
        for start, end, expected in spans.tolist():
            if checksum(data[start:end]) != expected:
                raise DamagedIndexError(f"a text in {name}.bin was changed by something else")
        if not (data[np.append(spans[:, 1], 0)[: len(data)]] == ord(_FILES[name])).all():
            raise DamagedIndexError(f"a text in {name}.bin has lost its end")
        self.unread.discard(name)


def _empty() -> _State:
    none = np.zeros(0, np.int64)
    blocks = {name: TextBlock(np.zeros(0, np.uint8), none, none, none) for name in _FILES}
    return _State(0, np.zeros(0, _ROW), dict.fromkeys(_FILES, 0), blocks, set())


class TextIndex:
    """The texts of all documents of a record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamp: tuple[int, int] | None = None
        self._state = _empty()
        self.reload()

    @property
    def generation(self) -> int:
        """The record's generation that has been seen; 0 if the files are missing or damaged."""
        return self._state.generation

    @property
    def written(self) -> TextBlock:
        """The texts as written."""
        return self._block("written")

    @property
    def folded(self) -> TextBlock:
        """The verbatim forms of the texts."""
        return self._block("folded")

    def _block(self, name: str) -> TextBlock:
        """Return the texts of a file; none if any was damaged: then all are read from the record."""
        try:
            self._state.check(name)
        except DamagedIndexError as error:
            self._give_up(error)
        return self._state.blocks[name]

    @property
    def wasteful(self) -> bool:
        """Whether more than half of the files belongs to deleted documents."""
        block = self._state.blocks["written"]
        return _SMALL < len(block.data) > 2 * int((block.ends - block.starts + 1).sum())

    def reload(self) -> None:
        """Notice what another process wrote; cheap if nothing changed. Unreadable files count as empty."""
        try:
            stat = (self._folder / _MANIFEST).stat()
        except OSError:
            self._stamp, self._state = None, _empty()
            return
        stamp = (stat.st_mtime_ns, stat.st_ino)
        if stamp == self._stamp:
            return
        try:
            self._state = self._load()
        except (DamagedIndexError, KeyError, ValueError, TypeError, OSError, OverflowError) as error:
            self._give_up(error)
        self._stamp = stamp

    def _give_up(self, error: Exception) -> None:
        logger.warning("The texts in %s are rebuilt: %s", self._folder, error)
        self._state = _empty()

    def _load(self) -> _State:
        manifest = read_json(self._folder / _MANIFEST)
        if manifest is None or manifest.get("format") != FORMAT:
            return _empty()
        sizes = {name: int(manifest[name]) for name in _FILES}
        count = int(manifest["rows"])
        if (self._folder / _ROWS).stat().st_size < count * _ROW.itemsize:
            raise ValueError(f"{_ROWS} is too short")
        with (self._folder / _ROWS).open("rb") as stream:
            rows = read_records(stream, _ROW, 0, count)
        if not sound(rows).all():
            raise ValueError(f"{_ROWS} was changed by something else")
        living = rows[rows["document"] > 0]
        blocks = {
            name: TextBlock(
                np.asarray(np.memmap(self._folder / f"{name}.bin", np.uint8, "r", shape=(size,))),
                np.ascontiguousarray(living["document"]),
                np.ascontiguousarray(living[name][:, 0]),
                np.ascontiguousarray(living[name][:, 1]),
            )
            for name, size in sizes.items()
        }
        for name, block in blocks.items():
            if rows[name][:, 1].max(initial=-1) >= len(block.data):
                raise ValueError("a text lies beyond the end of its file")
        return _State(int(manifest["generation"]), rows, sizes, blocks, set(_FILES))

    def apply(self, removed: Collection[int], added: Iterable[StoredText], generation: int) -> None:
        """Remove and add documents, and store the generation. The caller holds the writer lock.

        Repeating it after an interruption is harmless.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        old = self._state
        paths = {name: self._folder / f"{name}.bin" for name in _FILES}
        if not old.generation:
            for path in (*paths.values(), self._folder / _ROWS):
                # A file of that name may still be mapped by a reader: leave it alone.
                path.unlink(missing_ok=True)
                path.touch()
        rows = old.rows.copy()
        rows["document"][np.isin(rows["document"], list(removed))] = 0
        seal(rows)
        sizes, new = dict(old.sizes), []
        streams = {name: path.open("r+b") for name, path in paths.items()}
        try:
            for name, stream in streams.items():
                stream.seek(sizes[name])
                if not sizes[name]:
                    sizes[name] += stream.write(_FILES[name].encode())
            for stored in added:
                body = stored.text[stored.body_start :]
                spans = {}
                for name, text in (("written", body), ("folded", verbatim_form(body))):
                    data = text.encode()
                    end = sizes[name] + len(data)
                    spans[name] = (sizes[name], end, checksum(data))
                    sizes[name] += streams[name].write(data + _FILES[name].encode())
                new.append((stored.document, *spans.values(), 0))
            for stream in streams.values():
                stream.flush()
                os.fsync(stream.fileno())
        finally:
            for stream in streams.values():
                stream.close()
        with (self._folder / _ROWS).open("r+b") as stream:
            write_records(stream, 0, rows)
            write_records(stream, len(rows), seal(np.array(new, _ROW)))
            stream.flush()
            os.fsync(stream.fileno())
        write_json(
            self._folder / _MANIFEST,
            {"format": FORMAT, "generation": generation, "rows": len(rows) + len(new), **sizes},
        )
        self.reload()

    def verify(self, texts: Iterable[StoredText]) -> str:
        """Say how the texts differ from those of the record, if they do."""
        for name in _FILES:
            self._state.check(name)
        block = self.written
        numbers = {int(document): number for number, document in enumerate(block.documents)}
        different = 0
        for stored in texts:
            number = numbers.pop(stored.document, None)
            different += number is None or block.text(number) != stored.text[stored.body_start :]
        different += len(numbers)
        return f"the texts of {different:,} documents differ from the record's" if different else ""
