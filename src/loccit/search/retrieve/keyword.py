"""Keyword: chunks that contain the words of the query, in any form, or words it seems to mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from loccit.config import SearchSettings
from loccit.errors import StoreError
from loccit.index.port.index import SearchIndex
from loccit.index.port.matching import DEPTH
from loccit.search.candidates import EXPANSION, KEYWORD, RankedList
from loccit.search.retrieve.leg import Leg, Retrieved, TermIdfs
from loccit.search.retrieve.native import native_keyword
from loccit.search.understand.expansion import EXPANSION_WEIGHT, added_words, expansions


class KeywordLeg(Leg):
    """Search by the words of the query."""

    name = KEYWORD

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return ``keyword_weight``."""
        return settings.keyword_weight

    def search(self, asked: Retrieved) -> RankedList:
        """Return the chunks that contain these words."""
        return _holding(self._index, asked.text, asked.idf, asked)


class ExpansionLeg(Leg):
    """Search by words that the query does not use but seems to mean."""

    name = EXPANSION

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return a share of ``keyword_weight`` if expansion is on."""
        on = settings.query_expansion_enabled and settings.uses("expansion")
        return EXPANSION_WEIGHT * settings.keyword_weight if on else None

    def search(self, asked: Retrieved) -> RankedList | None:
        """Return the chunks with the added words, which are listed in ``asked.expanded``."""
        languages, keyword = asked.scope.languages, self._index.keyword
        asked.expanded = expansions(
            asked.text,
            languages,
            keyword,
            self._index.concepts,
            asked.vector,
            k=asked.settings.query_expansion_terms,
            known=asked.is_word,
        )
        words = added_words(asked.expanded, asked.text, languages)
        if not words:
            return None
        found = _holding(self._index, words, keyword.idf(words, languages), asked)
        return replace(found, name=EXPANSION)


def _holding(index: SearchIndex, text: str, idf: TermIdfs, asked: Retrieved) -> RankedList:
    """The chunks that contain the words of a text."""
    if native := index.native_keyword:
        try:
            return native_keyword(native, idf, asked.scope)
        except StoreError as error:
            asked.do_without(error)
    full = sum(term.count * value for term, value in idf)

    def search(depth: int, documents: set[int] | None) -> RankedList:
        chunks, scores = index.keyword.search_arrays(
            text,
            languages=asked.scope.languages,
            limit=depth,
            documents=documents,
            boosts=asked.settings.boosts or None,
        )
        return RankedList(KEYWORD, chunks, scores.astype(np.float64), full=full)

    return asked.scope.ask(search, DEPTH)
