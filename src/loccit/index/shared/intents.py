"""Intents: which versions are being written right now, so that nobody takes them for leftovers.

A writer declares a version before its first point and withdraws the intent once the version is current. An intent that
is never withdrawn, because its writer died, is revoked after a while by whoever finds it. That may be wrong, if the
writer only stalled, but is safe: once its version is current, a writer checks whether its intent still exists, and if
not, publishes again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

from loccit.index.store import Entry, Store

_KIND = "intent"
# After this many seconds a writer is presumed dead; longer than any wait for a server that restarts.
_ABANDONED = 900.0


# How long a measured clock difference stays valid.
_TRUSTED_SECONDS = 60.0


class StoreClock:
    """The database's time, by which leases of several machines are compared.

    It is read now and then, and extrapolated in between.
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
    """A version that a writer is about to publish, and since when."""

    document: str
    version: str
    writer: str
    since: float

    @property
    def key(self) -> str:
        """The key of its entry."""
        return f"intent-{self.document}-{self.version}"

    def entry(self) -> Entry:
        """Return the intent as an entry."""
        return Entry(self.key, _KIND, self.document, json.dumps(self))

    @classmethod
    def read(cls, entry: Entry) -> Intent:
        """Parse what ``entry`` wrote."""
        document, version, writer, since = json.loads(entry.value)
        return cls(str(document), str(version), str(writer), float(since))


class Intents:
    """The intents in a store; ``writer`` declares them here, one publication after another."""

    def __init__(self, store: Store, writer: str) -> None:
        self._store = store
        self._writer = writer
        self._clock = StoreClock(store)

    def declare(self, versions: Iterable[tuple[str, str]]) -> dict[str, Intent]:
        """Declare which versions of which documents are about to be written; return the intents by key."""
        now = self._clock()
        intents = [Intent(document, version, self._writer, now) for document, version in versions]
        self._store.put([intent.entry() for intent in intents])
        return {intent.key: intent for intent in intents}

    def all(self) -> dict[str, Intent]:
        """Return every intent by key."""
        found = (Intent.read(entry) for batch in self._store.entries(_KIND) for entry in batch)
        return {intent.key: intent for intent in found}

    def living(self, documents: Collection[str]) -> list[Intent]:
        """Return the intents for some documents, and revoke those of dead writers.

        This writer has none in progress when it asks: any in its name were left behind when it died.
        """
        wanted, now = frozenset(documents), self._clock()
        found = [intent for intent in self.all().values() if intent.document in wanted]
        dead = [i for i in found if i.writer == self._writer or now - i.since > _ABANDONED]
        self._store.remove([intent.key for intent in dead])
        return [intent for intent in found if intent not in dead]
