"""Choose: from the ranked candidates to those shown.

pin > headers > calibrate > refine (threshold, duplicates, MMR, limit per document) > rerank > focus, or parents
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from loccit.config import SearchSettings
from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredChunk
from loccit.search.candidates import HYBRID, KEYWORD, SEMANTIC, Candidate, Candidates, RankedList
from loccit.search.rank.signal import Ranked
from loccit.search.reader import IndexReader
from loccit.search.resolve.places import is_bare
from loccit.search.retrieve.leg import ExactHits, Retrieved
from loccit.search.select.calibrate import Evidence, calibrate
from loccit.search.select.parents import Expanded, expand_parents
from loccit.search.select.refine import Refined, refine
from loccit.search.select.snippets import Asked, Mentions, focus
from loccit.search.select.wording import says_more_than

if TYPE_CHECKING:
    from loccit.models.rerank import Reranker


_BEST = 10


def measure(candidates: Sequence[Candidate], found: Retrieved, index: SearchIndex) -> list[RankedList]:
    """Return the lists that the confidence is computed from: those found, or what was measured instead."""
    by_name = {leg.name: leg for leg in found.legs if len(leg)}
    lists = list(by_name.values())
    joined = HYBRID in by_name
    best = [candidate.chunk for candidate in candidates[:_BEST]]
    if joined and found.vector is not None and index.native_hybrid is not None:
        chunks, counts, vectors = index.vectors.passages(np.asarray(best, np.int64))
        if len(chunks):
            cosines = np.nan_to_num(np.einsum("ij,j->i", vectors, found.vector), neginf=-1.0)
            nearest = np.maximum.reduceat(cosines, np.cumsum(counts) - counts).tolist()
            floor = index.native_hybrid.floor(found.vector, found.scope.named)
            lists.append(_list(SEMANTIC, best, dict(zip(chunks.tolist(), nearest, strict=True)), floor))
    if joined or (KEYWORD in by_name and not by_name[KEYWORD].full):
        terms, values = [term for term, _ in found.idf], [value for _, value in found.idf]
        asked, full = Asked(Mentions(terms), values), sum(values)
        scores = {
            chunk: full * asked.share(stored.searched_text, stored.language)
            for chunk, stored in index.lookup.chunks(best).items()
        }
        lists.append(_list(KEYWORD, best, scores, full=full))
    return lists


def _list(
    name: str, order: Sequence[int], scores: dict[int, float], floor: float = 0.0, full: float = 0.0
) -> RankedList:
    hits = sorted(((chunk, scores[chunk]) for chunk in order if chunk in scores), key=lambda hit: -hit[1])
    found = RankedList.of(name, hits, floor)
    return RankedList(name, found.chunks, found.scores, floor, full)


# -- reorder: a reranker scores the best candidates against the query; if it fails, the order is kept ---------


@dataclass(frozen=True, slots=True)
class Reordered:
    """The candidates in their new order; ``relevance`` is the reranker's score, on its own scale."""

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
    """Let a reranker order the candidates; what the query names literally stays first."""
    from loccit.models.rerank import apply_reranker

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


# -- choose: from the ranked candidates to those shown -------------------------------------------------------


Timer: TypeAlias = Callable[[str], AbstractContextManager[None]]

_HEADER_FACTOR = 0.6
_OTHERS_FACTOR = 0.8
# Children of one parent and neighbours become one result, so more are needed than will be shown.
_CHILDREN = 2
_NEIGHBOURS = 1.5


