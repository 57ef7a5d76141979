"""Semantic: passages near in meaning."""

from __future__ import annotations

from collections.abc import Mapping

from pinakes.config import SearchSettings
from pinakes.search.candidates import SEMANTIC, RankedList
from pinakes.search.retrieve.leg import Leg, Retrieved


class SemanticLeg(Leg):
    """By the vector of the query."""

    name = SEMANTIC
    by_meaning = True

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return ``semantic_weight``."""
        return settings.semantic_weight

    def active(self, asked: Retrieved) -> bool:
        """Whether to ask it: there must be vectors."""
        return super().active(asked) and not self._index.vectors.empty

    def search(self, asked: Retrieved) -> RankedList | None:
        """Return the chunks nearest to the query."""
        vectors, vector = self._index.vectors, asked.vector
        if vector is None:
            return None
        return asked.scope.ask(
            lambda depth, documents: RankedList(SEMANTIC, *vectors.search(vector, depth, documents)),
            vectors.depth,
        )
