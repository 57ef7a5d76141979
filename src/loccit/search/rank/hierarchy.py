"""Hierarchy: a chunk is scored together with its section and its document.

The surroundings of a passage say what it is about. The evidence of a group of chunks is a power mean of their scores:
close to the best, higher if several agree, and not much lower if the group is long. Each chunk gets a share of its
groups' evidence. docs/decisions/0014-hierarchical-evidence.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from loccit.config import SearchSettings
from loccit.search.candidates import DOCUMENT, SECTION, Ids, Scores
from loccit.search.rank.signal import Asked, Ranked, Signal

POWER = 6.0
# Smoothing, as if every group had this many more average chunks: a group of one adds nothing to its chunk.
PRIOR = 0.5


class Hierarchy(Signal):
    """Scores each chunk together with its section and its document."""

    stage = "hierarchy"
    column = "judged"

    def weights(self, settings: SearchSettings) -> Mapping[str, float]:
        """Return the weights of document and section."""
        return {DOCUMENT: settings.document_weight, SECTION: settings.section_weight}

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Blend each chunk's score with the evidence of its two groups."""
        scores, known, total = ranked.table.scores, ranked.table.known, self._index.columns.total
        documents = known["document"]
        # Sections are numbered per document.
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

    ``groups`` is the group of each scored chunk, ``sizes`` the number of chunks in it, scored or not, and ``total``
    that of the library; chunks without a score count as 0.
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
