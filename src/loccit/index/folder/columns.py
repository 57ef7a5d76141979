"""The columns: what ranking needs to know about each chunk, in a memory-mapped file of records by chunk id.

Derived from the record like the other indexes. Ids are never reused, so an entry is written once and cleared when its
document is removed; a reader with the file mapped sees nothing wrong either way. What the file does not have yet, or
not as it was written, is read from the record itself. A manifest has the generation that has been seen, and is replaced
last.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError
from loccit.index.folder.database import Database, batches
from loccit.index.folder.digests import CHECK, seal, sound
from loccit.index.folder.files import read_json, read_records, write_json, write_records
from loccit.index.port.columns import COLUMNS, ColumnValues

logger: logging.Logger = logging.getLogger("loccit")

FORMAT = 3
_CHUNKS, _DOCUMENTS, _MANIFEST = "chunks.bin", "documents.bin", "manifest.json"
# The chunks of a document, which have numbers in a row. They never change, so a span is true even of what has gone.
_SPAN = np.dtype([("first", "<i8"), ("count", "<i8"), CHECK])
# So many entries are checked at once, when the first of them is read.
_BLOCK = 1 << 12


class DocumentColumns(NamedTuple):
    """The records of a document's chunks, which have consecutive ids."""

    document: int
    first: int
    values: ColumnValues


@dataclass(frozen=True, slots=True)
class _State:
    """What one manifest describes."""

    generation: int
    documents: int
    chunks: ColumnValues
    unread: NDArray[np.bool_]
    """The blocks of entries that have not been checked."""

    def check(self, chunks: NDArray[np.int64]) -> None:
        """Check the entries of some chunks that are here."""
        blocks = chunks // _BLOCK
        if not self.unread[blocks].any():
            return
        for block in np.unique(blocks).tolist():
            entries = self.chunks[block * _BLOCK : (block + 1) * _BLOCK]
            if not (sound(entries) | (entries["document"] == 0)).all():
                raise DamagedIndexError("an entry was changed by something else")
            self.unread[block] = False


