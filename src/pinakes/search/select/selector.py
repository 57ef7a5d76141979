"""Choose: from the ranked candidates to those that are shown.

pin > headers > calibrate > refine (threshold, duplicates, MMR, limit per document) > rerank > focus, or parents
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pinakes.config import SearchSettings
from pinakes.port.index import SearchIndex
from pinakes.port.rows import StoredChunk
from pinakes.search.candidates import Candidate
from pinakes.search.present.snippets import Asked, focus
from pinakes.search.query.understand import Query, content_words
from pinakes.search.rank.ranker import Ranked
from pinakes.search.retrieve.exact import ExactHits
from pinakes.search.select.calibrate import Evidence, calibrate
from pinakes.search.select.refine import IndexReader, Refined, expand_parents, refine
from pinakes.search.select.refine.parents import Expanded
from pinakes.search.select.reorder import Reordered, reorder

if TYPE_CHECKING:
    from pinakes.rerank import Reranker

Timer: TypeAlias = Callable[[str], AbstractContextManager[None]]

_HEADER_FACTOR = 0.6
# Children of one parent and neighbours become one result, so more are wanted than will be shown.
_CHILDREN = 2
_NEIGHBOURS = 1.5


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is shown, best first, with its texts; ``also_in`` names other chunks that say the same.

    ``shown`` says how much of a chunk: ``sentences`` that answer, whole ``chunks``, or their ``parents``.
    """

    candidates: list[Candidate]
    chunks: Mapping[int, StoredChunk]
    also_in: Mapping[int, list[StoredChunk]]
    stats: dict[str, int]
    confidence: float
    evidence: Evidence
    reordered: Reordered
    members: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    shown: str = "chunks"


class Chooser:
    """Chooses from the candidates of one index."""

    def __init__(self, index: SearchIndex, reader: IndexReader) -> None:
        self._index = index
        self._lookup = index.lookup
        self._reader = reader

    def choose(
        self,
        query: Query,
        ranked: Ranked,
        exact: ExactHits,
        settings: SearchSettings,
        timed: Timer,
        *,
        top_k: int,
        excluded: AbstractSet[int] = frozenset(),
        asked: Asked | None = None,
        reranker: Reranker | None = None,
    ) -> Chosen:
        """Run the stages after ranking; without ``asked``, long chunks are shown whole."""
        with timed("refine"):
            candidates = ranked.table.top(max(settings.candidates, top_k), always=exact.pins)
            candidates = _pinned(candidates, exact)
            if settings.uses("headers"):
                candidates = self._lower_headers(candidates, top_k)
            if query.is_only_phrases and exact.total:
                # Word for word was asked for: what does not hold the phrase is no answer.
                candidates = [candidate for candidate in candidates if candidate.reason]
            confidence, evidence = calibrate(
                candidates,
                ranked.table.lists,
                exact,
                only_a_place=not content_words(query.rest),
                covered=self._covered(candidates, asked),
            )
            parents = settings.parent_retrieval_enabled and settings.uses("parents")
            asked = None if parents else asked
            wanted = _CHILDREN * top_k if parents else math.ceil(_NEIGHBOURS * top_k) if asked else top_k
            if reranker is not None:
                named = sum(candidate.pin > 0 for candidate in candidates)
                wanted = max(wanted, named + settings.rerank_top_n)
            refined = refine(candidates, settings, self._reader, limit=wanted)
        reordered = Reordered(refined.candidates)
        if reranker is not None:
            with timed("rerank"):
                reordered = reorder(reranker, query.text, refined.candidates, refined.chunks, settings)
        with timed("focus" if asked else "parents"):
            if asked:
                expanded = focus(
                    reordered.candidates,
                    refined.chunks,
                    asked,
                    self._reader,
                    self._lookup,
                    threshold=settings.focus_threshold,
                    limit=top_k,
                )
            else:
                expanded = expand_parents(
                    reordered.candidates,
                    refined.chunks,
                    settings,
                    self._lookup,
                    limit=top_k,
                    hidden=excluded,
                )
        shown = "sentences" if asked else "parents" if parents else "chunks"
        return _chosen(expanded, refined, reordered, confidence, evidence, shown)

    def _covered(self, candidates: Sequence[Candidate], asked: Asked | None) -> float:
        """Which share of the query's words the first candidate has, in its text or the names of where it stands."""
        first = candidates[0].chunk if candidates and asked and asked.vector is None else None
        stored = self._lookup.chunks([first]).get(first) if first is not None else None
        if stored is None or asked is None:
            return 1.0
        text = " ".join([stored.document_title, *stored.parent_chain, stored.context, stored.content])
        return asked.share(text, stored.language)

    def _lower_headers(self, candidates: list[Candidate], top_k: int) -> list[Candidate]:
        """Let bare headings, which match well and say little, give way to text; not where they were named."""
        best = candidates[: 2 * top_k]
        chunks = np.fromiter((candidate.chunk for candidate in best), np.int64, len(best))
        for candidate, header in zip(best, self._index.columns.of(chunks)["header"].tolist(), strict=True):
            if header and not candidate.pin:
                candidate.rescore("lowered", candidate.score * _HEADER_FACTOR)
        return sorted(candidates, key=lambda item: (-item.pin, -item.score))


def _chosen(
    expanded: Sequence[Expanded],
    refined: Refined,
    reordered: Reordered,
    confidence: float,
    evidence: Evidence,
    shown: str,
) -> Chosen:
    also_in = {
        item.candidate.chunk: [
            refined.chunks[duplicate]
            for chunk in (item.candidate.chunk, *item.merged)
            for duplicate in refined.also_in.get(chunk, ())
        ]
        for item in expanded
    }
    return Chosen(
        [item.candidate for item in expanded],
        {item.candidate.chunk: item.chunk for item in expanded},
        also_in,
        {**refined.stats, "after_parents": len(expanded)},
        confidence,
        evidence,
        reordered,
        {item.candidate.chunk: item.chunk_ids for item in expanded},
        shown,
    )


def _pinned(candidates: list[Candidate], exact: ExactHits) -> list[Candidate]:
    """Put what the query names literally first."""
    for candidate in candidates:
        candidate.pin, candidate.reason = exact.pins.get(candidate.chunk, (0.0, ""))
    fused = {candidate.chunk: position for position, candidate in enumerate(candidates)}
    return sorted(candidates, key=lambda item: (-item.pin, fused[item.chunk]))
