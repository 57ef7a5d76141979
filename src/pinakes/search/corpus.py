"""Corpus: what a search needs to know about the library as a whole, read once for each generation."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass, field

from pinakes.search.define import DefinitionIndex
from pinakes.search.link_targets import LinkTargets
from pinakes.search.names import FileLabel, NameIndex, Names, file_label, names_of
from pinakes.stores.embedded.index import EmbeddedIndex


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as others may refer to it."""

    id: int
    source_path: str
    title: str
    names: Names = field(default_factory=Names)
    """What it is called."""
    label: FileLabel | None = None
    """Its number, when it is a numbered part of a larger work."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One state of the library."""

    generation: int
    definitions: DefinitionIndex
    entries: list[Entry] = field(default_factory=list)
    targets: LinkTargets = field(default_factory=lambda: LinkTargets([]))
    names: NameIndex = field(default_factory=NameIndex)

    def by_path(self, path: str) -> Entry | None:
        """Return the document at a path."""
        return self.targets.at(path)

    def by_id(self, document: int) -> Entry | None:
        """Return a document."""
        return self.targets.numbered(document)


class CorpusCache:
    """Keeps the corpus of the present generation; reading it again costs a few milliseconds."""

    def __init__(self, index: EmbeddedIndex) -> None:
        self._index = index
        self._guard = threading.Lock()
        self._corpus: Corpus | None = None

    def get(self) -> Corpus:
        """Return the corpus as it is now."""
        generation = self._index.record.generation()
        corpus = self._corpus
        if corpus is None or corpus.generation != generation:
            with self._guard:
                # Another thread may have read it in the meantime.
                corpus = self._corpus
                if corpus is None or corpus.generation != generation:
                    corpus = self._corpus = self._read(generation)
        return corpus

    def _read(self, generation: int) -> Corpus:
        lookup = self._index.lookup
        # A document that was read again has a new id.
        known = {entry.id: entry for entry in self._corpus.entries} if self._corpus else {}
        entries = [known.get(row["id"]) or _entry(row) for row in lookup.documents()]
        return Corpus(
            generation,
            DefinitionIndex(lookup.definitions()),
            entries,
            LinkTargets(entries),
            NameIndex(entries),
        )


def _entry(row: sqlite3.Row) -> Entry:
    names = names_of(row["source_path"], row["title"], json.loads(row["metadata"]))
    return Entry(row["id"], row["source_path"], row["title"], names, file_label(row["title"]))
