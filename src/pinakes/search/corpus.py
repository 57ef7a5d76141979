"""Corpus: what a search needs to know about the library as a whole, read once for each generation."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from pinakes.search.define import DefinitionIndex
from pinakes.search.instruments import FileLabel, Instruments, file_label, names_of
from pinakes.search.layout import Layout, read_layout
from pinakes.search.link_targets import LinkTargets
from pinakes.search.naming import DocumentNames, NameKeys, name_keys
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.text.keys import title_key

_MAX_LANGUAGES = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as others may refer to it."""

    id: int
    source_path: str
    title: str
    names: frozenset[str]
    called: Mapping[str, float] = field(default_factory=dict)
    """The names that other texts use for it, with how sure each is."""
    label: FileLabel | None = None
    """Its number, when it is a numbered part of a larger work."""
    keys: NameKeys = field(default_factory=NameKeys)
    """The names that people use for it in queries."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One state of the library."""

    generation: int
    languages: list[str]
    pending: int
    definitions: DefinitionIndex
    layout: Layout
    entries: list[Entry] = field(default_factory=list)
    targets: LinkTargets = field(default_factory=lambda: LinkTargets([]))
    instruments: Instruments = field(default_factory=lambda: Instruments([]))
    names: DocumentNames = field(default_factory=DocumentNames)

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
        languages = [language for language in lookup.languages() if language][:_MAX_LANGUAGES]
        # A document that was read again has a new id.
        known = {entry.id: entry for entry in self._corpus.entries} if self._corpus else {}
        entries = [known.get(row["id"]) or _entry(row) for row in lookup.documents()]
        return Corpus(
            generation,
            languages or ["en"],
            self._index.record.pending_count(),
            DefinitionIndex(lookup.definitions()),
            read_layout(lookup),
            entries,
            LinkTargets(entries),
            Instruments(entries),
            DocumentNames(entries),
        )


def _entry(row: sqlite3.Row) -> Entry:
    path = PurePath(row["source_path"])
    metadata: dict[str, Any] = json.loads(row["metadata"])
    aliases = metadata.get("aliases") or []
    names = [path.stem, path.name, row["title"], *(aliases if isinstance(aliases, list) else [aliases])]
    return Entry(
        row["id"],
        row["source_path"],
        row["title"],
        frozenset(title_key(str(name)) for name in names),
        names_of(row["source_path"], row["title"], metadata),
        file_label(row["title"]),
        name_keys(row["source_path"], row["title"], metadata),
    )
