"""The embedded index: the record, and the two indexes that are derived from it.

Derived indexes are only ever fed from the record, by one path: they ask what changed since the generation they
have seen. A missing, damaged or late one is brought up to date the same way.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pinakes.embedding.protocol import Vectors
from pinakes.errors import DamagedIndexError
from pinakes.stores.embedded.database import Database, explain_errors
from pinakes.stores.embedded.keyword import KeywordEntry, KeywordIndex
from pinakes.stores.embedded.lock import WriterLock
from pinakes.stores.embedded.lookup import Lookup
from pinakes.stores.embedded.record import Change, Record
from pinakes.stores.embedded.vectors import VectorIndex

logger = logging.getLogger("pinakes")

RECORD = "record.sqlite3"
_META_FIELDS = ("keywords", "description", "tags", "aliases", "author", "category")
_SYNONYMS = {
    "description": ("description", "summary"),
    "category": ("category", "type"),
    "author": ("author", "authors"),
}
_COMMIT_EVERY = 500


class EmbeddedIndex:
    """Everything that lies in an index folder."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        with explain_errors(folder / RECORD):
            if create:
                folder.mkdir(parents=True, exist_ok=True)
                _keep_out_of_git(folder)
            self.folder = folder
            self.database = Database(folder / RECORD, create=create)
        self.record = Record(self.database)
        self.lookup = Lookup(self.database)
        self.lock = WriterLock(folder)
        self._keyword: KeywordIndex | None = None
        self._vectors: VectorIndex | None = None

    @property
    def read_only(self) -> bool:
        """Whether the folder cannot be written to."""
        return self.database.read_only

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the embedding model that the index was made with; empty before the first run."""
        return self.record.meta("model"), int(self.record.meta("dimension") or 0)

    # -- derived indexes -------------------------------------------------------------------------------------

    @property
    def keyword(self) -> KeywordIndex:
        """The keyword index, opened when first used."""
        if self._keyword is None:
            self._keyword = self._open("keyword", self._open_keyword)
        return self._keyword

    @property
    def vectors(self) -> VectorIndex:
        """The vector matrix, opened when first used."""
        if self._vectors is None:
            self._vectors = self._open("vectors", self._open_vectors)
        return self._vectors

    def _open_keyword(self) -> KeywordIndex:
        return KeywordIndex.open(self.folder / "keyword", create=not self.read_only)

    def _open_vectors(self) -> VectorIndex:
        name, dimension = self.model
        return VectorIndex(self.folder / "vectors", name, dimension)

    def _open(self, name: str, opener: Callable[[], Any]) -> Any:
        """Open a derived index; one that cannot be read is thrown away, to be built again."""
        try:
            return opener()
        except DamagedIndexError as error:
            if self.read_only:
                raise
            logger.warning("The %s index is rebuilt: %s", name, error)
            with self.lock.held(wait=True):
                shutil.rmtree(self.folder / name, ignore_errors=True)
                return opener()

    def discard_derived(self, name: str) -> None:
        """Throw a derived index away; it is built again when next used."""
        if name == "keyword" and self._keyword is not None:
            self._keyword.close()
        self._keyword, self._vectors = None, None
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def refresh(self) -> None:
        """See what others wrote, and catch up what was left behind unless somebody is at it right now."""
        self.keyword.reload()
        self.vectors.reload()
        generation = self.record.generation()
        if self.read_only or (
            self.keyword.generation == generation and self.vectors.generation == generation
        ):
            return
        with self.lock.held_if_free() as free:
            if free:
                self.catch_up_keyword()
                self.catch_up_vectors()

    def catch_up_keyword(self) -> None:
        """Tell the keyword index what changed. The caller holds the writer lock."""
        index, generation = self.keyword, self.record.generation()
        index.reload()
        if index.generation == generation:
            return
        self.database.checkpoint()
        if self._must_rebuild(index.generation, generation):
            self.discard_derived("keyword")
            index = self.keyword
            changes: Iterable[Change] = self._everything("added")
        else:
            changes = self.record.changes_since(index.generation)
        with index.writer() as writer:
            for count, change in enumerate(changes, 1):
                if change.kind == "removed":
                    writer.delete(change.document)
                elif change.kind == "added" and self.record.is_current(change.document):
                    writer.add_document(change.document, self._keyword_entries(change.document))
                if count % _COMMIT_EVERY == 0 and change.generation < generation:
                    writer.commit(change.generation)
            writer.commit(generation)
        index.reload()

    def catch_up_vectors(self) -> None:
        """Tell the vector matrix what changed. The caller holds the writer lock."""
        index, generation = self.vectors, self.record.generation()
        index.reload()
        if index.generation == generation:
            return
        self.database.checkpoint()
        if self._must_rebuild(index.generation, generation):
            self.discard_derived("vectors")
            index = self.vectors
            changes = list(self._everything("embedded"))
        else:
            changes = self.record.changes_since(index.generation)
        removed = {change.document for change in changes if change.kind == "removed"}
        embedded = {change.document: None for change in changes if change.kind == "embedded"}
        index.apply(removed, self._document_vectors(d for d in embedded if d not in removed), generation)

    def _must_rebuild(self, seen: int, generation: int) -> bool:
        """Whether the log no longer says what happened since, or the index speaks of a future that never was."""
        return seen > generation or (seen + 1 < self.record.oldest_change())

    def _everything(self, kind: str) -> Iterator[Change]:
        # Numbered 0, so that a build that is interrupted starts again from the beginning.
        for document in self.record.document_ids():
            if kind == "added" or self.record.is_embedded(document):
                yield Change(0, document, kind)

    def _document_vectors(self, documents: Iterable[int]) -> Iterator[tuple[int, list[int], Vectors]]:
        dimension = self.model[1]
        for document in documents:
            chunks, vectors = self.record.document_vectors(document, dimension)
            if chunks:
                yield document, chunks, vectors

    def _keyword_entries(self, document: int) -> list[KeywordEntry]:
        metadata = self.lookup.metadata(document)
        fields = {name: text for name in _META_FIELDS if (text := _metadata_text(metadata, name))}
        return [
            KeywordEntry(
                document=document,
                chunk=chunk.id,
                language=chunk.language,
                title=chunk.document_title,
                headings=" \n".join(chunk.parent_chain),
                body=chunk.content,
                fields=fields,
            )
            for chunk in self.lookup.chunks_of_document(document)
        ]

    def size_bytes(self) -> int:
        """Return how much room the index takes."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def close(self) -> None:
        """Let go of files and connections."""
        if self._keyword is not None:
            self._keyword.close()
        self._keyword, self._vectors = None, None
        self.database.close()


def _metadata_text(metadata: dict[str, Any], name: str) -> str:
    for key in _SYNONYMS.get(name, (name,)):
        value = metadata.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list):
            return ", ".join(str(item) for item in value)
        if isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
    return ""


def _keep_out_of_git(folder: Path) -> None:
    ignore = folder / ".gitignore"
    if not ignore.exists() and os.access(folder, os.W_OK):
        ignore.write_text("*\n", encoding="utf-8")
