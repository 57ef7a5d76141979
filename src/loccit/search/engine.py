"""The engine: runs the stages of a search and times each.

understand > retrieve > rank (fuse, then one signal after another) > select > present

Each stage takes the run so far and adds to it, so a search can stop after any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from loccit.config import SearchSettings
from loccit.config.settings import TOKEN_BUDGETS
from loccit.errors import UsageError
from loccit.index.port.filters import Passing, among
from loccit.index.port.index import SearchIndex
from loccit.index.port.matching import DEPTH
from loccit.model import SearchResponse
from loccit.models.embedding import Embedder, Tokenizer
from loccit.search.candidates import EXACT, SEMANTIC
from loccit.search.present.enrich import Enrichment, locate_definitions, mark_images, name_cells, to_results
from loccit.search.present.respond import (
    NO_LIMIT,
    asked_for,
    below_threshold,
    count_tokens,
    describe_disputed,
    explain_run,
    fit_response,
    note_for,
)
from loccit.search.rank.ranker import Ranker
from loccit.search.resolve.define import Dictionary, keys_in, possible_keys
from loccit.search.resolve.places import searched, with_whole_works
from loccit.search.resolve.reference_graph import KeptReferences, ReferenceGraph
from loccit.search.retrieve.leg import ExactHits, Retrieved
from loccit.search.retrieve.legs import Retriever
from loccit.search.retrieve.missing import describe_language
from loccit.search.retrieve.printed import as_printed
from loccit.search.run import Run
from loccit.search.select.selector import Chooser, Chosen
from loccit.search.select.snippets import Asked, Mentions
from loccit.search.understand.filters import FilterHelp, allowed_documents, compile_filters
from loccit.search.understand.names import NameIndex
from loccit.search.understand.query import Query, content_words, understand
from loccit.search.understand.scope import Scope
from loccit.search.understand.spelling import describe_corrections, describe_misread
from loccit.telemetry import traced_search

if TYPE_CHECKING:
    from loccit.models.rerank import Reranker

UNDERSTAND, RETRIEVE, RANK, SELECT, PRESENT = "understand", "retrieve", "rank", "select", "present"

# People who search for nothing but a phrase want every occurrence.
_PHRASE_TOP_K = 100
# Words are analysed in the languages of most documents.
_MAX_LANGUAGES = 4


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
        self._references = KeptReferences(index)
        self._ranker = Ranker(index)
        self._chooser = Chooser(index)
        self._stages: dict[str, Callable[[Run], None]] = {
            UNDERSTAND: self._understand,
            RETRIEVE: self._retrieve,
            RANK: self._rank,
            SELECT: self._select,
            PRESENT: self._present,
        }

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that a search can stop after; ``rank`` is complete when all its parts are."""
        return UNDERSTAND, RETRIEVE, *self._ranker.stages, RANK, SELECT, PRESENT

    @traced_search
    def search(
        self,
        text: str,
        settings: SearchSettings,
        *,
        filters: Mapping[str, object] | None = None,
        token_budget: int | None = None,
        offset: int = 0,
        explain: bool = False,
        every_occurrence: bool = False,
        reranker: Reranker | None = None,
        trouble: str = "",
        until: str | None = None,
    ) -> SearchResponse:
        """Run the stages, or those up to and including ``until``, and return the response.

        ``every_occurrence`` lifts ``top_k`` for a query that is only a quoted phrase. ``trouble`` is a note to add to
        those of the stages.
        """
        if token_budget not in (None, NO_LIMIT) and not 1 <= token_budget <= max(TOKEN_BUDGETS):
            raise UsageError(
                f"token_budget must be at least 1 and at most {max(TOKEN_BUDGETS):,}, not {token_budget}."
            )
        if not 0 <= offset <= DEPTH:
            raise UsageError(f"The offset must be between 0 and {DEPTH:,}; find_all lists every match.")
        if until is not None and until not in self.stages:
            raise UsageError(f"Unknown stage {until!r}; a search has {', '.join(self.stages)}.")
        run = Run(
            text,
            settings,
            filters,
            token_budget,
            offset,
            explain=explain or until is not None,
            every_occurrence=every_occurrence,
            reranker=reranker,
            trouble=trouble,
            until=until or PRESENT,
        )
        for name, stage in self._stages.items():
            stage(run)
            if name == run.until or (name == RANK and run.until in self._ranker.stages):
                break
        if run.until != PRESENT:
            explanation = explain_run(run, self._index)
            confidence = float(explanation.get("confidence", 0.0))
            run.response = SearchResponse(
                run.query.original, settings.search_mode, [], confidence, explanation=explanation
            )
        return run.finished()

    # -- stages ----------------------------------------------------------------------------------------------

    def _understand(self, run: Run) -> None:
        with run.timed(UNDERSTAND):
            names, languages = NameIndex(self._index.names), self._languages()
            run.query = understand(
                run.text,
                names=names,
                known=lambda word: self._index.keyword.frequency(word, languages) > 0,
            )
            run.query = as_printed(run.query, self._index.lookup)
            run.query = with_whole_works(run.query, names, self._index.lookup)
            run.scope = self._scope(run.query, run.filters, names, languages)
            run.names = names
            run.weights = self._retriever.weights(run.settings) | self._ranker.weights(run.settings)

    def _retrieve(self, run: Run) -> None:
        run.found = self._retriever.retrieve(run.query, run.scope, run.settings, run.weights, run.timed)

    def _rank(self, run: Run) -> None:
        with run.timed(RANK):
            run.ranked = self._ranker.rank(run.found.legs, run.weights, run.settings, run.scope, run.until)

    def _select(self, run: Run) -> None:
        run.chosen = self._chooser.choose(
            run.ranked,
            run.found,
            run.timed,
            top_k=run.offset + _page_size(run),
            excluded=run.scope.hidden,
            asked=_asked(run.query, run.found, run.settings),
            reranker=run.reranker,
        )

    def _present(self, run: Run) -> None:
        query, settings, exact, chosen = run.query, run.settings, run.found.exact, run.chosen
        with run.timed("enrich"):
            references = self._references()
            dictionary = self._dictionary(query, chosen, references, run.scope)
            definitions = dictionary.terms_in(query.text)
            enrichment = Enrichment(
                exact.meant,
                exact.lines,
                references,
                definitions,
                asked_for(query.text, definitions, run.names, self._index.names),
                run.ranked.via,
                self._index.lookup.line_starts,
                exact.grounds,
                self._index.lookup,
                named=(query.text, *query.phrases, *(label.text for label in query.references)),
                doubtful=self._doubtful(chosen),
                hidden=run.scope.hidden,
            )
            phrases = _phrases(query, settings, exact)
            # A later page is the tail of a longer answer.
            found = to_results(chosen, phrases, enrichment, explain=run.explain)
            results = found[run.offset :]
            disputed = dictionary.disputed(
                entry for result in results for entry in result.definitions_context
            )
            results = locate_definitions(results, self._index)
            results = name_cells(mark_images(results, self._index.lookup), self._index.lookup)
        with run.timed("respond"):
            filtered = bool(run.filters or query.filters or query.excluded_filters)
            held = exact.total if query.is_only_phrases else None
            considered = held or len(run.ranked.table)
            note = note_for(
                results,
                chosen.confidence,
                before=len(found) - len(results),
                filtered=filtered,
                pending=self._index.pending if run.weights[SEMANTIC] > 0 else 0,
                about=exact.notes,
                besides=[
                    self._why_empty(query, run.filters) if filtered and not results else "",
                    below_threshold(chosen.stats, settings) if not results else "",
                    self._other_language(query, run.scope),
                    describe_misread(query.misread),
                    describe_corrections(run.found.corrections),
                    chosen.reordered.note,
                    describe_disputed(disputed),
                    run.trouble,
                    run.found.trouble or self._index.trouble,
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
                total_matches=exact.total,
                considered=considered,
                offset=run.offset,
                more=len(found) < considered and len(results) >= _page_size(run),
                explanation=explain_run(run, self._index) if run.explain else None,
            )
            run.response = fit_response(response, run.token_budget, self._count_tokens)

    # -- what the stages need ----------------------------------------------------------------------------------

    def _scope(
        self, query: Query, filters: Mapping[str, object] | None, names: NameIndex, languages: list[str]
    ) -> Scope:
        asked = compile_filters(
            [filters, query.filters], query.excluded_filters, self._index.lookup.languages
        )
        documents: set[int] | Passing | None = allowed_documents(self._index.fields, asked.documents)
        if query.references and query.called and not content_words(query.rest):
            # A place of a named document, if nothing else is asked for, is looked up there only.
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
        """The languages of most documents."""
        found = [language for language in self._index.lookup.languages() if language]
        return found[:_MAX_LANGUAGES] or ["en"]

    def _owners(self, chunks: Collection[int]) -> dict[int, int]:
        """The documents that chunks belong to."""
        documents = self._index.columns.of(np.fromiter(chunks, np.int64, len(chunks)))["document"]
        return dict(zip(chunks, documents.tolist(), strict=True))

    def _dictionary(
        self, query: Query, chosen: Chosen, references: ReferenceGraph, scope: Scope
    ) -> Dictionary:
        """Definitions of the query's terms in the documents found, and in those that they or the query name."""
        terms = self._index.terms
        keys = keys_in(query.text, terms.known(possible_keys(query.text)))
        if not keys:
            return Dictionary(())
        documents = {chosen.chunks[candidate.chunk].document for candidate in chosen.candidates}
        paths = {path for document in documents for path in references.documents_named(document)}
        named = set(query.named) | {entry.id for entry in self._index.names.at(paths).values()}
        return Dictionary(terms.by_keys(keys, documents | among(named, scope.documents), limit=0))

    def _doubtful(self, chosen: Chosen) -> set[int]:
        """Documents in the results whose own text contradicts the numbering found in them."""
        documents = {chosen.chunks[candidate.chunk].document for candidate in chosen.candidates}
        checks = self._index.lookup.self_checks(documents)
        return {document for document, check in checks.items() if check.doubtful}

    def _why_empty(self, query: Query, filters: Mapping[str, object] | None) -> str:
        help_ = FilterHelp(self._index.fields, self._index.lookup, self._index.keyword)
        return help_.explain_empty({**(filters or {}), **query.filters}, query.excluded_filters)

    def _other_language(self, query: Query, scope: Scope) -> str:
        languages = [language for language in self._index.lookup.languages() if language]
        keyword = self._index.keyword
        return describe_language(
            query.rest, languages, lambda word: keyword.frequency(word, scope.languages) > 0
        )

    def _count_tokens(self, text: str) -> int:
        return count_tokens(self._tokenizer(), text)


def _asked(query: Query, found: Retrieved, settings: SearchSettings) -> Asked | None:
    """What the sentences of long chunks are scored against; None to show chunks whole."""
    if not settings.uses("focus") or settings.search_mode == EXACT or query.is_only_phrases:
        return None
    floor = next((leg.floor for leg in found.legs if leg.name == SEMANTIC), 0.0)
    terms, values = [term for term, _ in found.idf], [value for _, value in found.idf]
    return Asked(Mentions(terms), values, found.vector, floor)


def _page_size(run: Run) -> int:
    """Return how many results are wanted; for a quoted phrase alone, all."""
    everywhere = run.every_occurrence and run.query.is_only_phrases and bool(run.found.exact.total)
    return _PHRASE_TOP_K if everywhere else run.settings.top_k


def _phrases(query: Query, settings: SearchSettings, exact: ExactHits) -> tuple[str, ...]:
    if query.phrases:
        return query.phrases
    return (query.text,) if settings.search_mode == EXACT and exact.total else ()
