"""The index of a library in a database: a copy of its record here, its vectors there.

The record and the keyword index on this machine follow the database, so that everything but semantic search is answered
from here, and in the same way as without a database. What is indexed here is published there.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

from loccit.errors import StoreError, UsageError
from loccit.index.folder.database import explain_errors
from loccit.index.folder.health import Part, examine
from loccit.index.folder.local import LocalIndex
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.replica import Replica
from loccit.index.shared.vectors import StoreVectors
from loccit.index.store import Store
from loccit.model import DoctorReport

logger: logging.Logger = logging.getLogger("loccit")

# How often a search checks whether others changed the library, and how long it leaves an unavailable database
# alone.
_LOOK_SECONDS = 2.0
_DOWN_SECONDS = 20.0


class StoredIndex(LocalIndex):
    """The local part of the index, and the connection to the remote part."""

    def __init__(self, folder: Path, *, create: bool, settings: DatabaseSettings) -> None:
        self.store: Store = load_store(settings)
        self._native = _checked_native(self.store)
        super().__init__(folder, create=create)
        self.replica: Replica = Replica(self.record, self.lookup, self.store)
        self._dense = StoreVectors(self.store, self.record)
        self._next_look = 0.0

    @property
    def where(self) -> str:
        """The location of the library, for messages."""
        return f"{self.folder} (database {self.store.describe()})"

    @property
    def shared(self) -> bool:
        """Whether several processes can publish to it at once: if the database can lease tasks."""
        return self.store.capabilities.claims and not self.store.alone

    @property
    def vectors(self) -> StoreVectors:
        """Semantic search, in the database."""
        return self._dense

    @property
    def native_keyword(self) -> StoreVectors | None:
        """The database's own keyword search, if ``native`` asks for it."""
        return self._dense if self._native == "keyword" else None

    @property
    def native_hybrid(self) -> StoreVectors | None:
        """The database's own fusion, if ``native`` asks for it."""
        return self._dense if self._native == "hybrid" else None

    @property
    def trouble(self) -> str:
        """What of the local copy is not in the database, which answers semantic searches."""
        if self.replica.generation >= self.record.generation():
            return ""
        if self._dense.empty and self.record.embedded_passages():
            return (
                f"Nothing is published in the database ({self.store.describe()}) yet, so there is no search by "
                "meaning: run loccit index."
            )
        return ""

    def look(self) -> None:
        """Take over what others published, unless that was checked a moment ago."""
        if time.monotonic() < self._next_look or self.read_only:
            return
        self._next_look = time.monotonic() + _LOOK_SECONDS
        try:
            if not self.replica.is_late():
                return
            with explain_errors(self.database.path), self.lock.held_if_free() as free:
                # A process that writes here follows the database too.
                if free:
                    self.replica.follow(self._say)
        except StoreError as error:
            if not self.record.document_ids():
                raise
            # Keywords and references are answered from the copy; a semantic search reports itself that it is
            # unavailable.
            self._next_look = time.monotonic() + _DOWN_SECONDS
            logger.warning("This answer is from the copy on this machine: %s", error)

    def _say(self, done: int, total: int) -> None:
        if total >= 100 and (done == 1 or done % 500 == 0):
            logger.warning("Copying documents from the database: %s of %s", f"{done:,}", f"{total:,}")

    def reload_vectors(self) -> None:
        """Notice what others wrote to the vectors: nothing of them is stored here."""

    def vectors_behind(self, generation: int) -> bool:
        """Whether a search has to publish: no, that is left to indexing."""
        return False

    def catch_up(self) -> None:
        """Follow the database, update the keyword index, and publish what an earlier run did not. Needs the lock."""
        self.replica.follow(self._say)
        if self._native != "none" and (dimension := self.store.dimension()) is not None:
            # What its own search needs may have been left out when the library was made.
            self.store.create(dimension)
        self.catch_up_keyword()
        self.catch_up_vectors()

    def catch_up_for_search(self) -> None:
        """Bring the keyword index up to date. The caller holds the writer lock."""
        self.catch_up_keyword()

    def catch_up_vectors(self) -> None:
        """Publish what changed. The caller holds the writer lock."""
        self.replica.push()

    def publish_anew(self, *, other_model: bool) -> None:
        """Publish every document again; vectors of another model need an empty collection."""
        if other_model:
            self.replica.forget()
        self.replica.push_all()

    def discard_vectors(self) -> None:
        """Empty the database: the vectors are there, with everything else it holds."""
        self.replica.forget()

    def release_vectors(self) -> None:
        """Close the connections."""
        self.store.close()

    def note_loss(self, seen: int, generation: int) -> None:
        """What this copy of the record lost is fetched from the database again."""

    def examine(self, *, repair: bool) -> DoctorReport:
        """Compare the record with what is derived from it here and there, and repair differences."""
        database = Part("database", self.replica.problem, self._agree, self.replica.mend)
        return examine(self, database, repair=repair)

    def _agree(self) -> None:
        if self.replica.catalogue.about() is not None:
            self.replica.follow()
            self.catch_up_keyword()
            self.replica.push()


def _checked_native(store: Store) -> str:
    if store.missing:
        raise UsageError(
            f"The database provider {store.provider} has no {store.missing} of its own: set native to none to have "
            "Loccit do it."
        )
    return store.settings.native
