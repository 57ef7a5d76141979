"""The query for code: chunks whose code holds the names that a question mentions."""

from __future__ import annotations

from tantivy import Occur, Query, Schema, Searcher

from pinakes.stores.embedded.keyword_query import any_of, idf
from pinakes.stores.embedded.keyword_schema import CODE, CODE_LANGUAGE, CODE_PARTS
from pinakes.text.code_query import CodeQuery
from pinakes.text.code_terms import CodeTerm

_AGAIN = 0.5  # how often a name occurs, beside that it occurs at all
_OTHER_STYLE = 0.7  # ``get_user`` for ``getUser``
_PART = 0.15  # a word of a name that was asked for
_OPERATOR = 0.3
_WORD = 0.3  # a word of the question, among the names of the code
_WORD_IN_NAME = 0.15


def code_query(schema: Schema, searcher: Searcher, asked: CodeQuery, language: str = "") -> Query:
    """Names in full above all, then in parts, then the other words; in one language when it is given."""
    names = [way for name in asked.names for way in _name(schema, searcher, name)]
    if not names:
        return Query.empty_query()
    words = [
        Query.boost_query(Query.term_query(schema, field, word, "freq"), weight)
        for word in asked.words
        for field, weight in ((CODE, _WORD), (CODE_PARTS, _WORD_IN_NAME))
        if searcher.doc_freq(field, word)
    ]
    # Words alone are no reason to be found: every program has a "count" and a "list".
    found = Query.boolean_query([(Occur.Must, any_of(names)), *((Occur.Should, word) for word in words)])
    if not language:
        return found
    in_language = Query.const_score_query(Query.term_query(schema, CODE_LANGUAGE, language, "basic"), 0.0)
    return Query.boolean_query([(Occur.Must, found), (Occur.Must, in_language)])


def _name(schema: Schema, searcher: Searcher, name: CodeTerm) -> list[Query]:
    ways: list[Query] = []
    for text, weight in _spellings(name).items():
        if count := searcher.doc_freq(CODE, text):
            term = Query.term_query(schema, CODE, text, "freq")
            ways.append(Query.const_score_query(term, weight * idf(searcher.num_docs, count)))
            ways.append(Query.boost_query(term, weight * _AGAIN))
    if not name.operator:
        ways += _within_names(schema, searcher, name.text)
        inner = [_within_names(schema, searcher, part, CODE) for part in name.parts]
        if inner and all(inner):
            # One word of a name is in many others: only all of them together mean it.
            ways.append(Query.boolean_query([(Occur.Must, any_of(part)) for part in inner]))
    return ways


def _within_names(schema: Schema, searcher: Searcher, word: str, *more: str) -> list[Query]:
    """A word as a part of names, and in ``more`` fields."""
    return [
        Query.boost_query(Query.term_query(schema, field, word, "freq"), _PART)
        for field in (CODE_PARTS, *more)
        if searcher.doc_freq(field, word)
    ]


def _spellings(name: CodeTerm) -> dict[str, float]:
    """The name as written, and in the other style: with underscores, or without."""
    if name.operator:
        return {name.text: _OPERATOR}
    others = (joint.join(name.parts) for joint in ("_", "", "-")) if len(name.parts) > 1 else ()
    return {**dict.fromkeys(others, _OTHER_STYLE), name.text: 1.0}
