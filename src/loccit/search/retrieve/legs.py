"""Retrieve: runs every leg that has a weight; each returns a ranked list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import lru_cache
from typing import TypeAlias

from loccit.config import SearchSettings
from loccit.config.settings import MODES
from loccit.errors import StoreError
from loccit.index.port.index import SearchIndex
from loccit.models.embedding import Embedder, Tokenizer
from loccit.models.embedding.protocol import Vectors
from loccit.search.candidates import HYBRID, KEYWORD, SEMANTIC
from loccit.search.retrieve.code import CodeLeg
from loccit.search.retrieve.exact import ExactLeg
from loccit.search.retrieve.keyword import ExpansionLeg, KeywordLeg
from loccit.search.retrieve.leg import Leg, Retrieved
from loccit.search.retrieve.native import NativeHybridLeg
from loccit.search.retrieve.semantic import SemanticLeg
from loccit.search.understand.query import Query
from loccit.search.understand.scope import Scope
from loccit.search.understand.spelling import corrected_text, find_corrections

Timer: TypeAlias = Callable[[str], AbstractContextManager[None]]

# Words whose lookup can be skipped.
_KEPT_WORDS = 4096

# Queries that are embedded at once; a service far away may take a second for each.
_MOST_QUERIES = 32

LEGS: tuple[type[Leg], ...] = (ExactLeg, KeywordLeg, CodeLeg, SemanticLeg, NativeHybridLeg, ExpansionLeg)
"""The legs, in the order in which they run."""


class Retriever:
    """Runs the legs on one index."""

    def __init__(
        self,
        index: SearchIndex,
        embedder: Callable[[], Embedder],
        tokenizer: Callable[[], Tokenizer],
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._is_word = lru_cache(maxsize=_KEPT_WORDS)(self._is_one_token)
        # Kept, because a new thread for each query costs more than is gained.
        self._threads = ThreadPoolExecutor(_MOST_QUERIES, thread_name_prefix="loccit-embed")
        self._legs = [leg(index) for leg in LEGS]

    def weights(self, settings: SearchSettings) -> dict[str, float]:
        """Return the weight of each leg; in a single mode, of that leg only."""
        if settings.search_mode != HYBRID:
            return {mode: float(mode == settings.search_mode) for mode in MODES if mode != HYBRID}
        weights: dict[str, float] = {}
        for leg in self._legs:
            weight = leg.weight(settings, weights)
            if weight is not None:
                weights[leg.name] = weight
        return weights

    def retrieve(
        self, query: Query, scope: Scope, settings: SearchSettings, weights: Mapping[str, float], timed: Timer
    ) -> Retrieved:
        """Run every leg that has a weight."""
        asked = Retrieved(query, scope, settings, weights, self._is_word, query.text)
        by_words = weights[KEYWORD] > 0 or weights[SEMANTIC] > 0
        if by_words and settings.uses("spelling"):
            with timed("spelling"):
                asked.corrections = find_corrections(
                    query.rest, self._index.keyword, scope.languages, known=self._is_word
                )
                asked.text = corrected_text(query.text, asked.corrections)
        active = [leg for leg in self._legs if leg.active(asked)]
        replaced = {name for leg in active for name in leg.replaces}
        by_meaning = any(leg.by_meaning for leg in active)
        embedding = self._begin_embedding(asked.text, timed) if by_meaning else None
        if by_words:
            asked.idf = self._index.keyword.idf(asked.text, scope.languages)
        for leg in active:
            if leg.name in replaced:
                continue
            if leg.by_meaning and embedding is not None:
                asked.vector = embedding.result()
            if not self._ask(leg, asked, timed):
                # The leg that replaced them is unavailable, so those that need no database run after all.
                for other in active:
                    if other.name in leg.replaces and not other.by_meaning:
                        self._ask(other, asked, timed)
        return asked

    def _begin_embedding(self, text: str, timed: Timer) -> Future[Vectors]:
        """Embed a query in another thread: the model releases the GIL, so other legs run meanwhile."""
        # Asked for here, since it may look into the index, and a thread has connections of its own to that.
        embedder = self._embedder()

        def embed() -> Vectors:
            with timed("embed"):
                return embedder.embed_query(text)

        return self._threads.submit(copy_context().run, embed)

    def _ask(self, leg: Leg, asked: Retrieved, timed: Timer) -> bool:
        """Run a leg. If it needs a database that is unavailable, note it and return False; the others answer."""
        try:
            with timed(leg.name):
                found = leg.search(asked)
        except StoreError as error:
            asked.do_without(error)
            return False
        if found is not None:
            asked.legs.append(found)
        return True

    def _is_one_token(self, word: str) -> bool:
        """Whether a word belongs to the language, rather than being misspelled: the model has a token for it."""
        return len(self._tokenizer().offsets(word)) == 1
