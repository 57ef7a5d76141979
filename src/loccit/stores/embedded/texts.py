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
from loccit.port.records import StoredText
from loccit.port.texts import TextBlock
from loccit.stores.embedded.files import read_json, read_records, write_json, write_records
from loccit.text.verbatim import END, verbatim_form

logger: logging.Logger = logging.getLogger("loccit")

FORMAT = 1
_ROWS, _MANIFEST = "documents.bin", "manifest.json"
_FILES = {"written": "\n", "folded": END}
"""The files, each with the separator between its texts."""
_ROW = np.dtype([("document", "<i8"), *((name, "<i8", (2,)) for name in _FILES)])
# Smaller ones are not worth compacting.
_SMALL = 1 << 22


@dataclass(frozen=True, slots=True)
class _State:
    """What one manifest describes."""

    generation: int
    rows: NDArray[np.void]
    sizes: dict[str, int]
    blocks: dict[str, TextBlock]


def _empty() -> _State:
    none = np.zeros(0, np.int64)
    blocks = {name: TextBlock(np.zeros(0, np.uint8), none, none, none) for name in _FILES}
    return _State(0, np.zeros(0, _ROW), dict.fromkeys(_FILES, 0), blocks)


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
        return self._state.blocks["written"]

    @property
    def folded(self) -> TextBlock:
        """The verbatim forms of the texts."""
        return self._state.blocks["folded"]

    @property
    def wasteful(self) -> bool:
        """Whether more than half of the files belongs to deleted documents."""
        block = self.written
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
        except (DamagedIndexError, KeyError, ValueError, TypeError, OSError) as error:
            logger.warning("The texts in %s are rebuilt: %s", self._folder, error)
            self._state = _empty()
        self._stamp = stamp

    def _load(self) -> _State:
        manifest = read_json(self._folder / _MANIFEST)
        if manifest is None or manifest.get("format") != FORMAT:
            return _empty()
        sizes = {name: int(manifest[name]) for name in _FILES}
        with (self._folder / _ROWS).open("rb") as stream:
            rows = read_records(stream, _ROW, 0, int(manifest["rows"]))
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
        for block in blocks.values():
            if len(block.ends) and block.ends.max() >= len(block.data):
                raise ValueError("a text lies beyond the end of its file")
        return _State(int(manifest["generation"]), rows, sizes, blocks)

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
                    length = streams[name].write((text + _FILES[name]).encode())
                    spans[name] = (sizes[name], sizes[name] + length - 1)
                    sizes[name] += length
                new.append((stored.document, *spans.values()))
            for stream in streams.values():
                stream.flush()
                os.fsync(stream.fileno())
        finally:
            for stream in streams.values():
                stream.close()
        with (self._folder / _ROWS).open("r+b") as stream:
            write_records(stream, 0, rows)
            write_records(stream, len(rows), np.array(new, _ROW))
            stream.flush()
            os.fsync(stream.fileno())
        write_json(
            self._folder / _MANIFEST,
            {"format": FORMAT, "generation": generation, "rows": len(rows) + len(new), **sizes},
        )
        self.reload()

    def verify(self, texts: Iterable[StoredText]) -> str:
        """Say how the texts differ from those of the record, if they do."""
        block = self.written
        numbers = {int(document): number for number, document in enumerate(block.documents)}
        different = 0
        for stored in texts:
            number = numbers.pop(stored.document, None)
            different += number is None or block.text(number) != stored.text[stored.body_start :]
        different += len(numbers)
        return f"the texts of {different:,} documents differ from the record's" if different else ""
