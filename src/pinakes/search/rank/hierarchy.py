"""Hierarchy: a chunk is judged together with its section and its document.

What stands around a passage says what it is about. The evidence of a group of chunks is a power mean of their
scores: close to the best of them, higher when several agree, and not much lower for being long. Each chunk gets
some of its group's evidence. docs/decisions/0014-hierarchical-evidence.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pinakes.config import SearchSettings
from pinakes.search.candidates import DOCUMENT, SECTION, Ids, Scores
from pinakes.search.rank.signal import Asked, Ranked, Signal

POWER = 6.0
# As if every group had this much more of the average chunk: a group of one knows no more than its chunk.
PRIOR = 0.5


class Hierarchy(Signal):
    """Each chunk together with its section and its document."""

    stage, column = "hierarchy", "judged"

    def weights(self, settings: SearchSettings) -> Mapping[str, float]:
        """Return what a document and a section count."""
        return {DOCUMENT: settings.document_weight, SECTION: settings.section_weight}

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Blend what each chunk has with the evidence of the two groups it is in."""
        scores, known, total = ranked.table.scores, ranked.table.known, self._index.columns.total
        documents = known["document"]
        # Sections are numbered in their documents.
        sections = (documents << 32) + known["section"]
        return judge(
            scores,
            group_evidence(scores, sections, known["section_chunks"], total),
            group_evidence(scores, documents, known["document_chunks"], total),
            section_weight=asked.weights[SECTION],
            document_weight=asked.weights[DOCUMENT],
        )


def group_evidence(scores: Scores, groups: Ids, sizes: NDArray[np.int32], total: int) -> Scores:
    """Return each chunk's evidence from its group, between 0 and 1.

    ``groups`` says which group each scored chunk is in, ``sizes`` how many chunks that has in all, and ``total`` how
    many the library has; chunks without a score count as 0.
    """
    if not len(scores):
        return scores
    _, members, groups = np.unique(groups, return_index=True, return_inverse=True)
    sizes = sizes[members]
    powers = np.maximum(scores, 0.0) ** POWER
    sums = np.bincount(groups, powers, len(sizes))
    average = powers.sum() / max(1, total)
    evidence = ((sums + PRIOR * average) / (sizes + PRIOR)) ** (1 / POWER)
    best = float(evidence.max())
    return np.asarray(evidence[groups] / best if best > 0 else np.zeros(len(scores)))


def judge(
    scores: Scores,
    sections: Scores,
    documents: Scores,
    *,
    section_weight: float,
    document_weight: float,
) -> Scores:
    """Blend a chunk's own score with the evidence of its section and document; the result stays within 0..1."""
    blended = scores + section_weight * sections + document_weight * documents
    return np.asarray(blended / (1.0 + section_weight + document_weight))
