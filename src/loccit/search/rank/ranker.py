"""Rank: the lists are fused into one order, and a passage's surroundings are taken into account.

Every signal adds a column to the table of candidates: fused > judged > smoothed > linked > recent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loccit.config import SearchSettings
from loccit.index.port.index import SearchIndex
from loccit.search.candidates import HYBRID, RankedList
from loccit.search.rank.fuse import fuse, pool_of
from loccit.search.rank.graph import Graph
from loccit.search.rank.hierarchy import Hierarchy
from loccit.search.rank.recency import Recency
from loccit.search.rank.signal import Asked, Ranked, Signal
from loccit.search.rank.smooth import Smoothing
from loccit.search.understand.scope import Scope

FUSE = "fuse"
SIGNALS: tuple[type[Signal], ...] = (Hierarchy, Smoothing, Graph, Recency)
"""Ranking signals besides the lists, in the order in which they are applied."""


class Ranker:
    """Orders the hits of the legs on one index. Keep it between searches: signals cache what they read."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._signals = [signal(index) for signal in SIGNALS]

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of the steps, in order."""
        return (FUSE, *(signal.stage for signal in self._signals))

    def weights(self, settings: SearchSettings) -> dict[str, float]:
        """Return the weights of the signals of hybrid search."""
        if settings.search_mode != HYBRID:
            return {}
        return {name: weight for signal in self._signals for name, weight in signal.weights(settings).items()}

    def rank(
        self,
        legs: Sequence[RankedList],
        weights: Mapping[str, float],
        settings: SearchSettings,
        scope: Scope,
        until: str = "",
    ) -> Ranked:
        """Order the hits of the legs, or do so up to the stage ``until``.

        A single leg is left as it is: only hybrid search weighs surroundings.
        """
        pool = pool_of(legs, total=self._index.columns.total, depth=self._index.vectors.depth)
        table = fuse(legs, weights, method=settings.fusion, rrf_k=settings.rrf_k, pool=pool)
        table.known = self._index.columns.of(table.chunks)
        if not (there := table.known["document"] > 0).all():
            # Found a moment ago, but removed from the record since.
            table = table.kept(there)
        ranked = Ranked(table)
        if settings.search_mode != HYBRID or not len(table) or until == FUSE:
            return ranked
        asked = Asked(settings, weights, scope)
        for signal in self._signals:
            if settings.uses(signal.stage):
                scores = signal.scores(ranked, asked)
                ranked.table.add(signal.column, scores)
            if signal.stage == until:
                break
        return ranked
