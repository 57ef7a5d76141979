"""Rank: the legs become one order, and what surrounds a passage has its say.

fuse > hierarchy > smooth > graph > recency
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pinakes.config import SearchSettings
from pinakes.port.columns import ColumnValues
from pinakes.search.candidates import Fused, Leg, Scores
from pinakes.search.fuse import fuse
from pinakes.search.graph import Graph, lift, strongest
from pinakes.search.hierarchy import group_evidence, judge
from pinakes.search.recency import Recency
from pinakes.search.refine import Reader
from pinakes.search.retrieve import Scope
from pinakes.search.smooth import POOL, smooth
from pinakes.stores.embedded.index import EmbeddedIndex


@dataclass(frozen=True, slots=True)
class Ranked:
    """All candidates with their scores, and the edges along which the graph came upon some of them."""

    fused: Fused
    via: Mapping[int, tuple[str, int]] = field(default_factory=dict)


class Ranker:
    """Orders what the legs of one index found. Keep it between searches: it remembers links and dates."""

    def __init__(self, index: EmbeddedIndex, reader: Reader) -> None:
        self._index = index
        self._reader = reader
        self._graph = Graph(index)
        self._recency = Recency(index)

    def rank(
        self,
        legs: Sequence[Leg],
        weights: Mapping[str, float],
        settings: SearchSettings,
        scope: Scope,
    ) -> Ranked:
        """Order what the legs found. A single way of searching stays bare: hybrid search weighs surroundings."""
        fused = fuse(legs, weights, method=settings.fusion, rrf_k=settings.rrf_k)
        fused, columns = _known(fused, self._index.columns.of(fused.chunks))
        if settings.search_mode != "hybrid" or not len(fused.chunks):
            return Ranked(fused)
        if settings.uses("hierarchy"):
            fused.scores = _judged(fused.scores, columns, self._index.columns.total, weights)
        if settings.uses("smoothing"):
            fused.scores = _smoothed(fused, columns["document_chunks"], self._reader)
        via: Mapping[int, tuple[str, int]] = {}
        if settings.uses("graph") and weights["graph"] > 0:
            near = self._graph.neighbours(
                strongest(fused), documents=scope.documents, excluded=scope.excluded.tolist()
            )
            fused, via = lift(fused, near, weights["graph"]), near.via
        if settings.uses("recency"):
            fused = self._recency.favour(fused, settings.recency_bias)
        return Ranked(fused, via)


def _known(fused: Fused, columns: ColumnValues) -> tuple[Fused, ColumnValues]:
    """Leave out what was found a moment ago and is gone from the record since."""
    keep = columns["document"] > 0
    if not keep.all():
        fused, columns = Fused(fused.chunks[keep], fused.scores[keep], fused.legs), columns[keep]
    return fused, columns


def _judged(scores: Scores, columns: ColumnValues, total: int, weights: Mapping[str, float]) -> Scores:
    documents = columns["document"]
    # Sections are numbered in their documents.
    sections = (documents << 32) + columns["section"]
    return judge(
        scores,
        group_evidence(scores, sections, columns["section_chunks"], total),
        group_evidence(scores, documents, columns["document_chunks"], total),
        section_weight=weights["section"],
        document_weight=weights["document"],
    )


def _smoothed(fused: Fused, relatives: ColumnValues, reader: Reader) -> Scores:
    order = fused.best(POOL)
    chunks = fused.chunks[order].tolist()
    known = reader.vectors(chunks)
    if len(known) < 3:
        return fused.scores
    blank = np.zeros(len(next(iter(known.values()))), np.float32)
    vectors = np.concatenate([known.get(chunk, blank) for chunk in chunks]).reshape(len(chunks), -1)
    scores = fused.scores.copy()
    scores[order] = smooth(scores[order], vectors, relatives[order].astype(np.float64))
    # Those below the pool stay below it.
    lowest = float(scores[order].min())
    rest = np.ones(len(scores), bool)
    rest[order] = False
    scores[rest] = np.minimum(scores[rest], lowest)
    return np.asarray(scores)