def _state(generation: int, documents: int, chunks: ColumnValues) -> _State:
    return _State(generation, documents, chunks, np.ones(-(-len(chunks) // _BLOCK), bool))


_EMPTY = _state(0, 0, np.zeros(0, COLUMNS))


class ColumnIndex:
    """The columns of all chunks of a record."""

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder
        self._manifest = folder / _MANIFEST
        self._database = database
        self._stamp: tuple[int, int] | None = None
        self._state = _EMPTY
        self.reload()

    @property
    def generation(self) -> int:
        """The record's generation that has been seen; 0 if the files are missing or damaged."""
        return self._state.generation

    @property
    def total(self) -> int:
        """The number of chunks in the library."""
        return self._database.stored_count("chunks")

    def of(self, chunks: NDArray[np.int64]) -> ColumnValues:
        """Return the record of each chunk; empty for a chunk that does not exist."""
        if not len(chunks):
            return np.zeros(0, COLUMNS)
        state = self._state
        inside = (chunks > 0) & (chunks < len(state.chunks))
        try:
            state.check(chunks[inside])
        except DamagedIndexError as error:
            self._give_up(error)
            return self._recorded(chunks)
        known = state.chunks
        if inside.all():
            # As a whole, unless some are beyond the end: picking twice costs more than the picking.
            found = known[chunks]
        else:
            found = np.zeros(len(chunks), COLUMNS)
            found[inside] = known[chunks[inside]]
        missing = np.flatnonzero(found["document"] <= 0)
        if len(missing):
            found[missing] = self._recorded(chunks[missing])
        return found

    def _recorded(self, chunks: NDArray[np.int64]) -> ColumnValues:
        """Read from the record: it has the newest chunks, and not the deleted ones."""
        owners: set[int] = set()
        for batch in batches(chunks.tolist()):
            rows = self._database.rows(
                f"SELECT DISTINCT document FROM chunks WHERE id IN ({','.join('?' * len(batch))})", batch
            )
            owners.update(int(row[0]) for row in rows)
        found = np.zeros(len(chunks), COLUMNS)
        for _, first, values in document_columns(self._database, sorted(owners)):
            here = np.flatnonzero((chunks >= first) & (chunks < first + len(values)))
            found[here] = values[chunks[here] - first]
        return found

    # -- files -------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Notice what another process wrote; cheap if nothing changed. Unreadable files count as empty."""
        try:
            stat = self._manifest.stat()
        except OSError:
            self._stamp, self._state = None, _EMPTY
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
        logger.warning("The columns in %s are rebuilt: %s", self._folder, error)
        self._state = _EMPTY

    def _load(self) -> _State:
        manifest = read_json(self._folder / _MANIFEST)
        if manifest is None or manifest.get("format") != FORMAT:
            return _EMPTY
        documents, chunks = int(manifest["documents"]), int(manifest["chunks"])
        if (self._folder / _DOCUMENTS).stat().st_size < documents * _SPAN.itemsize:
            raise ValueError(f"{_DOCUMENTS} is too short")
        return _state(
            int(manifest["generation"]), documents, _mapped(self._folder / _CHUNKS, COLUMNS, chunks)
        )

    def apply(self, removed: Collection[int], added: Iterable[DocumentColumns], generation: int) -> None:
        """Remove and add documents, and store the generation. The caller holds the writer lock.

        Repeating it after an interruption is harmless.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        old = self._state
        documents, chunks = old.documents, len(old.chunks)
        with self._open(_CHUNKS, old) as records, self._open(_DOCUMENTS, old) as spans:
            for document, first, values in added:
                write_records(records, first, values)
                write_records(spans, document, seal(np.array([(first, len(values), 0)], _SPAN)))
                documents, chunks = max(documents, document + 1), max(chunks, first + len(values))
            for document in removed:
                span = read_records(spans, _SPAN, document, 1)
                if not sound(span)[0]:
                    if span.tobytes().strip(b"\0"):
                        raise DamagedIndexError(f"{_DOCUMENTS} was changed by something else")
                    continue
                first, count, _ = span[0].tolist()
                write_records(records, first, np.zeros(count, COLUMNS))
            for stream in (records, spans):
                stream.flush()
                os.fsync(stream.fileno())
        manifest = {"format": FORMAT, "generation": generation, "documents": documents, "chunks": chunks}
        write_json(self._folder / _MANIFEST, manifest)
        self.reload()

    def _open(self, name: str, old: _State) -> BinaryIO:
        path = self._folder / name
        if not old.generation:
            # Whatever has that name may still be mapped by a reader: leave it to them.
            path.unlink(missing_ok=True)
        return path.open("r+b" if old.generation else "w+b")

    def verify(self) -> str:
        """Say how the records differ from the documents, if they do; reads everything."""
        state, count, different = self._state, 0, 0
        spans = np.zeros(0, _SPAN)
        if state.documents:
            try:
                with (self._folder / _DOCUMENTS).open("rb") as stream:
                    spans = read_records(stream, _SPAN, 0, state.documents)
            except FileNotFoundError:
                return f"{_DOCUMENTS} is missing"
        for document, first, values in document_columns(self._database, _all_documents(self._database)):
            count += len(values)
            here = state.chunks[first : first + len(values)]
            span = seal(np.array([(first, len(values), 0)], _SPAN))
            listed_so = spans[document : document + 1].tobytes() == span.tobytes()
            different += not listed_so or here.tobytes() != values.tobytes()
        if different:
            return f"the columns of {different:,} documents differ from the record's"
        listed = int(np.count_nonzero(state.chunks["document"]))
        if listed != count:
            return f"{listed:,} chunks where the record has {count:,}"
        wrong = ~sound(spans) & ((spans["first"] != 0) | (spans["count"] != 0) | (spans["check"] != 0))
        return f"{_DOCUMENTS} was changed by something else" if wrong.any() else ""


def _mapped(path: Path, kind: np.dtype[np.void], count: int) -> ColumnValues:
    return np.asarray(np.memmap(path, kind, "r", shape=(count,))) if count else np.zeros(0, kind)


def _all_documents(database: Database) -> list[int]:
    return [int(row[0]) for row in database.rows("SELECT id FROM documents ORDER BY id")]


def document_columns(database: Database, documents: Sequence[int]) -> Iterator[DocumentColumns]:
    """Read what ranking needs to know about the chunks of some documents, without removed ones."""
    for batch in batches(documents):
        marks = ",".join("?" * len(batch))
        trees: dict[int, dict[int, int]] = {}
        for document, ordinal, parent in database.rows(
            f"SELECT document, ordinal, parent FROM places WHERE document IN ({marks}) AND section = ordinal "
            "AND parent IS NOT NULL",
            batch,
        ):
            trees.setdefault(document, {})[ordinal] = parent
        rows = database.rows(
            "SELECT document, id, section, chunk_type = 'header' FROM chunks "
            f"WHERE document IN ({marks}) ORDER BY document, id",
            batch,
        )
        for document, chunks in groupby(rows, itemgetter(0)):
            _, ids, sections, headers = zip(*chunks, strict=True)
            around = relatives(sections, trees.get(document, {}))
            sizes = Counter(around)
            values = np.zeros(len(ids), COLUMNS)
            values["document"], values["date"] = document, np.nan
            values["section"], values["section_chunks"] = around, [sizes[section] for section in around]
            values["document_chunks"], values["header"] = len(ids), headers
            yield DocumentColumns(document, ids[0], seal(values))


def relatives(sections: Sequence[int], parents: Mapping[int, int]) -> list[int]:
    """Return, for chunks in some sections of one document, the smallest section around each with another chunk.

    A chunk that has none such has the topmost. ``parents`` are the sections' own, without those that have none.

    >>> relatives([1, 2, 3, 3], {2: 1, 3: 1})
    [1, 1, 3, 3]
    """
    # Parents come first in a document; what says otherwise is damaged, and must not lead in circles.
    up = {section: parent for section, parent in parents.items() if parent < section}
    counts = Counter(sections)
    for section in sorted(up, reverse=True):
        counts[up[section]] += counts[section]
    nearest: dict[int, int] = {}
    for section in sorted({*sections, *up}):
        # From the top down, so that what is above has been decided.
        above = up.get(section)
        nearest[section] = section if counts[section] > 1 or above is None else nearest.get(above, above)
    return [nearest[section] for section in sections]
