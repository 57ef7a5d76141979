"""Rank: the lists become one order, and what surrounds a passage has its say.

Every signal adds a column to the table of candidates: fused > judged > smoothed > linked > recent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pinakes.config import SearchSettings
from pinakes.port.index import SearchIndex
from pinakes.search.candidates import HYBRID, RankedList
from pinakes.search.query.scope import Scope
from pinakes.search.rank.fuse import fuse
from pinakes.search.rank.graph import Graph
from pinakes.search.rank.hierarchy import Hierarchy
from pinakes.search.rank.recency import Recency
from pinakes.search.rank.signal import Asked, Ranked, Signal
from pinakes.search.rank.smooth import Smoothing

FUSE = "fuse"
SIGNALS: tuple[type[Signal], ...] = (Hierarchy, Smoothing, Graph, Recency)
"""What speaks for a candidate besides the lists, in the order in which it is heard."""


class Ranker:
    """Orders what the legs of one index found. Keep it between searches: signals remember what they read."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._signals = [signal(index) for signal in SIGNALS]

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of what is done, in order."""
        return (FUSE, *(signal.stage for signal in self._signals))

    def weights(self, settings: SearchSettings, multipliers: Mapping[str, float]) -> dict[str, float]:
        """Return what the signals of hybrid search count, as configured and multiplied."""
        if settings.search_mode != HYBRID:
            return {}
        found = [item for signal in self._signals for item in signal.weights(settings).items()]
        return {name: weight * multipliers.get(name, 1.0) for name, weight in found}

    def rank(
        self,
        legs: Sequence[RankedList],
        weights: Mapping[str, float],
        settings: SearchSettings,
        scope: Scope,
        until: str = "",
    ) -> Ranked:
        """Order what the legs found, or do so as far as the stage ``until``.

        A single way of searching stays bare: hybrid search weighs surroundings.
        """
        table = fuse(legs, weights, method=settings.fusion, rrf_k=settings.rrf_k)
        table.known = self._index.columns.of(table.chunks)
        if not (there := table.known["document"] > 0).all():
            # Found a moment ago, and gone from the record since.
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
