"""Scope: where to search. Documents are selected by their fields, chunks by the words and code in them.

Only documents and chunks that a search has found are checked, never the whole library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from loccit.index.port.filters import Passing, among
from loccit.index.port.matching import TextSearch
from loccit.search.candidates import RankedList
from loccit.search.understand.filters import CodeTest
from loccit.search.understand.names import NameIndex

# Enough results to rank. With fewer, the search goes deeper, and finally lists the documents that pass.
_ENOUGH = 100
_DEEPER = 4


class Scope:
    """Where to search: the documents allowed (None for all), the chunks allowed, and the library's languages.

    ``owners`` maps chunks to documents. ``unwanted`` are words and phrases that no result may contain. A chunk must
    pass every test in ``code`` and none in ``other_code``.
    """

    def __init__(
        self,
        documents: set[int] | Passing | None,
        languages: list[str],
        names: NameIndex | None = None,
        *,
        texts: TextSearch | None = None,
        owners: Callable[[Collection[int]], Mapping[int, int]] | None = None,
        unwanted: Sequence[str] = (),
        code: Sequence[CodeTest] = (),
        other_code: Sequence[CodeTest] = (),
    ) -> None:
        self.documents = documents
        self.languages = languages
        self.names = names
        self._texts = texts
        self._owners = owners
        self._unwanted = list(unwanted)
        self._code = list(code)
        self._other_code = list(other_code)
        self._looked_at: set[int] = set()
        self._coded: list[set[int]] = [set() for _ in self._code]
        self.hidden: set[int] = set()
        """Chunks with unwanted words or phrases, in the documents checked so far."""

    @property
    def filtered(self) -> bool:
        """Whether filters exclude any documents or chunks."""
        return self.documents is not None or bool(self._code or self._other_code)

    @property
    def _chooses_chunks(self) -> bool:
        return bool(self._unwanted or self._code or self._other_code)

    @property
    def named(self) -> set[int] | None:
        """The documents to pass to an index if they are few; None to search everywhere."""
        return None if isinstance(self.documents, Passing) else self.documents

    def passing(self, owners: Mapping[int, int]) -> set[int]:
        """Return which of these chunks, given with their documents, may be shown."""
        allowed = among(set(owners.values()), self.documents)
        found = {chunk for chunk, document in owners.items() if document in allowed}
        if not self._chooses_chunks or not found:
            return found
        self._look_at({owners[chunk] for chunk in found})
        for having in self._coded:
            found &= having
        return found - self.hidden

    def _look_at(self, documents: set[int]) -> None:
        new = documents - self._looked_at
        if not new or self._texts is None:
            return
        self._looked_at |= new
        if self._unwanted:
            self.hidden |= self._texts.holding(self._unwanted, self.languages, new)
        for test in self._other_code:
            self.hidden |= self._texts.with_code(test.languages, new)
        for test, having in zip(self._code, self._coded, strict=True):
            having |= self._texts.with_code(test.languages, new)

    def keep(self, leg: RankedList) -> RankedList:
        """Keep the hits of a leg that may be shown."""
        if not len(leg) or not (self._chooses_chunks or isinstance(self.documents, Passing)):
            return leg
        assert self._owners is not None
        passing = self.passing(self._owners(leg.chunks.tolist()))
        mask = np.fromiter((chunk in passing for chunk in leg.chunks.tolist()), bool, len(leg))
        return replace(leg, chunks=leg.chunks[mask], scores=leg.scores[mask])

    def ask(self, leg: Callable[[int, set[int] | None], RankedList], depth: int) -> RankedList:
        """Run a leg, deeper if too few hits pass; finally, restrict it to the documents that pass."""
        asked = leg(depth, self.named)
        found = self.keep(asked)
        if len(found) == len(asked):
            return found
        if len(found) < _ENOUGH and len(asked) >= depth:
            asked = leg(_DEEPER * depth, self.named)
            found = self.keep(asked)
            if len(found) < _ENOUGH and len(asked) >= _DEEPER * depth and isinstance(self.documents, Passing):
                found = self.keep(leg(depth, self.documents.listed()))
        return found
