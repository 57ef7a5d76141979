"""The index of a library that a database holds: a copy of its record here, its vectors there.

The record and the keyword index on this machine follow the database, so that everything but the search by meaning is
answered from here, and in the same way as without a database. What is indexed here is published there.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

from pinakes.errors import StoreError, UsageError
from pinakes.model import DoctorReport
from pinakes.stores.embedded.database import explain_errors
from pinakes.stores.embedded.health import Part, examine
from pinakes.stores.embedded.local import LocalIndex
from pinakes.stores.registry import load_store
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.shared.replica import Replica
from pinakes.stores.shared.vectors import StoreVectors
from pinakes.stores.store import Store

logger = logging.getLogger("pinakes")

# How often a search asks whether others changed the library, and how long it leaves a database alone that is down.
_LOOK_SECONDS = 2.0
_DOWN_SECONDS = 20.0


class StoredIndex(LocalIndex):
    """The part of the index that is here, and the way to the part that is there."""

    def __init__(self, folder: Path, *, create: bool, settings: DatabaseSettings) -> None:
        self.store = load_store(settings)
        self._native = _checked_native(self.store)
        super().__init__(folder, create=create)
        self.replica = Replica(self.record, self.lookup, self.store)
        self._dense = StoreVectors(self.store, self.record)
        self._next_look = 0.0

    @property
    def where(self) -> str:
        """Where the library is, for messages."""
        return f"{self.folder} (database {self.store.describe()})"

    @property
    def shared(self) -> bool:
        """Whether several processes can publish to it at once: the database hands out work to one at a time."""
        return self.store.capabilities.claims and not self.store.alone

    @property
    def vectors(self) -> StoreVectors:
        """Search by meaning, in the database."""
        return self._dense

    @property
    def native_keyword(self) -> StoreVectors | None:
        """The database's own keyword search, where ``native`` asks for it."""
        return self._dense if self._native == "keyword" else None

    @property
    def native_hybrid(self) -> StoreVectors | None:
        """The database's own fusion, where ``native`` asks for it."""
        return self._dense if self._native == "hybrid" else None

    @property
    def trouble(self) -> str:
        """What of the copy here is not in the database, where searches by meaning are answered."""
        if self.replica.generation >= self.record.generation():
            return ""
        if self._dense.empty and self.record.embedded_passages():
            return (
                f"Nothing is published in the database ({self.store.describe()}) yet, so there is no search by "
                "meaning: run pinakes index."
            )
        return ""

    def look(self) -> None:
        """Take over what others published, unless that was asked a moment ago."""
        if time.monotonic() < self._next_look or self.read_only:
            return
        self._next_look = time.monotonic() + _LOOK_SECONDS
        try:
            if not self.replica.is_late():
                return
            with explain_errors(self.database.path), self.lock.held_if_free() as free:
                # Whoever writes here follows the database too.
                if free:
                    self.replica.follow(self._say)
        except StoreError as error:
            if not self.record.document_ids():
                raise
            # Words and references are answered from the copy; a search by meaning says itself that it cannot be.
            self._next_look = time.monotonic() + _DOWN_SECONDS
            logger.warning("This answer is from the copy on this machine: %s", error)

    def _say(self, done: int, total: int) -> None:
        if total >= 100 and (done == 1 or done % 500 == 0):
            logger.warning("Copying documents from the database: %s of %s", f"{done:,}", f"{total:,}")

    def reload_vectors(self) -> None:
        """See what others wrote of the vectors: nothing of them is kept here."""

    def vectors_behind(self, generation: int) -> bool:
        """Whether a search has to publish: that is left to whoever indexes."""
        return False

    def catch_up(self) -> None:
        """Follow the database, tell the keyword index, and publish what a run before did not. Needs the lock."""
        self.replica.follow(self._say)
        if self._native != "none" and (dimension := self.store.dimension()) is not None:
            # What its own search needs may have been left out when the library was made.
            self.store.create(dimension)
        self.catch_up_keyword()
        self.catch_up_vectors()

    def catch_up_for_search(self) -> None:
        """Tell the keyword index what changed. The caller holds the writer lock."""
        self.catch_up_keyword()

    def catch_up_vectors(self) -> None:
        """Publish what changed. The caller holds the writer lock."""
        self.replica.push()

    def publish_anew(self, *, other_model: bool) -> None:
        """Publish every document again; vectors of another model need a collection that is empty."""
        if other_model:
            self.replica.forget()
        self.replica.push_all()

    def discard_vectors(self) -> None:
        """Empty the database: the vectors are there, with all that it holds."""
        self.replica.forget()

    def release_vectors(self) -> None:
        """Let go of the connections."""
        self.store.close()

    def examine(self, *, repair: bool) -> DoctorReport:
        """Compare the record with what is derived from it here and there, and put right what is wrong."""
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
            f"The database provider {store.provider} has no {store.missing} of its own: set native to none, and it is "
            "done here."
        )
    return store.settings.native
