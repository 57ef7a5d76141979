"""Semantic: passages with similar meaning."""

from __future__ import annotations

from collections.abc import Mapping

from loccit.config import SearchSettings
from loccit.search.candidates import SEMANTIC, RankedList
from loccit.search.retrieve.leg import Leg, Retrieved

# The cosine of a text about nothing else. Where the nearest has less than a good part of it, nothing is near.
_FULL = 0.5


class SemanticLeg(Leg):
    """Search by the query's vector."""

    name = SEMANTIC
    by_meaning = True

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return ``semantic_weight``."""
        return settings.semantic_weight

    def active(self, asked: Retrieved) -> bool:
        """Whether to run it: there must be vectors."""
        return super().active(asked) and not self._index.vectors.empty

    def search(self, asked: Retrieved) -> RankedList | None:
        """Return the chunks nearest to the query."""
        vectors, vector = self._index.vectors, asked.vector
        if vector is None:
            return None

        def search(depth: int, documents: set[int] | None) -> RankedList:
            return RankedList(SEMANTIC, *vectors.search(vector, depth, documents), full=_FULL)

        return asked.scope.ask(search, vectors.depth)
