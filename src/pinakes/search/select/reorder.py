"""Reorder: a reranker reads the best candidates against the query; where it fails, they stay as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinakes.config import SearchSettings
from pinakes.port.rows import StoredChunk
from pinakes.search.candidates import Candidate

if TYPE_CHECKING:
    from pinakes.rerank import Reranker


@dataclass(frozen=True, slots=True)
class Reordered:
    """The candidates in their new order; ``relevance`` is what the reranker said, on its own scale."""

    candidates: list[Candidate]
    name: str = ""
    relevance: dict[int, float] = field(default_factory=dict)
    note: str = ""


def reorder(
    reranker: Reranker,
    query: str,
    candidates: Sequence[Candidate],
    chunks: Mapping[int, StoredChunk],
    settings: SearchSettings,
) -> Reordered:
    """Let a reranker put the candidates in order; what the query names literally stays first."""
    from pinakes.rerank import apply_reranker

    pinned = next((place for place, item in enumerate(candidates) if not item.pin), len(candidates))
    found = apply_reranker(
        reranker,
        query,
        [f"{chunks[item.chunk].context}\n{chunks[item.chunk].content}" for item in candidates],
        [item.score for item in candidates],
        top_n=settings.rerank_top_n,
        timeout=settings.rerank_timeout,
        keep=pinned,
    )
    ordered = [
        candidates[place].rescored("reranked", score)
        for place, score in zip(found.order, found.scores, strict=True)
    ]
    relevance = {
        item.chunk: value for item, value in zip(ordered, found.relevance, strict=True) if value is not None
    }
    return Reordered(ordered, reranker.name, relevance, found.note)
