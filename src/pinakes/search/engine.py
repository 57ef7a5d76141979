"""The engine: composes the stages of a search and times each.

understand > retrieve (exact, keyword, code, semantic) > rank > choose > enrich > respond
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pinakes.config import SearchSettings
from pinakes.embedding import Embedder, Tokenizer
from pinakes.errors import UsageError
from pinakes.model import SearchResponse
from pinakes.port.filters import Passing
from pinakes.port.index import SearchIndex
from pinakes.search.links.define import Dictionary, asks_for_meaning, keys_in, possible_keys
from pinakes.search.links.reference_graph import ReferenceGraph
from pinakes.search.present.defined_terms import asked_for, describe_disputed
from pinakes.search.present.enrich import Enrichment, to_results
from pinakes.search.present.explain import explain_search
from pinakes.search.present.located import locate_definitions
from pinakes.search.present.noted import mark_images, name_cells
from pinakes.search.present.respond import below_threshold, note_for
from pinakes.search.present.snippets import Asked, Mentions
from pinakes.search.present.token_budget import count_tokens, fit_response
from pinakes.search.query.filter_help import FilterHelp
from pinakes.search.query.filters import allowed_documents, compile_filters
from pinakes.search.query.names import NameIndex
from pinakes.search.query.query_intent import classify
from pinakes.search.query.scope import Scope
from pinakes.search.query.spelling import describe_corrections, describe_misread
from pinakes.search.query.understand import Query, understand
from pinakes.search.query.weights import leg_weights
from pinakes.search.rank.ranker import Ranker
from pinakes.search.retrieve.exact import ExactHits
from pinakes.search.retrieve.legs import NATIVE_HYBRID, Retrieved, Retriever
from pinakes.search.retrieve.resolve import searched
from pinakes.search.select.refine import IndexReader
from pinakes.search.select.selector import Chooser, Chosen
from pinakes.telemetry import span, traced_search

if TYPE_CHECKING:
    from pinakes.rerank import Reranker

# Asked for a phrase and nothing else, people want every occurrence.
_PHRASE_TOP_K = 100
# Definitions of each term by other documents, where a query asks what it means.
_BORROWED = 20
# Words are read in the languages that most documents are in.
_MAX_LANGUAGES = 4


class _Stopwatch:
    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._start = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        with span(name):
            yield
        self.milliseconds[name] = round((time.perf_counter() - start) * 1000, 3)

    def total(self) -> dict[str, float]:
        self.milliseconds["total"] = round((time.perf_counter() - self._start) * 1000, 3)
        return self.milliseconds


class SearchEngine:
    """Answers queries from one index."""

    def __init__(
        self,
        index: SearchIndex,
        embedder: Callable[[], Embedder],
        tokenizer: Callable[[], Tokenizer],
    ) -> None:
        self._index = index
        self._tokenizer = tokenizer
        self._retriever = Retriever(index, embedder, tokenizer)
        reader = IndexReader(index)
        self._ranker = Ranker(index, reader)
        self._chooser = Chooser(index, reader)

    @traced_search
    def search(
        self,
        text: str,
        settings: SearchSettings,
        *,
        filters: Mapping[str, object] | None = None,
        token_budget: int | None = None,
        explain: bool = False,
        every_occurrence: bool = False,
        reranker: Reranker | None = None,
        trouble: str = "",
    ) -> SearchResponse:
        """Run the stages.

        ``every_occurrence`` lifts ``top_k`` for a query that is only a quoted phrase. ``trouble`` is what the answer
        has to say besides what the stages find.
        """
        if token_budget is not None and token_budget < 1:
            raise UsageError(f"token_budget must be at least 1, not {token_budget}.")
        watch = _Stopwatch()
        with watch.stage("understand"):
            names, languages = NameIndex(self._index.names), self._languages()
            query = understand(
                text,
                names=names,
                known=lambda word: self._index.keyword.frequency(word, languages) > 0,
            )
            kind = classify(query)
            scope = self._scope(query, filters, names, languages)
        weights = leg_weights(settings, kind)
        if self._index.native_hybrid and weights["semantic"] > 0 and weights["keyword"] > 0:
            weights[NATIVE_HYBRID] = weights["semantic"] + weights["keyword"]
        found = self._retriever.retrieve(query, scope, settings, weights, watch.stage)
        with watch.stage("rank"):
            ranked = self._ranker.rank(found.legs, weights, settings, scope)
        everywhere = every_occurrence and query.is_only_phrases and bool(found.exact.total)
        top_k = _PHRASE_TOP_K if everywhere else settings.top_k
        chosen = self._chooser.choose(
            query,
            ranked,
            found.exact,
            settings,
            watch.stage,
            top_k=top_k,
            excluded=scope.hidden,
            asked=_asked(query, found, settings),
            reranker=reranker,
        )
        with watch.stage("enrich"):
            references = ReferenceGraph(self._index)
            dictionary = self._dictionary(query, chosen, references)
            definitions = dictionary.terms_in(query.text)
            enrichment = Enrichment(
                found.exact.meant,
                found.exact.lines,
                references,
                definitions,
                asked_for(query.text, definitions, names, self._index.names),
                ranked.via,
                self._index.lookup.line_starts,
                found.exact.grounds,
                self._index.lookup,
                self._doubtful(chosen),
            )
            phrases = _phrases(query, settings, found.exact)
            results = to_results(chosen, phrases, enrichment, explain=explain)
            disputed = dictionary.disputed(
                entry for result in results for entry in result.definitions_context
            )
            results = locate_definitions(results, self._index)
            results = name_cells(mark_images(results, self._index.lookup), self._index.lookup)
        with watch.stage("respond"):
            note = note_for(
                results,
                chosen.confidence,
                filtered=scope.filtered,
                pending=self._index.pending if weights["semantic"] > 0 else 0,
                about=found.exact.notes,
                besides=[
                    self._why_empty(query, filters) if scope.filtered and not results else "",
                    below_threshold(chosen.stats, settings) if not results else "",
                    describe_misread(query.misread),
                    describe_corrections(found.corrections),
                    chosen.reordered.note,
                    describe_disputed(disputed),
                    trouble,
                ],
            )
            response = SearchResponse(
                query=query.original,
                mode=settings.search_mode,
                results=results,
                confidence=chosen.confidence,
                note=note,
                term_conflicts=disputed,
                compression_stats=chosen.stats,
                total_matches=found.exact.total,
                explanation=explain_search(query, kind, found, ranked, chosen, weights, settings)
                if explain
                else None,
            )
            response = fit_response(response, token_budget, self._count_tokens)
        return replace(response, timings_ms=watch.total())

    # -- stages ----------------------------------------------------------------------------------------------

    def _scope(
        self, query: Query, filters: Mapping[str, object] | None, names: NameIndex, languages: list[str]
    ) -> Scope:
        asked = compile_filters(
            [filters, query.filters], query.excluded_filters, self._index.lookup.languages
        )
        documents: set[int] | Passing | None = allowed_documents(self._index.fields, asked.documents)
        if query.references and query.called:
            # A place of a document that is named is looked for there and nowhere else.
            within = searched(query, documents)
            documents = within if within is None or isinstance(within, Passing) else set(within)
        return Scope(
            documents,
            languages,
            names,
            texts=self._index.keyword,
            owners=self._owners,
            unwanted=[*query.excluded_words, *query.excluded_phrases],
            code=asked.code,
            other_code=asked.other_code,
        )

    def _languages(self) -> list[str]:
        """The languages that most documents are in."""
        found = [language for language in self._index.lookup.languages() if language]
        return found[:_MAX_LANGUAGES] or ["en"]

    def _owners(self, chunks: Collection[int]) -> dict[int, int]:
        """The documents of chunks."""
        documents = self._index.columns.of(np.fromiter(chunks, np.int64, len(chunks)))["document"]
        return dict(zip(chunks, documents.tolist(), strict=True))

    def _dictionary(self, query: Query, chosen: Chosen, references: ReferenceGraph) -> Dictionary:
        """What the documents of the results, and those they name, say the terms of the query mean; others, if asked."""
        terms = self._index.terms
        keys = keys_in(query.text, terms.known(possible_keys(query.text)))
        if not keys:
            return Dictionary(())
        documents = {chosen.chunks[candidate.chunk].document for candidate in chosen.candidates}
        named = {path for document in documents for path in references.documents_named(document)}
        asked = any(asks_for_meaning(query.text, key) for key in keys)
        return Dictionary(
            terms.by_keys(keys, documents | query.named, named, limit=_BORROWED if asked else 0)
        )

    def _doubtful(self, chosen: Chosen) -> set[int]:
        """The documents among the results that contradict the numbering found in them."""
        documents = {chosen.chunks[candidate.chunk].document for candidate in chosen.candidates}
        checks = self._index.lookup.self_checks(documents)
        return {document for document, check in checks.items() if check.doubtful}

    def _why_empty(self, query: Query, filters: Mapping[str, object] | None) -> str:
        help_ = FilterHelp(self._index.fields, self._index.lookup, self._index.keyword)
        return help_.explain_empty({**(filters or {}), **query.filters}, query.excluded_filters)

    def _count_tokens(self, text: str) -> int:
        return count_tokens(self._tokenizer(), text)


def _asked(query: Query, found: Retrieved, settings: SearchSettings) -> Asked | None:
    """What the sentences of long chunks are judged by; None where chunks are to be shown whole."""
    if not settings.uses("focus") or settings.search_mode == "exact" or query.is_only_phrases:
        return None
    floor = next((leg.floor for leg in found.legs if leg.name == "semantic"), 0.0)
    terms, values = [term for term, _ in found.idf], [value for _, value in found.idf]
    return Asked(Mentions(terms), values, found.vector, floor)


def _phrases(query: Query, settings: SearchSettings, exact: ExactHits) -> tuple[str, ...]:
    if query.phrases:
        return query.phrases
    return (query.text,) if settings.search_mode == "exact" and exact.total else ()
