"""Intents: which versions are being written right now, so that nobody takes them for left over.

A writer declares a version before its first point and takes the intent back once the version counts. An intent that is
never taken back, because its writer died, is revoked by whoever comes upon it, after a while. That may be wrong, of a
writer that only stalled, and is safe all the same: when its version counts, a writer looks whether its intent is still
there, and if not, publishes again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

from pinakes.stores.store import Entry, Store

_KIND = "intent"
# After so many seconds a writer is taken for dead; longer than any wait for a server that restarts.
_ABANDONED = 900.0


# A machine's clock keeps this long to what it was found to differ by.
_TRUSTED_SECONDS = 60.0


class StoreClock:
    """The time as a database has it, by which claims of several machines are compared.

    It is read now and then, and carried on here in between.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ahead = 0.0
        self._read_at: float | None = None

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        now = time.monotonic()
        if self._read_at is None or now - self._read_at > _TRUSTED_SECONDS:
            self._ahead, self._read_at = self._store.now() - now, now
        return now + self._ahead


class Intent(NamedTuple):
    """A version that somebody is about to publish, and since when."""

    document: str
    version: str
    writer: str
    since: float

    @property
    def key(self) -> str:
        """The key of the entry."""
        return f"intent-{self.document}-{self.version}"

    def entry(self) -> Entry:
        """Write the intent as an entry."""
        return Entry(self.key, _KIND, self.document, json.dumps(self))

    @classmethod
    def read(cls, entry: Entry) -> Intent:
        """Read what ``entry`` wrote."""
        document, version, writer, since = json.loads(entry.value)
        return cls(str(document), str(version), str(writer), float(since))


class Intents:
    """The intents in one store; ``writer`` is who declares them here, one publication after the other."""

    def __init__(self, store: Store, writer: str) -> None:
        self._store = store
        self._writer = writer
        self._clock = StoreClock(store)

    def declare(self, versions: Iterable[tuple[str, str]]) -> dict[str, Intent]:
        """Say which versions of which documents are about to be written; return the intents by key."""
        now = self._clock()
        intents = [Intent(document, version, self._writer, now) for document, version in versions]
        self._store.put([intent.entry() for intent in intents])
        return {intent.key: intent for intent in intents}

    def all(self) -> dict[str, Intent]:
        """Return every intent by key."""
        found = (Intent.read(entry) for batch in self._store.entries(_KIND) for entry in batch)
        return {intent.key: intent for intent in found}

    def living(self, documents: Collection[str]) -> list[Intent]:
        """Return the intents for some documents, and revoke those whose writers are dead.

        This writer itself has none under way when it asks: what it finds in its name, it left behind when it died.
        """
        wanted, now = frozenset(documents), self._clock()
        found = [intent for intent in self.all().values() if intent.document in wanted]
        dead = [i for i in found if i.writer == self._writer or now - i.since > _ABANDONED]
        self._store.remove([intent.key for intent in dead])
        return [intent for intent in found if intent not in dead]
