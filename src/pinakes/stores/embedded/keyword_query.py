"""Builds the index's queries from terms, phrases and the documents that are allowed.

A word is as rare as the index says, whichever field it stands in: titles are few words, so that every word is rare
in them, and a common one in a title would otherwise outweigh a rare one in the text. A field's boost says how many
occurrences in the text a word in it is worth, and more occurrences add less and less, as everywhere in BM25. The
best field counts in full, the others a part.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from tantivy import Occur, Query, Schema, Searcher

from pinakes.stores.embedded.keyword_schema import DOCUMENT, EXACT, RANKED
from pinakes.text.analysis import QueryTerm, phrase_terms, query_terms

TIE_BREAKER = 0.4
"""How much the fields other than the best one add to a term's score."""

_K1 = 1.2  # tantivy's
_TEXTS = ("title", "headings", "path", "body")


def terms_query(
    schema: Schema,
    searcher: Searcher,
    terms: Sequence[QueryTerm],
    boosts: Mapping[str, float],
    tie_breaker: float = TIE_BREAKER,
) -> Query:
    """Any of the terms, each in its best field, with some credit for the others."""
    fields = {name: (_K1 + 1) * boost / (boost + _K1) for name, boost in boosts.items() if boost > 0}
    builder = _Builder(schema, searcher, fields, tie_breaker)
    return any_of([found for term in terms if (found := builder.term(term))])


def idfs(searcher: Searcher, terms: Sequence[QueryTerm]) -> list[float]:
    """What finding each of some terms once in a text of usual length is worth; a word that no text has counts most."""
    total = searcher.num_docs
    return [
        idf(total, sum(max(searcher.doc_freq(name, form) for name in _TEXTS) for form in term.forms))
        for term in terms
    ]


def idf(total: int, having: int) -> float:
    """What finding a word tells that ``having`` of ``total`` chunks have."""
    return math.log(1 + (max(total, having) - having + 0.5) / (having + 0.5))


class _Builder:
    def __init__(
        self, schema: Schema, searcher: Searcher, fields: Mapping[str, float], tie_breaker: float
    ) -> None:
        self._schema = schema
        self._searcher = searcher
        self._total = searcher.num_docs
        self._fields = fields
        self._tie_breaker = tie_breaker

    def term(self, term: QueryTerm) -> Query | None:
        """Find a term in some field, or else its parts; None when no text has any of them."""
        ways = []
        if found := self._whole(term):
            ways.append(found)
        if parts := [part for item in term.parts if (part := self.term(item))]:
            ways.append(Query.boost_query(any_of(parts), term.parts_weight))
        return _best(ways, 0.0) if ways else None

    def _whole(self, term: QueryTerm) -> Query | None:
        having = {
            (name, form): count
            for name in self._fields
            for form in (*term.forms, *term.within)
            if (count := self._searcher.doc_freq(name, form))
        }
        if not having:
            return None
        # Chunks with it in one field mostly have it in the text as well; the forms are those of other languages.
        common = sum(max(having.get((name, form), 0) for name in self._fields) for form in term.forms)
        worth = idf(self._total, common)
        by_field: dict[str, list[Query]] = {}
        for (name, form), count in having.items():
            by_field.setdefault(name, []).append(self._in_field(name, form, count, worth))
        return _best([_best(ways, 0.0) for ways in by_field.values()], self._tie_breaker)

    def _in_field(self, name: str, form: str, count: int, worth: float) -> Query:
        if name in RANKED:
            found = Query.term_query(self._schema, name, form, "freq")
            return Query.boost_query(found, self._fields[name] * worth / idf(self._total, count))
        found = Query.term_query(self._schema, name, form, "basic")
        return Query.const_score_query(found, self._fields[name] * worth)


def phrase_query(schema: Schema, words: Sequence[tuple[int, str]]) -> Query:
    """The words at these distances from one another."""
    if len(words) == 1:
        return Query.term_query(schema, EXACT, words[0][1], "freq")
    return Query.phrase_query(schema, EXACT, list(words))


def holding_query(schema: Schema, text: str, languages: Sequence[str]) -> Query | None:
    """Whatever holds a word in any of its forms, or several words in this order; None when there is none in it."""
    words = phrase_terms(text)
    terms = query_terms(text, languages)
    if not words or not terms:
        return None
    ways = [phrase_query(schema, words)]
    if len(text.split()) == 1:
        forms = terms[0].forms if len(terms) == 1 else ()
        ways += [Query.term_query(schema, name, form, "basic") for name in _TEXTS for form in forms]
    return any_of(ways)


def within(schema: Schema, query: Query, documents: Collection[int]) -> Query:
    """The same query over some documents only; scores stay as they are."""
    allowed = Query.const_score_query(Query.term_set_query(schema, DOCUMENT, list(documents)), 0.0)
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, allowed)])


def any_of(queries: Sequence[Query]) -> Query:
    """What any of the queries finds; the more of them, the better."""
    if not queries:
        return Query.empty_query()
    return (
        queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])
    )


def _best(queries: Sequence[Query], tie_breaker: float) -> Query:
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries, tie_breaker)
