"""The embedded index: a library in a folder, without a database server."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from loccit.errors import DamagedIndexError, DamagedVectorsError
from loccit.index.folder.files import read_json
from loccit.index.folder.keyword_files import read_manifest
from loccit.index.folder.local import COLUMNS, KEYWORD, TEXTS, VECTORS, LocalIndex
from loccit.index.folder.record import LOST
from loccit.index.folder.vectors import VectorIndex
from loccit.model import DoctorReport
from loccit.models.embedding.protocol import Vectors

logger: logging.Logger = logging.getLogger("loccit")


def describe_loss(seen: int, generation: int) -> str:
    """Say that a record is behind what was derived from it."""
    return (
        f"The record is at change {generation:,}, where what is derived from it was at {seen:,}: documents may be "
        "missing, or be older versions. Index them again with: loccit index PATH"
    )


class EmbeddedIndex(LocalIndex):
    """The contents of an index folder: the vectors are a matrix next to the record."""

    def __init__(self, folder: Path, *, create: bool, part_of: Path | None = None) -> None:
        super().__init__(folder, create=create)
        self.home: Path = part_of or folder
        self._vectors: VectorIndex | None = None
        # A change of the record, and whether what is derived has seen later ones.
        self._compared = -1, ""

    @property
    def where(self) -> str:
        """The location of the index, for messages."""
        return str(self.folder)

    @property
    def shared(self) -> bool:
        """Whether several processes can publish to it at once: no, only one writes to a folder."""
        return False

    @property
    def vectors(self) -> VectorIndex:
        """The vector matrix, opened on first use."""
        opened = self._vectors
        if opened is None:
            opened = self._vectors = VectorIndex(self.folder / VECTORS, *self.model)
        return opened

    @property
    def native_keyword(self) -> None:
        """A database's keyword search: there is none."""

    @property
    def native_hybrid(self) -> None:
        """A database's fusion: there is none."""

    def look(self) -> None:
        """Look for changes elsewhere; an index in one folder has no elsewhere."""

    def reload_vectors(self) -> None:
        """Notice what another process wrote to the matrix."""
        self._drop_other_model()
        self.vectors.reload()

    def vectors_behind(self, generation: int) -> bool:
        """Whether the matrix has not seen the last change of the record."""
        return self.vectors.generation != generation

    def catch_up(self) -> None:
        """Bring all derived indexes up to date. The caller holds the writer lock."""
        self.catch_up_keyword()
        self.catch_up_vectors()

    def catch_up_for_search(self) -> None:
        """Bring all derived indexes up to date. The caller holds the writer lock."""
        self.catch_up()

    def catch_up_vectors(self) -> None:
        """Bring the vector matrix up to date. The caller holds the writer lock."""
        try:
            self._mended(VECTORS, self._feed_vectors)
        except DamagedVectorsError:
            count = self.record.drop_damaged()
            logger.warning("%s stored vectors were damaged: loccit index makes them again.", f"{count:,}")
            self._mended(VECTORS, self._feed_vectors)

    @property
    def trouble(self) -> str:
        """What an answer should say about its source: what was lost."""
        return self.missing

    @property
    def loss(self) -> str:
        """What the record lost, as was noted, or as what is derived from it shows."""
        if noted := self.record.meta(LOST):
            return noted
        generation = self.record.generation()
        if self._compared[0] != generation:
            self._compared = generation, self._late_record()
        return self._compared[1]

    def _late_record(self) -> str:
        """Say that derived indexes have seen later changes than the record has; "" if none has."""
        seen = max(self._seen(), default=0)
        # Asked last, since another process may go on writing.
        generation = self.record.generation()
        return describe_loss(seen, generation) if seen > generation else ""

    def _seen(self) -> Iterator[int]:
        """The changes that derived indexes have seen, as far as they can be read."""
        for name in (COLUMNS, TEXTS, VECTORS):
            with suppress(DamagedIndexError, ValueError, TypeError):
                yield int((read_json(self.folder / name / "manifest.json") or {}).get("generation", 0))
        with suppress(DamagedIndexError):
            yield read_manifest(self.folder / KEYWORD).generation

    def note_loss(self, seen: int, generation: int) -> None:
        """Remember that the record was further once than it is now."""
        self.record.set_meta({LOST: describe_loss(seen, generation)})

    def _feed_vectors(self) -> None:
        self._drop_other_model()
        index, generation = self.vectors, self.record.generation()
        index.reload()
        if index.generation == generation:
            return
        self.database.checkpoint()
        if self._must_rebuild(index.generation, generation):
            self.discard_vectors()
            index = self.vectors
            changes = self._everything("embedded")
        else:
            changes = self.record.changes_since(index.generation)
        removed = {change.document for change in changes if change.kind == "removed"}
        embedded = {change.document: None for change in changes if change.kind == "embedded"}
        # A later change may have left texts without vectors again: then existing rows stay. A new document is
        # found by those it has.
        wanted = [
            d
            for d in embedded
            if d not in removed
            and (self.record.is_embedded(d) or not len(index.snapshot.rows_of_documents([d])))
        ]
        index.apply(removed, self._document_vectors(wanted), generation)

    def _drop_other_model(self) -> None:
        # Another process made the first run, or rebuilt the index with another model.
        if self._vectors is not None and self._vectors.model != self.model:
            self._vectors = None

    def _document_vectors(self, documents: Iterable[int]) -> Iterator[tuple[int, list[int], Vectors]]:
        dimension = self.model[1]
        for document in documents:
            chunks, vectors = self.record.document_vectors(document, dimension)
            if chunks:
                yield document, chunks, vectors

    def publish_anew(self, *, other_model: bool) -> None:
        """Publish a rebuilt record elsewhere; an index in one folder has no elsewhere."""

    def discard_vectors(self) -> None:
        """Start an empty matrix."""
        shutil.rmtree(self.folder / VECTORS, ignore_errors=True)
        self._vectors = VectorIndex(self.folder / VECTORS, *self.model)

    def release_vectors(self) -> None:
        """Close the matrix."""
        self._vectors = None

    def examine(self, *, repair: bool) -> DoctorReport:
        """Compare the record with what is derived from it, and repair differences."""
        from loccit.index.folder.health import examine, matrix_part

        return examine(self, matrix_part(self), repair=repair)
