"""Retrieve: every way of searching is asked, each gives a leg.

exact (what the query names), keyword, code, semantic; and keyword again for words that the query does not use but
seems to mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from pinakes.config import SearchSettings
from pinakes.embedding import Embedder, Tokenizer
from pinakes.embedding.protocol import Vectors
from pinakes.port.index import SearchIndex
from pinakes.port.matching import DEPTH
from pinakes.search.candidates import RankedList
from pinakes.search.query.expansion import Expansion, added_words, expansions
from pinakes.search.query.scope import Scope
from pinakes.search.query.spelling import Correction, corrected_text, find_corrections
from pinakes.search.query.understand import Query
from pinakes.search.retrieve.exact import ExactHits, ExactSearch
from pinakes.text.query_terms import QueryTerm

TermIdfs: TypeAlias = list[tuple[QueryTerm, float]]
Timer: TypeAlias = Callable[[str], AbstractContextManager[None]]

# The leg of a database that joins words and meaning itself.
NATIVE_HYBRID = "hybrid"


@dataclass(slots=True)
class Retrieved:
    """What the legs found, and how the query was read for them: its terms, with what each is worth, and its vector."""

    legs: list[RankedList] = field(default_factory=list)
    exact: ExactHits = field(default_factory=ExactHits)
    corrections: tuple[Correction, ...] = ()
    expanded: list[Expansion] = field(default_factory=list)
    idf: TermIdfs = field(default_factory=list)
    vector: Vectors | None = None


class Retriever:
    """Asks the legs of one index."""

    def __init__(
        self, index: SearchIndex, embedder: Callable[[], Embedder], tokenizer: Callable[[], Tokenizer]
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._tokenizer = tokenizer

    def retrieve(
        self, query: Query, scope: Scope, settings: SearchSettings, weights: Mapping[str, float], timed: Timer
    ) -> Retrieved:
        """Ask every leg that has a weight."""
        found = Retrieved()
        text = query.text
        if settings.uses("spelling") and (weights["keyword"] > 0 or weights["semantic"] > 0):
            with timed("spelling"):
                found.corrections = find_corrections(
                    query.rest, self._index.keyword, scope.languages, known=self._is_word
                )
                text = corrected_text(query.text, found.corrections)
        if weights["keyword"] > 0 or weights["semantic"] > 0:
            found.idf = self._index.keyword.idf(text, scope.languages)
        if weights["exact"] > 0:
            with timed("exact"):
                self._exact(found, query, scope, settings)
        fused = self._index.native_hybrid if weights.get(NATIVE_HYBRID, 0.0) > 0 else None
        if weights["keyword"] > 0 and not fused:
            with timed("keyword"):
                found.legs.append(self._keyword(found.idf, text, scope, settings))
        if weights.get("code", 0.0) > 0:
            with timed("code"):
                found.legs.append(
                    scope.ask(
                        lambda depth, documents: RankedList.of(
                            "code",
                            self._index.keyword.search_code(query.text, limit=depth, documents=documents),
                        ),
                        DEPTH,
                    )
                )
        if weights["semantic"] > 0 and not self._index.vectors.empty:
            with timed("embed"):
                vector = found.vector = self._embedder().embed_query(text)
            if fused:
                with timed(NATIVE_HYBRID):
                    ask = partial(
                        fused.hybrid, vector, _forms(found.idf), (weights["semantic"], weights["keyword"])
                    )
                    found.legs.append(
                        scope.ask(
                            lambda depth, documents: RankedList(NATIVE_HYBRID, *ask(depth, documents)),
                            self._index.vectors.depth,
                        )
                    )
            else:
                with timed("semantic"):
                    vectors = self._index.vectors
                    found.legs.append(
                        scope.ask(
                            lambda depth, documents: RankedList(
                                "semantic", *vectors.search(vector, depth, documents)
                            ),
                            vectors.depth,
                        )
                    )
        if weights.get("expansion", 0.0) > 0:
            with timed("expansion"):
                self._expand(found, text, scope, settings)
        return found

    def _exact(self, found: Retrieved, query: Query, scope: Scope, settings: SearchSettings) -> None:
        # Made anew each time: the keyword index may have been rebuilt since.
        search = ExactSearch(self._index.lookup, self._index.keyword, scope.names)
        limit = max(settings.candidates, settings.top_k)
        alone = settings.search_mode == "exact"
        search.search(found.exact, query, limit=limit, documents=scope.documents, alone=alone)
        found.legs.append(scope.keep(RankedList.of("exact", found.exact.hits)))

    def _keyword(self, idf: TermIdfs, text: str, scope: Scope, settings: SearchSettings) -> RankedList:
        if native := self._index.native_keyword:
            ask = partial(native.keyword, _forms(idf))
            return scope.ask(lambda depth, documents: RankedList("keyword", *ask(depth, documents)), DEPTH)
        full = sum(value for _, value in idf)

        def leg(depth: int, documents: set[int] | None) -> RankedList:
            chunks, scores = self._index.keyword.search_arrays(
                text,
                languages=scope.languages,
                limit=depth,
                documents=documents,
                boosts=settings.boosts or None,
            )
            return RankedList("keyword", chunks, scores.astype(np.float64), full=full)

        return scope.ask(leg, DEPTH)

    def _expand(self, found: Retrieved, text: str, scope: Scope, settings: SearchSettings) -> None:
        found.expanded = expansions(
            text,
            scope.languages,
            self._index.keyword,
            self._index.concepts,
            found.vector,
            k=settings.query_expansion_terms,
            known=self._is_word,
        )
        if words := added_words(found.expanded, text, scope.languages):
            idf = self._index.keyword.idf(words, scope.languages)
            found.legs.append(replace(self._keyword(idf, words, scope, settings), name="expansion"))

    def _is_word(self, word: str) -> bool:
        """Whether a word is one of the language, rather than a slip: the model has a token for it."""
        return len(self._tokenizer().offsets(word)) == 1


def _forms(idf: TermIdfs) -> list[str]:
    """The words of a query in every form that an index may have them in."""
    terms = [term for term, _ in idf]
    terms += [part for term in terms for part in term.parts]
    return list(dict.fromkeys(form for term in terms for form in (*term.forms, *term.within)))
