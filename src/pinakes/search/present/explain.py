"""Explain: what each stage of a search did, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pinakes.config import SearchSettings
from pinakes.search.query.query_intent import QueryClass
from pinakes.search.query.understand import Query
from pinakes.search.rank.ranker import Ranked
from pinakes.search.retrieve.legs import Retrieved
from pinakes.search.select.selector import Chosen


def explain_search(
    query: Query,
    kind: QueryClass,
    found: Retrieved,
    ranked: Ranked,
    chosen: Chosen,
    weights: Mapping[str, float],
    settings: SearchSettings,
) -> dict[str, Any]:
    """Say how a query was read, what each leg found and counted, and what decided about the confidence."""
    return {
        "searched_for": query.text,
        "class": kind.kind,
        "class_reasons": list(kind.reasons),
        "phrases": list(query.phrases),
        "references": [{"text": label.text, "section_id": label.section_id} for label in query.references],
        "filters": query.filters,
        "excluded": [*query.excluded_words, *query.excluded_phrases, *query.excluded_filters],
        "corrections": {item.word: item.replacement for item in found.corrections},
        "expansion": [item.term for item in found.expanded],
        "fusion": settings.fusion,
        "rrf_k": settings.rrf_k,
        "weights": {name: round(weight, 4) for name, weight in weights.items()},
        "disabled": list(settings.disabled),
        "candidates": len(ranked.table),
        "legs": [
            {"name": leg.name, "weight": weights[leg.name], "found": len(leg), "best": leg.best(3)}
            for leg in found.legs
        ],
        "evidence": asdict(chosen.evidence),
        "reranker": chosen.reordered.name,
        "shown": chosen.shown,
    }
