"""Retrieve: every way of searching that counts is asked, each gives a ranked list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TypeAlias

from pinakes.config import SearchSettings
from pinakes.config.settings import MODES
from pinakes.embedding import Embedder, Tokenizer
from pinakes.errors import StoreError
from pinakes.port.index import SearchIndex
from pinakes.search.candidates import HYBRID, KEYWORD, SEMANTIC
from pinakes.search.query.scope import Scope
from pinakes.search.query.spelling import corrected_text, find_corrections
from pinakes.search.query.understand import Query
from pinakes.search.retrieve.code import CodeLeg
from pinakes.search.retrieve.exact import ExactLeg
from pinakes.search.retrieve.keyword import ExpansionLeg, KeywordLeg
from pinakes.search.retrieve.leg import Leg, Retrieved
from pinakes.search.retrieve.native import NativeHybridLeg
from pinakes.search.retrieve.semantic import SemanticLeg

Timer: TypeAlias = Callable[[str], AbstractContextManager[None]]

# Words that need not be asked about again.
_KEPT_WORDS = 4096

LEGS: tuple[type[Leg], ...] = (ExactLeg, KeywordLeg, CodeLeg, SemanticLeg, NativeHybridLeg, ExpansionLeg)
"""The ways of searching, in the order in which they are asked."""


class Retriever:
    """Asks the legs of one index."""

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
        self._legs = [leg(index) for leg in LEGS]

    def weights(self, settings: SearchSettings, multipliers: Mapping[str, float]) -> dict[str, float]:
        """Return what each leg counts, as configured and multiplied; in a mode of its own, one alone does."""
        if settings.search_mode != HYBRID:
            return {mode: float(mode == settings.search_mode) for mode in MODES if mode != HYBRID}
        weights: dict[str, float] = {}
        for leg in self._legs:
            weight = leg.weight(settings, weights)
            if weight is not None:
                weights[leg.name] = weight * multipliers.get(leg.name, 1.0)
        return weights

    def retrieve(
        self, query: Query, scope: Scope, settings: SearchSettings, weights: Mapping[str, float], timed: Timer
    ) -> Retrieved:
        """Ask every leg that has a weight."""
        asked = Retrieved(query, scope, settings, weights, self._is_word, query.text)
        if weights[KEYWORD] > 0 or weights[SEMANTIC] > 0:
            if settings.uses("spelling"):
                with timed("spelling"):
                    asked.corrections = find_corrections(
                        query.rest, self._index.keyword, scope.languages, known=self._is_word
                    )
                    asked.text = corrected_text(query.text, asked.corrections)
            asked.idf = self._index.keyword.idf(asked.text, scope.languages)
        active = [leg for leg in self._legs if leg.active(asked)]
        replaced = {name for leg in active for name in leg.replaces}
        for leg in active:
            if leg.name not in replaced and not self._ask(leg, asked, timed):
                # What stood in for them cannot be asked: those that need no database are asked after all.
                for other in active:
                    if other.name in leg.replaces and not other.by_meaning:
                        self._ask(other, asked, timed)
        return asked

    def _ask(self, leg: Leg, asked: Retrieved, timed: Timer) -> bool:
        """Ask a leg. Where it needs a database that cannot be asked, others answer; False then, with what to say."""
        if leg.by_meaning and asked.vector is None:
            with timed("embed"):
                asked.vector = self._embedder().embed_query(asked.text)
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
        """Whether a word is one of the language, rather than a slip: the model has a token for it."""
        return len(self._tokenizer().offsets(word)) == 1