@dataclass(frozen=True, slots=True)
class Chosen:
    """The results, best first, with their texts; ``also_in`` names other chunks that say the same.

    ``shown`` is what is shown of a chunk: the ``sentences`` that answer, whole ``chunks``, or their ``parents``.
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

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._lookup = index.lookup

    def choose(
        self,
        ranked: Ranked,
        found: Retrieved,
        timed: Timer,
        *,
        top_k: int,
        excluded: AbstractSet[int] = frozenset(),
        asked: Asked | None = None,
        reranker: Reranker | None = None,
    ) -> Chosen:
        """Run the stages after ranking; without ``asked``, long chunks are shown whole."""
        query, exact, settings = found.query, found.exact, found.settings
        reader = IndexReader(self._index)
        with timed("refine"):
            candidates = ranked.table.top(max(settings.candidates, top_k), exact.pins, described=False)
            candidates = _pinned(_preferred(candidates, ranked.table, query.preferred), exact)
            if settings.uses("headers"):
                candidates = _lower_headers(candidates, reader, top_k)
            candidates = _settle_ties(candidates, reader, 2 * top_k)
            if query.is_only_phrases and (exact.total or found.scope.filtered):
                # A literal search: what does not contain the phrase is not an answer. Nor is it one where filters
                # leave out all that does: without them it would not be shown.
                candidates = [candidate for candidate in candidates if candidate.reason]
            ranked.table.describe(candidates[:1])
            confidence, evidence = calibrate(
                candidates,
                measure(candidates, found, self._index),
                exact,
                only_a_place=is_bare(query),
                covered=_covered(candidates, reader, asked),
            )
            parents = settings.parent_retrieval_enabled and settings.uses("parents")
            asked = None if parents else asked
            wanted = _CHILDREN * top_k if parents else math.ceil(_NEIGHBOURS * top_k) if asked else top_k
            if reranker is not None:
                named = sum(candidate.pin > 0 for candidate in candidates)
                wanted = max(wanted, named + settings.rerank_top_n)
            refined = refine(candidates, settings, reader, limit=wanted)
            ranked.table.describe(refined.candidates)
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
                    reader,
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


def _covered(candidates: Sequence[Candidate], reader: IndexReader, asked: Asked | None) -> float:
    """The share of the query's words in the first candidate's text or the names of its place."""
    first = candidates[0].chunk if candidates and asked and asked.vector is None else None
    stored = reader.chunks([first]).get(first) if first is not None else None
    if stored is None or asked is None:
        return 1.0
    return asked.share(stored.searched_text, stored.language)


def _lower_headers(candidates: list[Candidate], reader: IndexReader, top_k: int) -> list[Candidate]:
    """Rank bare headings and links, which match well but say nothing, below text, unless they were named."""
    best = [candidate for candidate in candidates[: 2 * top_k] if not candidate.pin]
    read = reader.chunks([candidate.chunk for candidate in best])
    lowered = False
    for candidate in best:
        chunk = read.get(candidate.chunk)
        if chunk and (chunk.chunk_type == "header" or not says_more_than(0, chunk.content)):
            candidate.rescore("lowered", candidate.score * _HEADER_FACTOR)
            lowered = True
    if not lowered:
        return candidates
    return sorted(candidates, key=lambda item: (-item.pin, -item.score))


def _settle_ties(candidates: list[Candidate], reader: IndexReader, count: int) -> list[Candidate]:
    """Order ties among the first by file: ids only say which was indexed earlier."""
    runs = [list(run) for _, run in groupby(candidates[:count], key=lambda item: (item.pin, item.score))]
    tied = [candidate.chunk for run in runs if len(run) > 1 for candidate in run]
    if not tied:
        return candidates
    places = {chunk.id: (chunk.source_path, chunk.chunk_index) for chunk in reader.chunks(tied).values()}
    first = [
        candidate
        for run in runs
        for candidate in sorted(run, key=lambda item: places.get(item.chunk, ("", 0)))
    ]
    return first + candidates[count:]


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


def _preferred(candidates: list[Candidate], table: Candidates, named: AbstractSet[int]) -> list[Candidate]:
    """Lower what is not in the documents that the query names: these are preferred, but need not have the answer."""
    if not named:
        return candidates
    at = table.positions(
        np.fromiter((candidate.chunk for candidate in candidates), np.int64, len(candidates))
    )
    for candidate, document in zip(candidates, table.known["document"][at].tolist(), strict=True):
        if document not in named:
            candidate.rescore("named", candidate.score * _OTHERS_FACTOR)
    return sorted(candidates, key=lambda item: -item.score)


def _pinned(candidates: list[Candidate], exact: ExactHits) -> list[Candidate]:
    """Put what the query names literally first."""
    if not exact.pins:
        return candidates
    for candidate in candidates:
        candidate.pin, candidate.reason = exact.pins.get(candidate.chunk, (0.0, ""))
    fused = {candidate.chunk: position for position, candidate in enumerate(candidates)}
    return sorted(candidates, key=lambda item: (-item.pin, fused[item.chunk]))
