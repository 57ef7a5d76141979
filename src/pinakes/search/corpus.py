"""Corpus: what a search needs to know about the library as a whole, read once for each generation."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pinakes.search.define import DefinitionIndex
from pinakes.stores.embedded.index import EmbeddedIndex


@dataclass(frozen=True, slots=True)
class Corpus:
    """One state of the library."""

    generation: int
    definitions: DefinitionIndex


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
        return Corpus(
            generation,
            DefinitionIndex(lookup.definitions()),
        )
