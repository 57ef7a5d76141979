"""Rank: the lists become one order, and what surrounds a passage has its say.

Every signal adds a column to the table of candidates: fused > judged > smoothed > linked > recent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pinakes.config import SearchSettings
from pinakes.port.index import SearchIndex
from pinakes.search.candidates import Candidates, RankedList, Scores
from pinakes.search.query.scope import Scope
from pinakes.search.rank.fuse import fuse
from pinakes.search.rank.graph import Graph, lift, strongest
from pinakes.search.rank.hierarchy import group_evidence, judge
from pinakes.search.rank.recency import Recency
from pinakes.search.rank.smooth import POOL, smooth
from pinakes.search.select.refine import Reader


@dataclass(slots=True)
class Ranked:
    """The table of candidates, and the edges along which the graph came upon some of them."""

    table: Candidates
    via: Mapping[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a signal may go by besides the candidates."""

    settings: SearchSettings
    weights: Mapping[str, float]
    scope: Scope


class Ranker:
    """Orders what the legs of one index found. Keep it between searches: it remembers links and dates."""

    def __init__(self, index: SearchIndex, reader: Reader) -> None:
        self._index = index
        self._reader = reader
        self._graph = Graph(index)
        self._recency = Recency(index)
        # The stage by which a signal is switched off, the column that it adds, and the signal.
        self._signals: Sequence[tuple[str, str, Callable[[Ranked, Asked], Scores]]] = (
            ("hierarchy", "judged", self._judged),
            ("smoothing", "smoothed", self._smoothed),
            ("graph", "linked", self._linked),
            ("recency", "recent", self._recent),
        )

    def rank(
        self,
        legs: Sequence[RankedList],
        weights: Mapping[str, float],
        settings: SearchSettings,
        scope: Scope,
    ) -> Ranked:
        """Order what the legs found. A single way of searching stays bare: hybrid search weighs surroundings."""
        table = fuse(legs, weights, method=settings.fusion, rrf_k=settings.rrf_k)
        table.known = self._index.columns.of(table.chunks)
        if not (there := table.known["document"] > 0).all():
            # Found a moment ago, and gone from the record since.
            table = table.kept(there)
        ranked = Ranked(table)
        if settings.search_mode == "hybrid" and len(table):
            asked = Asked(settings, weights, scope)
            for stage, column, signal in self._signals:
                if settings.uses(stage):
                    scores = signal(ranked, asked)
                    ranked.table.add(column, scores)
        return ranked

    def _judged(self, ranked: Ranked, asked: Asked) -> Scores:
        """Each chunk together with its section and its document."""
        scores, known, total = ranked.table.scores, ranked.table.known, self._index.columns.total
        documents = known["document"]
        # Sections are numbered in their documents.
        sections = (documents << 32) + known["section"]
        return judge(
            scores,
            group_evidence(scores, sections, known["section_chunks"], total),
            group_evidence(scores, documents, known["document_chunks"], total),
            section_weight=asked.weights["section"],
            document_weight=asked.weights["document"],
        )

    def _smoothed(self, ranked: Ranked, asked: Asked) -> Scores:
        """The best together with those nearest to them in meaning."""
        table = ranked.table
        order = table.best(POOL)
        chunks = table.chunks[order].tolist()
        vectors_of = self._reader.vectors(chunks)
        if len(vectors_of) < 3:
            return table.scores
        blank = np.zeros(len(next(iter(vectors_of.values()))), np.float32)
        vectors = np.concatenate([vectors_of.get(chunk, blank) for chunk in chunks]).reshape(len(chunks), -1)
        scores = table.scores.copy()
        scores[order] = smooth(
            scores[order], vectors, table.known["document_chunks"][order].astype(np.float64)
        )
        # Those below the pool stay below it.
        lowest = float(scores[order].min())
        rest = np.ones(len(scores), bool)
        rest[order] = False
        scores[rest] = np.minimum(scores[rest], lowest)
        return np.asarray(scores)

    def _linked(self, ranked: Ranked, asked: Asked) -> Scores:
        """What the best refer to and are mentioned by rises, or joins the table."""
        weight, scope = asked.weights["graph"], asked.scope
        if weight <= 0:
            return ranked.table.scores
        near = self._graph.neighbours(
            strongest(ranked.table),
            documents=scope.documents,
            passing=scope.passing,
        )
        ranked.via = near.via
        if len(near.leg):
            ranked.table = ranked.table.joined(near.leg)
        return lift(ranked.table, near.leg, weight)

    def _recent(self, ranked: Ranked, asked: Asked) -> Scores:
        """What was written lately counts a little more, where that is wanted."""
        return self._recency.favour(ranked.table, asked.settings.recency_bias)
