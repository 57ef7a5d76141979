"""The engine: composes the stages of a search and times each.

understand > retrieve (exact, keyword, semantic) > fuse > refine > enrich > respond
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pinakes.config import SearchSettings
from pinakes.embedding import Embedder, Tokenizer
from pinakes.errors import UsageError
from pinakes.model import SearchResponse
from pinakes.search.candidates import Candidate, Leg
from pinakes.search.citations import Citations
from pinakes.search.corpus import CorpusCache
from pinakes.search.enrich import Enrichment, to_results
from pinakes.search.exact import ExactHits, ExactSearch
from pinakes.search.filters import allowed_documents
from pinakes.search.fuse import fuse
from pinakes.search.respond import confidence, fit_budget, note_for
from pinakes.search.strength import keyword_strength, semantic_strength, word_coverage
from pinakes.search.understand import Query, understand
from pinakes.stores.embedded.index import EmbeddedIndex

# Pinned results take the upper part of the scale, all others the lower.
_UNPINNED = 0.85
_HEADER_FACTOR = 0.6
# Asked for a phrase and nothing else, people want every occurrence.
_PHRASE_TOP_K = 100


class _Stopwatch:
    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._start = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.milliseconds[name] = round((time.perf_counter() - start) * 1000, 3)

    def total(self) -> dict[str, float]:
        self.milliseconds["total"] = round((time.perf_counter() - self._start) * 1000, 3)
        return self.milliseconds


class SearchEngine:
    """Answers queries from one index."""

    def __init__(
        self,
        index: EmbeddedIndex,
        corpora: CorpusCache,
        embedder: Callable[[], Embedder],
        tokenizer: Callable[[], Tokenizer],
    ) -> None:
        self._index = index
        self._corpora = corpora
        self._embedder = embedder
        self._tokenizer = tokenizer

    def search(
        self,
        text: str,
        settings: SearchSettings,
        *,
        filters: Mapping[str, object] | None = None,
        token_budget: int | None = None,
        explain: bool = False,
        every_occurrence: bool = False,
    ) -> SearchResponse:
        """Run the stages; ``every_occurrence`` lifts ``top_k`` for a query that is only a quoted phrase."""
        if token_budget is not None and token_budget < 1:
            raise UsageError(f"token_budget must be at least 1, not {token_budget}.")
        watch = _Stopwatch()
        with watch.stage("understand"):
            query = understand(text)
            documents = self._allowed(filters)
            corpus = self._corpora.get()
            languages = corpus.languages
        exact = ExactHits()
        legs = self._retrieve(query, settings, documents, languages, watch, exact)
        with watch.stage("fuse"):
            weights = self._scaled(_weights(settings), legs, query, languages)
            candidates = fuse(legs, weights, method=settings.fusion, rrf_k=settings.rrf_k)
        with watch.stage("refine"):
            stats = {"original_count": len(candidates)}
            candidates = self._lower_headers(_pin(candidates, exact), settings)
            if settings.min_score is not None:
                candidates = [c for c in candidates if c.score >= settings.min_score]
            stats["after_threshold"] = len(candidates)
            top_k = settings.top_k
            if query.is_only_phrases and exact.total:
                # Word for word was asked for: what does not hold the phrase is no answer.
                candidates = [candidate for candidate in candidates if candidate.reason]
                top_k = _PHRASE_TOP_K if every_occurrence else top_k
        with watch.stage("enrich"):
            candidates, chunks = self._hydrate(candidates, top_k)
            enrichment = Enrichment(
                exact.clauses,
                Citations(self._index.lookup, corpus),
                corpus.definitions.terms_in(query.text),
            )
            phrases = _phrases(query, settings, exact)
            results = to_results(candidates, chunks, phrases, enrichment, explain=explain)
        with watch.stage("respond"):
            coverage = 0.0
            if candidates and not candidates[0].reason:
                first = chunks[candidates[0].chunk]
                whole = f"{first.context}\n{first.content}"
                coverage = word_coverage(query.text, languages, whole, first.language)
            sure = confidence(candidates, coverage, missing=bool(exact.missing))
            missing = corpus.pending if weights["semantic"] > 0 else 0
            note = note_for(results, sure, filtered=bool(filters), pending=missing, missing=exact.missing)
            found = len(results)
            results, truncated = fit_budget(results, token_budget, self._count_tokens)
            if found and not results:
                note = f"{found} results were found; a budget of {token_budget} tokens is too small for one."
        return SearchResponse(
            query=query.text,
            mode=settings.search_mode,
            results=results,
            confidence=sure,
            note=note,
            compression_stats=stats,
            timings_ms=watch.total(),
            truncated=truncated,
            total_matches=exact.total,
            explanation=_explanation(query, legs, weights, settings) if explain else None,
        )

    # -- stages ----------------------------------------------------------------------------------------------

    def _retrieve(
        self,
        query: Query,
        settings: SearchSettings,
        documents: set[int] | None,
        languages: list[str],
        watch: _Stopwatch,
        exact: ExactHits,
    ) -> list[Leg]:
        mode, weights = settings.search_mode, _weights(settings)
        limit = max(settings.candidates, settings.top_k)
        legs = []
        if weights["exact"] > 0:
            with watch.stage("exact"):
                # Made anew each time: the keyword index may have been rebuilt since.
                search = ExactSearch(self._index.lookup, self._index.keyword)
                search.search(exact, query, limit=limit, documents=documents, alone=mode == "exact")
                legs.append(Leg("exact", exact.hits))
        if weights["keyword"] > 0:
            with watch.stage("keyword"):
                hits = self._index.keyword.search(
                    query.text,
                    languages=languages,
                    limit=limit,
                    documents=documents,
                    boosts=settings.boosts or None,
                )
                legs.append(Leg("keyword", hits))
        if weights["semantic"] > 0 and len(self._index.vectors.snapshot.rows):
            with watch.stage("embed"):
                vector = self._embedder().embed_query(query.text)
            with watch.stage("semantic"):
                legs.append(Leg("semantic", self._index.vectors.search(vector, limit, documents)))
        return legs

    def _scaled(
        self, weights: dict[str, float], legs: list[Leg], query: Query, languages: list[str]
    ) -> dict[str, float]:
        """Give each leg as much say as it knows something."""
        scaled = dict(weights)
        if sum(bool(leg.hits) for leg in legs) < 2:
            return scaled
        for leg in legs:
            best = self._index.lookup.chunks([leg.hits[0][0]]).get(leg.hits[0][0]) if leg.hits else None
            if best is None:
                continue
            if leg.name == "semantic":
                scaled["semantic"] *= semantic_strength(leg)
            elif leg.name == "keyword":
                whole = f"{best.context}\n{best.content}"
                scaled["keyword"] *= keyword_strength(query.text, languages, whole, best.language)
        return scaled

    def _lower_headers(self, candidates: list[Candidate], settings: SearchSettings) -> list[Candidate]:
        """Let bare headings, which match well and say little, give way to text; not where they were named."""
        best = candidates[: 2 * settings.top_k]
        headers = self._index.lookup.headers([candidate.chunk for candidate in best if not candidate.pin])
        for candidate in best:
            if candidate.chunk in headers:
                candidate.score *= _HEADER_FACTOR
        return sorted(candidates, key=lambda item: (-item.pin, -item.score))

    def _hydrate(self, candidates: list[Candidate], top_k: int) -> tuple[list[Candidate], dict[int, Any]]:
        """Read the best chunks from the record; those that are gone from it make room for the next."""
        kept: list[Candidate] = []
        chunks: dict[int, Any] = {}
        position = 0
        while len(kept) < top_k and position < len(candidates):
            batch = candidates[position : position + top_k - len(kept)]
            position += len(batch)
            found = self._index.lookup.chunks([candidate.chunk for candidate in batch])
            chunks.update(found)
            kept += [candidate for candidate in batch if candidate.chunk in found]
        return kept, chunks

    # -- what the stages need --------------------------------------------------------------------------------

    def _allowed(self, filters: Mapping[str, object] | None) -> set[int] | None:
        return allowed_documents(self._index.lookup.documents(), filters) if filters else None

    def _count_tokens(self, text: str) -> int:
        return len(self._tokenizer().offsets(text))


def _weights(settings: SearchSettings) -> dict[str, float]:
    if settings.search_mode != "hybrid":
        return {name: float(name == settings.search_mode) for name in ("semantic", "keyword", "exact")}
    return {
        "semantic": settings.semantic_weight,
        "keyword": settings.keyword_weight,
        "exact": settings.exact_weight,
    }


def _pin(candidates: list[Candidate], exact: ExactHits) -> list[Candidate]:
    """Put what the query names literally first."""
    for candidate in candidates:
        pin, reason = exact.pins.get(candidate.chunk, (0.0, ""))
        candidate.pin, candidate.reason = pin, reason
        candidate.score = min(1.0, _UNPINNED + (1 - _UNPINNED) * pin) if pin else _UNPINNED * candidate.score
    fused = {candidate.chunk: position for position, candidate in enumerate(candidates)}
    return sorted(candidates, key=lambda item: (-item.pin, fused[item.chunk]))


def _phrases(query: Query, settings: SearchSettings, exact: ExactHits) -> tuple[str, ...]:
    if query.phrases:
        return query.phrases
    return (query.text,) if settings.search_mode == "exact" and exact.total else ()


def _explanation(
    query: Query, legs: list[Leg], weights: Mapping[str, float], settings: SearchSettings
) -> dict[str, Any]:
    return {
        "phrases": list(query.phrases),
        "references": [{"text": label.text, "section_id": label.section_id} for label in query.references],
        "fusion": settings.fusion,
        "rrf_k": settings.rrf_k,
        "legs": [
            {"name": leg.name, "weight": weights[leg.name], "found": len(leg.hits), "best": leg.hits[:3]}
            for leg in legs
        ],
    }
