"""Duplicates in meaning: other words for the same thing, by the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.search.select.refine.claims import same_claim, same_facts
from pinakes.search.select.refine.ngrams import nearly_same
from pinakes.search.select.refine.wording import Wording


class SemanticDuplicates:
    """Finds what has been kept already in other words; ``vectors`` grows while the search goes on."""

    name = "semantic_dedup"

    def __init__(self, threshold: float, near: float, vectors: Mapping[int, Vectors]) -> None:
        self._threshold = threshold
        self._near = near
        self._vectors = vectors
        self._kept: list[Wording] = []
        self._matrix: list[Vectors] = []

    def find(self, wording: Wording) -> int | None:
        """Return the best-ranked kept chunk that means the same and speaks of the same numbers and names."""
        vector = self._vectors.get(wording.id)
        if vector is None or not self._kept:
            return None
        close = np.flatnonzero(np.stack(self._matrix) @ vector >= self._threshold)
        return next((self._kept[at].id for at in close if self._same(self._kept[at], wording)), None)

    def keep(self, wording: Wording) -> None:
        """Remember a chunk; one without a vector is like nothing else."""
        vector = self._vectors.get(wording.id)
        if vector is not None:
            self._kept.append(wording)
            self._matrix.append(vector)

    def _same(self, a: Wording, b: Wording) -> bool:
        # Two clauses of one template mean much the same to a model, and differ in what matters.
        return same_facts(a, b) and (not nearly_same(a, b, self._near) or same_claim(a, b))
