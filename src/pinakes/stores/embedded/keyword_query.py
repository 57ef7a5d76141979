"""Builds the index's queries from terms, phrases and the documents that are allowed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tantivy import Occur, Query, Schema

from pinakes.stores.embedded.keyword_schema import DOCUMENT, EXACT
from pinakes.text.analysis import QueryTerm

TIE_BREAKER = 0.5
"""How much the fields other than the best one add to a term's score."""


def terms_query(
    schema: Schema, terms: Sequence[QueryTerm], boosts: Mapping[str, float], tie_breaker: float = TIE_BREAKER
) -> Query:
    """Any of the terms, each in its best field, with some credit for the others."""
    fields = [(name, boost) for name, boost in boosts.items() if boost > 0]
    return _any([_term(schema, term, fields, tie_breaker) for term in terms])


def _term(schema: Schema, term: QueryTerm, fields: Sequence[tuple[str, float]], tie_breaker: float) -> Query:
    found = _best([_in_field(schema, name, boost, term) for name, boost in fields], tie_breaker)
    if not term.parts:
        return found
    parts = _any([_term(schema, part, fields, tie_breaker) for part in term.parts])
    return _best([found, Query.boost_query(parts, term.parts_weight)], 0.0)


def _in_field(schema: Schema, name: str, boost: float, term: QueryTerm) -> Query:
    forms = _best([Query.term_query(schema, name, form, "freq") for form in term.forms], 0.0)
    return forms if boost == 1.0 else Query.boost_query(forms, boost)


def phrase_query(schema: Schema, words: Sequence[tuple[int, str]]) -> Query:
    """The words at these distances from one another."""
    if len(words) == 1:
        return Query.term_query(schema, EXACT, words[0][1], "freq")
    return Query.phrase_query(schema, EXACT, list(words))


def within(schema: Schema, query: Query, documents: Collection[int]) -> Query:
    """The same query over some documents only; scores stay as they are."""
    allowed = Query.const_score_query(Query.term_set_query(schema, DOCUMENT, list(documents)), 0.0)
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, allowed)])


def _any(queries: Sequence[Query]) -> Query:
    return (
        queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])
    )


def _best(queries: Sequence[Query], tie_breaker: float) -> Query:
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries, tie_breaker)
