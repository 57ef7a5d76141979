"""Weigh: how much each way of searching counts for a query."""

from __future__ import annotations

from pinakes.config import SearchSettings
from pinakes.search.query.expansion import EXPANSION_WEIGHT
from pinakes.search.query.query_intent import QueryClass


def leg_weights(settings: SearchSettings, kind: QueryClass) -> dict[str, float]:
    """Return the weights of the legs and of what surrounds a chunk: as configured, shifted by the query's class."""
    if settings.search_mode != "hybrid":
        return {name: float(name == settings.search_mode) for name in ("semantic", "keyword", "exact")}
    weights = {
        "semantic": settings.semantic_weight,
        "keyword": settings.keyword_weight,
        "exact": settings.exact_weight,
        "graph": settings.graph_weight,
        "document": settings.document_weight,
        "section": settings.section_weight,
    }
    if settings.uses("code"):
        weights["code"] = settings.code_search_weight
    if settings.query_expansion_enabled and settings.uses("expansion"):
        weights["expansion"] = EXPANSION_WEIGHT * settings.keyword_weight
    if settings.uses("adaptive_weights"):
        weights = {name: weight * kind.multipliers.get(name, 1.0) for name, weight in weights.items()}
    return weights
