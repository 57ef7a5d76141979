"""Replica: keeps the record on this machine and the library in the database in agreement.

``follow`` takes over what others published, ``push`` publishes what changed here. Both can be interrupted at any point
and repeated: they compare versions, and leave alone what agrees.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from loccit.errors import ModelMismatchError, StoreSchemaError
from loccit.index.folder.database import batches
from loccit.index.folder.dump import passage_hashes, read_dump, restore_document
from loccit.index.folder.lookup import Lookup
from loccit.index.folder.record import Change, Record
from loccit.index.shared.catalogue import About, Catalogue, Head, Publication
from loccit.index.shared.ids import content_of, document_key
from loccit.index.shared.points import document_version, passage_vectors, publications
from loccit.index.store import Store

# Names under which the record stores how far the two agree.
STORED_GENERATION = "stored_generation"
STORED_STAMP = "stored_stamp"
_REPLICA = "replica"
# How many documents are taken over at once: enough to fill requests, little enough to lose if interrupted.
_DOCUMENTS_AT_ONCE = 200
# How long a write may take to become visible.
PATIENCE = 15.0

_REMOVED = "NOT EXISTS (SELECT 1 FROM documents d WHERE d.source_path = s.source_path)"

Step = Callable[[int, int], None]


class Stored(NamedTuple):
    """What the database has of a document, and its id here."""

    version: str
    document: int
    source_path: str


class Replica:
    """One record and one catalogue. Whoever changes the record holds the writer lock."""

    def __init__(self, record: Record, lookup: Lookup, store: Store) -> None:
        self._record = record
        self._lookup = lookup
        self._store = store
        self._catalogue: Catalogue | None = None
        self._missed: set[str] = set()

    @property
    def catalogue(self) -> Catalogue:
        """The documents in the database, written to in the name of this replica."""
        if self._catalogue is None:
            name = self._record.meta(_REPLICA)
            if not name:
                name = uuid.uuid4().hex[:16]
                if not self._record.database.read_only:
                    self._record.set_meta({_REPLICA: name})
            self._catalogue = Catalogue(self._store, name)
        return self._catalogue

    @property
    def generation(self) -> int:
        """The record's generation up to which everything is in the database."""
        return int(self._record.meta(STORED_GENERATION) or 0)

    def stored(self) -> dict[str, Stored]:
        """Return what the database was last known to have, by document key."""
        rows = self._record.database.rows("SELECT key, version, document, source_path FROM stored")
        return {row[0]: Stored(*row[1:]) for row in rows}

    # -- from the database to the record ---------------------------------------------------------------------

    def is_late(self) -> bool:
        """Whether others changed the library since it was last followed."""
        if self._store.dimension() is None:
            # The library is gone, if there was one: whoever indexes or checks it is told so.
            return False
        return self._seen(self.catalogue.stamp()) != self._record.meta(STORED_STAMP)

    def _seen(self, stamp: str) -> str:
        # Not empty even if nobody else ever wrote: that was seen as well.
        return f"seen:{stamp}"

    def follow(self, step: Step = lambda done, total: None, *, anyway: bool = False) -> bool:
        """Take over what others published or removed; return whether anything changed.

        With ``anyway``, look even if nobody reported a change.
        """
        stored = self.stored()
        about = self._about(expected=bool(stored))
        if about is None:
            if stored:
                raise StoreSchemaError(
                    f"The library has disappeared from the database ({self._store.describe()}). This machine has a "
                    "copy of its documents: restore them with loccit doctor, or check that collection and "
                    "connection_string are those it was made with."
                )
            return False
        stamp = self._seen(self.catalogue.stamp())
        if stamp == self._record.meta(STORED_STAMP) and not anyway:
            return False
        self._adopt(about)
        heads = self.catalogue.heads()
        gone = {key for key in stored if key not in heads}
        # What such a database does not show may just not be visible yet: it counts as gone if it is missing
        # twice.
        doubtful = gone - self._missed if self._store.capabilities.eventual else set()
        self._missed = gone
        changed = self._drop(sorted(gone - doubtful), stored)
        changed |= self._rename(heads, stored)
        missing = [
            head
            for key, head in heads.items()
            if (known := stored.get(key)) is None or content_of(known.version) != content_of(head.version)
        ]
        taken = self._take(missing, step)
        if len(taken) == len(missing) and not doubtful:
            # Otherwise some were replaced meanwhile, and the next look takes them over.
            self._record.set_meta({STORED_STAMP: stamp})
        return changed or bool(taken)

    def _about(self, *, expected: bool) -> About | None:
        """Ask what the library was made with; if it existed before, wait for a slow database."""
        deadline = time.monotonic() + (PATIENCE if expected and self._store.capabilities.eventual else 0)
        while (about := self.catalogue.about()) is None and time.monotonic() < deadline:
            time.sleep(0.5)
        return about

    def _adopt(self, about: About) -> None:
        model, dimension = self._record.meta("model"), int(self._record.meta("dimension") or 0)
        if model and (model, dimension) != about[:2]:
            raise ModelMismatchError(
                f"The library in the database ({self._store.describe()}) is made with the embedding model "
                f"{about.model} ({about.dimension} dimensions), but the copy on this machine with {model} "
                f"({dimension}). It was rebuilt elsewhere: delete the index folder here and run the command again."
            )
        if not model:
            self._record.set_meta(
                {"model": about.model, "dimension": str(about.dimension), "settings": about.settings}
            )

    def _drop(self, keys: Sequence[str], stored: dict[str, Stored]) -> bool:
        """Remove documents that others removed, unless they were read again here since."""
        gone = [key for key in keys if self._record.is_current(stored[key].document)]
        self._record.remove([stored[key].source_path for key in gone])
        self._note([], gone=keys)
        return bool(gone)

    def _rename(self, heads: dict[str, Head], stored: dict[str, Stored]) -> bool:
        """Record other editions of what is here already: only the names of their points differ."""
        renamed = [
            (key, heads[key].version, known.document, known.source_path)
            for key, known in stored.items()
            if key in heads
            and known.version != heads[key].version
            and content_of(known.version) == content_of(heads[key].version)
        ]
        self._note(renamed)
        return bool(renamed)

    def _take(self, heads: Sequence[Head], step: Step) -> list[Head]:
        taken: list[Head] = []
        for start in range(0, len(heads), _DOCUMENTS_AT_ONCE):
            batch = heads[start : start + _DOCUMENTS_AT_ONCE]
            bodies = self.catalogue.bodies(batch)
            for head in batch:
                if head.document in bodies and self._restore(head, bodies[head.document]):
                    taken.append(head)
                step(len(taken), len(heads))
        return taken

    def _restore(self, head: Head, body: bytes) -> bool:
        vectors = self.catalogue.vectors(head)
        if len(vectors) < head.points:
            # A database that shows writes only after a while; the next look finds it.
            return False
        data = read_dump(body)
        found = passage_vectors(passage_hashes(data), vectors)
        document, path = restore_document(self._record.database, data, found)
        self._note([(head.document, head.version, document, path)])
        return True

    def _note(self, rows: Sequence[tuple[str, str, int, str]], gone: Sequence[str] = ()) -> None:
        """Record what the database has, and what it no longer has."""
        with self._record.database.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO stored VALUES (?, ?, ?, ?)", rows)
            connection.executemany("DELETE FROM stored WHERE key = ?", [(key,) for key in gone])

    # -- from the record to the database ---------------------------------------------------------------------

    def push(self, step: Step = lambda done, total: None) -> None:
        """Publish what changed here since the last time, and remove what was removed."""
        generation = self._record.generation()
        if self.generation == generation:
            return
        model, dimension = self._record.meta("model"), int(self._record.meta("dimension") or 0)
        if not model:
            return
        self.catalogue.open(About(model, dimension, self._record.meta("settings")))
        changes = self._changes(generation)
        gone = self._gone(changes)
        changed = bool(gone)
        if gone:
            self.catalogue.withdraw(gone)
            self._note([], gone=gone)
        wanted = self._unpublished(changes)
        for done, batch in self._publications(wanted, dimension):
            published = self.catalogue.publish([item for _, _, item in batch])
            self._note(
                [
                    (item.document, item.version, document, path)
                    for (document, path, _), item in zip(batch, published, strict=True)
                ]
            )
            changed = True
            step(done, len(wanted))
        if changed:
            self.catalogue.touch()
        self._record.set_meta({STORED_GENERATION: str(generation)})

    def push_all(self) -> None:
        """Publish every document again, replacing what the database has, and remove all others."""
        with self._record.database.transaction() as connection:
            # A version without points: meanwhile searches find what is being published again.
            connection.execute("UPDATE stored SET version = '00000000'")
        self._record.set_meta({STORED_GENERATION: "-1"})
        self.push()

    def _changes(self, generation: int) -> list[Change] | None:
        """Return what changed here since the last time; None if that is no longer known."""
        seen = self.generation
        if seen < 0 or seen > generation or seen + 1 < self._record.oldest_change():
            return None
        return self._record.changes_since(seen)

    def _gone(self, changes: Sequence[Change] | None) -> list[str]:
        """Return the keys of what the database has of files that were removed here."""
        query = f"SELECT document, key, {_REMOVED} FROM stored s"
        if changes is not None:
            removed = {change.document for change in changes if change.kind == "removed"}
            rows = [
                row
                for batch in batches(removed)
                for row in self._record.database.rows(
                    f"{query} WHERE document IN ({','.join('?' * len(batch))})", batch
                )
            ]
            if removed == {row[0] for row in rows}:
                return [row[1] for row in rows if row[2]]
        # Versions were removed that the database never had: others of the same files may be there.
        return [row[1] for row in self._record.database.rows(f"{query} WHERE {_REMOVED}")]

    def _unpublished(self, changes: Sequence[Change] | None) -> list[tuple[int, str]]:
        """Return the documents (with their paths) whose current version the database does not have."""
        if changes is None:
            documents = self._record.document_ids()
        else:
            documents = sorted({change.document for change in changes if change.kind == "embedded"})
        wanted = []
        for document in documents:
            if not self._record.is_current(document) or not self._record.is_embedded(document):
                continue
            database = self._record.database
            path = str(database.value("SELECT source_path FROM documents WHERE id = ?", (document,)))
            key = document_key(path)
            rows = database.rows("SELECT version, document, source_path FROM stored WHERE key = ?", (key,))
            known = Stored(*rows[0]) if rows else None
            if known is None or content_of(known.version) != document_version(self._record, document):
                wanted.append((document, path))
            elif known.document != document:
                # Read again without a change: only its id here is new.
                self._note([(key, known.version, document, path)])
        return wanted

    def _publications(
        self, wanted: Sequence[tuple[int, str]], dimension: int
    ) -> Iterator[tuple[int, list[tuple[int, str, Publication]]]]:
        documents = [document for document, _ in wanted]
        terms, done = self._store.capabilities.keyword, 0
        for batch in publications(self._record, self._lookup, documents, dimension, terms=terms):
            named = wanted[done : done + len(batch)]
            done += len(batch)
            yield done, [(*pair, item) for pair, item in zip(named, batch, strict=True)]

    # -- health ----------------------------------------------------------------------------------------------

    def problem(self) -> str:
        """Say where the database and the record disagree; "" if they do not."""
        if self.catalogue.about() is None:
            return (
                "the library is not in the database" if self.stored() or self._record.document_ids() else ""
            )
        heads, stored = self.catalogue.heads(), self.stored()
        embedded = {d for d in self._record.document_ids() if self._record.is_embedded(d)}
        known = {
            row.document for key, row in stored.items() if key in heads and heads[key].version == row.version
        }
        missing, extra = len(embedded - known), len(heads.keys() - stored.keys())
        if missing or extra:
            return f"{missing:,} documents are missing from the database and {extra:,} are unknown here"
        expected, found = sum(head.points for head in heads.values()), self._store.count()
        return "" if expected == found else f"{found:,} passages where there should be {expected:,}"

    def mend(self) -> None:
        """Make the database agree with the record: take over, restore what is missing, delete leftovers."""
        if self.catalogue.about() is not None:
            self.follow()
            heads = self.catalogue.heads()
            held = self.catalogue.clear_strays(heads)
            lost = [key for key, head in heads.items() if held[key] != head.points]
        else:
            heads, lost = {}, []
        self._note([], gone=[*lost, *(key for key in self.stored() if key not in heads)])
        self._record.set_meta({STORED_GENERATION: "-1"})
        self.push()

    def forget(self) -> None:
        """Empty the database, and forget what it had."""
        self._store.drop()
        self._note([], gone=list(self.stored()))
        self._record.set_meta({STORED_GENERATION: "0", STORED_STAMP: ""})
