"""The index in a folder: the record, and the indexes derived from it.

Derived indexes are only ever updated from the record, by one path: they ask what changed since the generation they have
seen. A missing, damaged or outdated one is brought up to date in the same way. Search sees it through the port
(``loccit.index.port``), whose parts are attributes here: one that a database can answer itself is replaced by that.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from loccit.errors import DamagedDocumentError, DamagedIndexError, IndexNotFoundError, IndexStateError
from loccit.index.folder.columns import ColumnIndex, document_columns
from loccit.index.folder.concepts import ConceptIndex
from loccit.index.folder.database import Database, explain_errors, is_disk_full
from loccit.index.folder.fields import EmbeddedFilter
from loccit.index.folder.files import PRIVATE, WriterLock
from loccit.index.folder.graph_lookup import EmbeddedLinks, GraphLookup
from loccit.index.folder.keyword import KeywordIndex
from loccit.index.folder.keyword_files import manifest_mark, write_manifest
from loccit.index.folder.keyword_schema import document_entries
from loccit.index.folder.lookup import Lookup
from loccit.index.folder.names import EmbeddedNames
from loccit.index.folder.obligations import EmbeddedObligations
from loccit.index.folder.reading_lookup import ReadingLookup
from loccit.index.folder.record import LOST, Change, Record
from loccit.index.folder.suggestions import EmbeddedSuggestions
from loccit.index.folder.terms import EmbeddedTerms
from loccit.index.folder.texts import TextIndex
from loccit.index.port.edges import EdgeLookup, LinkLookup
from loccit.index.port.filters import DocumentFilter
from loccit.index.port.matching import DenseSearch, NativeSearch
from loccit.index.port.names import NameLookup, SuggestionLookup, TermLookup
from loccit.index.port.obligations import ObligationLookup
from loccit.model import DoctorReport

logger: logging.Logger = logging.getLogger("loccit")

RECORD = "record.sqlite3"
COLUMNS = "columns"
TEXTS = "texts"
KEYWORD = "keyword"
VECTORS = "vectors"
CONCEPTS = "concepts"
# Where a rebuilt index is prepared.
BESIDE = "rebuild"
_COMMIT_EVERY = 500
# How long a search waits for another process that is building an index.
_PATIENCE = 10.0
# How often a folder is replaced that others open meanwhile.
_REPLACEMENTS = 100
# A search announces catching up on more changes than this.
_SILENT_CHANGES = 500


class LocalIndex(ABC):
    """The record of a library in a folder, and everything derived from it except for semantic search."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        with explain_errors(folder / RECORD):
            if create and not folder.exists():
                folder.mkdir(parents=True, mode=PRIVATE)
                # Not in an existing folder: it may contain somebody's work.
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            self.folder = folder
            # The folder of the library that this index belongs to; it is not searched for documents.
            self.home = folder
            self.database: Database = Database(folder / RECORD, create=create)
        self.record: Record = Record(self.database)
        self.lookup: Lookup = Lookup(self.database)
        self.reading: ReadingLookup = ReadingLookup(self.database)
        self.graph: EdgeLookup = GraphLookup(self.database)
        self.names: NameLookup = EmbeddedNames(self.database)
        self.links: LinkLookup = EmbeddedLinks(self.database)
        self.fields: DocumentFilter = EmbeddedFilter(self.database)
        self.terms: TermLookup = EmbeddedTerms(self.database)
        self.suggestions: SuggestionLookup = EmbeddedSuggestions(self.database)
        self.obligations: ObligationLookup = EmbeddedObligations(self.database)
        self.lock: WriterLock = WriterLock(folder)
        self._columns: ColumnIndex | None = None
        self._texts: TextIndex | None = None
        self._keyword: KeywordIndex | None = None
        self._concepts: ConceptIndex | None = None
        self._links: tempfile.TemporaryDirectory[str] | None = None
        # A change of the record, and what had been taken out of it then.
        self._taken_out = -1, ""
        self._links_mark: object = None

    # -- what depends on where the vectors are --------------------------------------------------------------

    @property
    @abstractmethod
    def where(self) -> str:
        """The location of the library, for messages."""

    @property
    @abstractmethod
    def shared(self) -> bool:
        """Whether several processes can publish to it at once."""

    @property
    @abstractmethod
    def vectors(self) -> DenseSearch:
        """Where passages are found by their vectors."""

    @property
    @abstractmethod
    def native_keyword(self) -> NativeSearch | None:
        """The database's own keyword search, if it replaces ours."""

    @property
    @abstractmethod
    def native_hybrid(self) -> NativeSearch | None:
        """The database's own fusion, if it replaces ours."""

    @abstractmethod
    def look(self) -> None:
        """Look for changes that others made elsewhere."""

    @abstractmethod
    def reload_vectors(self) -> None:
        """Notice what others wrote to the vectors."""

    @abstractmethod
    def vectors_behind(self, generation: int) -> bool:
        """Whether a search has to bring the vectors up to date first."""

    @abstractmethod
    def catch_up(self) -> None:
        """Take over what others did, and bring all derived indexes up to date. The caller holds the writer lock."""

    @abstractmethod
    def catch_up_for_search(self) -> None:
        """Bring what a search needs in this folder up to date. The caller holds the writer lock."""

    @abstractmethod
    def catch_up_vectors(self) -> None:
        """Bring semantic search up to date. The caller holds the writer lock."""

    @abstractmethod
    def publish_anew(self, *, other_model: bool) -> None:
        """Publish a rebuilt record elsewhere. The caller holds the writer lock."""

    @abstractmethod
    def discard_vectors(self) -> None:
        """Discard the searchable vectors; the record keeps its own. The caller holds the writer lock."""

    @abstractmethod
    def release_vectors(self) -> None:
        """Close the files or connections of the vectors."""

    @abstractmethod
    def examine(self, *, repair: bool) -> DoctorReport:
        """Compare the record with what is derived from it, and repair differences."""

    # -- the record ------------------------------------------------------------------------------------------

    @property
    def read_only(self) -> bool:
        """Whether the folder is read-only."""
        return self.database.read_only

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the embedding model of the index; empty before the first run."""
        model, dimension = self.record.metas("model", "dimension")
        return model, int(dimension or 0)

    @property
    def stamp(self) -> int:
        """A number that grows with every change of the record."""
        return self.record.generation()

    @property
    def pending(self) -> int:
        """The number of passages without vectors."""
        return self.record.pending_count()

    @property
    def trouble(self) -> str:
        """What an answer should say about its source; "" if nothing is wrong."""
        return ""

    @property
    def loss(self) -> str:
        """What the record lost; "" if nothing is known of that."""
        return self.record.meta(LOST)

    @property
    def missing(self) -> str:
        """What the record lost, and what was taken out of it because it was damaged."""
        generation = self.record.generation()
        if self._taken_out[0] != generation:
            self._taken_out = generation, self._describe_withdrawn()
        return " ".join(filter(None, (self.loss, self._taken_out[1])))

    def _describe_withdrawn(self) -> str:
        count = len(self.record.withdrawn())
        # Their names are text of others, which no note of ours repeats.
        named = "1 document was" if count == 1 else f"{count:,} documents were"
        return (
            f"{named} damaged and taken out: run loccit index to read again what loccit status names."
            if count
            else ""
        )

    # -- derived indexes -------------------------------------------------------------------------------------

    @property
    def columns(self) -> ColumnIndex:
        """What ranking needs to know about chunks, opened on first use."""
        opened = self._columns
        if opened is None:
            opened = self._columns = ColumnIndex(self.folder / COLUMNS, self.database)
        return opened

    @property
    def texts(self) -> TextIndex:
        """The concatenated texts of all documents, opened on first use."""
        opened = self._texts
        if opened is None:
            opened = self._texts = TextIndex(self.folder / TEXTS)
        return opened

    @property
    def keyword(self) -> KeywordIndex:
        """The keyword index, opened on first use."""
        opened = self._keyword
        if opened is None:
            folder = self._linked(self.folder / KEYWORD) if self.read_only else self.folder / KEYWORD
            opened = self._keyword = KeywordIndex.open(folder, create=False)
        return opened

    def _linked(self, folder: Path) -> Path:
        """Return a folder of links to the same files: tantivy wants to put its lock next to what it reads."""
        if not folder.is_dir():
            return folder
        self._links_mark = manifest_mark(folder)
        self._links = tempfile.TemporaryDirectory(prefix="loccit-", ignore_cleanup_errors=True)
        for path in folder.iterdir():
            if not path.name.endswith(".lock"):
                (Path(self._links.name) / path.name).symlink_to(path)
        return Path(self._links.name)

    def _drop_links(self) -> None:
        if self._links is not None:
            self._links.cleanup()
            self._links = None

    @property
    def concepts(self) -> ConceptIndex:
        """The concept vocabulary, opened on first use; empty unless it was requested."""
        opened = self._concepts
        if opened is None or opened.model != self.model:
            opened = self._concepts = ConceptIndex(self.folder / CONCEPTS, *self.model)
        return opened

    def discard_derived(self, name: str) -> None:
        """Replace a derived index by an empty one. The caller holds the writer lock.

        A search in progress in another thread finishes with the files that it has open.
        """
        if name == VECTORS:
            self.discard_vectors()
            return
        shutil.rmtree(self.folder / name, ignore_errors=True)
        if name == KEYWORD:
            self._keyword = KeywordIndex.open(self.folder / KEYWORD)
        elif name == COLUMNS:
            self._columns = None
        elif name == TEXTS:
            self._texts = None
        else:
            self._concepts = None

    def replace_derived(self, source: Path, names: Sequence[str]) -> None:
        """Replace derived indexes by ones built elsewhere. The caller holds the writer lock.

        If interrupted, the remaining old ones are behind the record, and are rebuilt from it.
        """
        for name in names:
            _replace_folder(self.folder / name, source / name)
        self._columns, self._texts, self._keyword, self._concepts = None, None, None, None
        if VECTORS in names:
            self.release_vectors()

    def refresh(self) -> None:
        """Notice what others wrote, and catch up or rebuild what needs it, unless another process is doing so."""
        self.look()
        deadline = time.monotonic() + _PATIENCE
        while True:
            problem = self.reload()
            if not problem and (self.read_only or not self.behind()):
                return
            if self.read_only:
                # Another process with write access may be moving files right now.
                if time.monotonic() < deadline - _PATIENCE + 1:
                    time.sleep(0.05)
                    continue
                raise IndexStateError(
                    f"{problem}. It cannot be rebuilt, because {self.folder} cannot be written to. Check the "
                    "permissions, or search a copy of the folder."
                )
            with explain_errors(self.database.path), self.lock.held_if_free() as free:
                if free:
                    self._say_what_takes_long(problem)
                    self._catch_up_on_the_way(usable=not problem)
                    return
            if not problem:
                # The current state is valid, if outdated, and the writer brings it up to date.
                return
            if blocked := self.lock.problem():
                raise IndexStateError(f"{problem}. It cannot be rebuilt: {blocked}. Run loccit doctor.")
            if time.monotonic() > deadline:
                raise IndexStateError(
                    f"{problem}. It is rebuilt when {self.lock.holder() or 'the writer'} is done; try again then."
                )
            time.sleep(0.05)

    def mend(self) -> bool:
        """Rebuild what a search found damaged; False if that is not possible now."""
        if self.read_only:
            return False
        with explain_errors(self.database.path), self.lock.held_if_free() as free:
            if free:
                if self._keyword is not None and self._keyword.verify():
                    self._say_what_takes_long("The keyword index is damaged")
                    self.discard_derived(KEYWORD)
                self.catch_up_for_search()
        return free

    def _say_what_takes_long(self, problem: str) -> None:
        """Announce slow preparations of a search: building an index, or much of one."""
        generation = self.record.generation()
        behind = generation if problem else generation - min(part.generation for part in self._text_parts())
        if behind > _SILENT_CHANGES:
            logger.warning(
                "%s: updating it before this answer, which takes a while (%s changes).",
                problem or f"The index at {self.folder} is behind its documents",
                f"{behind:,}",
            )

    def reload(self) -> str:
        """Notice what others wrote; raise if an index is missing or damaged."""
        try:
            if self.read_only and self._links_mark != manifest_mark(self.folder / KEYWORD):
                self._keyword = None
                self._drop_links()
            for part in self._text_parts():
                part.reload()
            self.reload_vectors()
            if self._concepts is not None:
                self._concepts.reload()
        except (DamagedIndexError, IndexNotFoundError) as error:
            return str(error)
        return ""

    def behind(self) -> bool:
        """Whether a derived index has not seen the last change of the record."""
        generation = self.record.generation()
        late = any(part.generation != generation for part in self._text_parts())
        return late or self.vectors_behind(generation)

    def _text_parts(self) -> tuple[ColumnIndex, TextIndex, KeywordIndex]:
        return self.columns, self.texts, self.keyword

    def _catch_up_on_the_way(self, *, usable: bool) -> None:
        try:
            self.catch_up_for_search()
        except (IndexStateError, OSError) as error:
            if not usable:
                raise
            # A search can do without the latest changes; a full disk is the writer's concern.
            logger.warning("The indexes at %s could not be updated: %s", self.folder, error)

    def catch_up_without_damaged(self) -> None:
        """Like ``catch_up``, without documents that were damaged: these are withdrawn, to be read again."""
        try:
            self.catch_up()
        except DamagedDocumentError as error:
            logger.warning("%s", error)
            self.record.withdraw([error.document])
            self.catch_up_without_damaged()

    def catch_up_keyword(self) -> None:
        """Bring the columns, the texts and the keyword index up to date. The caller holds the writer lock."""
        self._mended(COLUMNS, self._feed_columns)
        self._mended(TEXTS, self._feed_texts)
        self._mended(KEYWORD, self._feed_keyword)

    def _mended(self, name: str, feed: Callable[[], None]) -> None:
        """Update a derived index; an unreadable one is discarded and rebuilt."""
        try:
            feed()
        except DamagedIndexError as error:
            if is_disk_full(error):
                raise
            logger.warning("The %s index is rebuilt: %s", name, error)
            self.discard_derived(name)
            feed()

    def _feed_columns(self) -> None:
        self.columns.reload()
        if self.columns.generation != self.record.generation():
            removed, added, generation = self._changed(COLUMNS, self.columns.generation)
            self.columns.apply(removed, document_columns(self.database, added), generation)

    def _feed_texts(self) -> None:
        self.texts.reload()
        if self.texts.generation != self.record.generation():
            seen = 0 if self.texts.wasteful else self.texts.generation
            removed, added, generation = self._changed(TEXTS, seen)
            self.texts.apply(removed, self.lookup.every_text(added), generation)

    def _changed(self, name: str, seen: int) -> tuple[set[int], list[int], int]:
        """Return the documents removed and added since a generation, and the current one.

        An index that has seen none, or none that the log still has, is emptied.
        """
        generation = self.record.generation()
        self.database.checkpoint()
        if not seen or self._must_rebuild(seen, generation):
            self.discard_derived(name)
            return set(), self.record.document_ids(), generation
        changes = self.record.changes_since(seen)
        removed = {change.document for change in changes if change.kind == "removed"}
        return removed, sorted({c.document for c in changes if c.kind == "added"} - removed), generation

    def _feed_keyword(self) -> None:
        if self._keyword is None:
            self._keyword = KeywordIndex.open(self.folder / KEYWORD)
        index, generation = self._keyword, self.record.generation()
        index.reload()
        if index.generation == generation:
            return
        self.database.checkpoint()
        if self._must_rebuild(index.generation, generation):
            # The writer begins by emptying an index of generation 0; until it commits, readers keep what they
            # see.
            write_manifest(self.folder / KEYWORD, 0)
            changes = self._everything("added")
        else:
            changes = self.record.changes_since(index.generation)
        with index.writer() as writer:
            for count, change in enumerate(changes, 1):
                if change.kind == "removed":
                    writer.delete(change.document)
                elif change.kind == "added" and self.record.is_current(change.document):
                    writer.add_document(change.document, document_entries(self.lookup, change.document))
                if count % _COMMIT_EVERY == 0 and change.generation < generation:
                    writer.commit(change.generation)
            writer.commit(generation)
        index.reload()

    def _must_rebuild(self, seen: int, generation: int) -> bool:
        """Whether the log does not reach back that far, or the index is ahead of the record."""
        if seen > generation:
            self.note_loss(seen, generation)
        late = seen > generation or seen + 1 < self.record.oldest_change()
        return late or not self.record.log_is_sound(seen)

    @abstractmethod
    def note_loss(self, seen: int, generation: int) -> None:
        """Remember that the record was further once than it is now. The caller holds the writer lock."""

    def _everything(self, kind: str) -> list[Change]:
        # Numbered 0, so that an interrupted build starts over.
        return [
            Change(0, document, kind)
            for document in self.record.document_ids()
            if kind == "added" or self.record.is_embedded(document)
        ]

    def size_bytes(self) -> int:
        """Return the size of the index."""
        total = 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                # Files come and go while another process writes.
                with suppress(OSError):
                    total += (Path(folder) / name).stat().st_size
        return total

    def close(self) -> None:
        """Close files and connections."""
        if self._keyword is not None:
            self._keyword.close()
        self._columns, self._texts, self._keyword, self._concepts = None, None, None, None
        self.release_vectors()
        self._drop_links()
        self.database.close()


def _replace_folder(target: Path, source: Path) -> None:
    """Put a folder in the place of another, or remove that one if there is none.

    Somebody who opens the index meanwhile may put a lock into what is being removed, so it is tried a few times.
    """
    for left in reversed(range(_REPLACEMENTS)):
        shutil.rmtree(target, ignore_errors=True)
        if not source.is_dir():
            return
        try:
            source.replace(target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not left:
                raise
