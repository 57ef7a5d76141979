"""Builds queries from terms, phrases, code and the documents allowed; finds words with similar spelling.

The IDF of a word is the same in all fields: titles have few words, so every word is rare in them, and a common one in a
title would otherwise outweigh a rare one in the text. A field's boost says how many occurrences in the text one in the
field is worth, and further occurrences add less and less, as usual in BM25. The best field counts in full, the others
in part.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import tantivy
from numpy.typing import NDArray
from tantivy import Occur, Query, Schema, Searcher

from loccit.grammar.text.analysis import QueryTerm, phrase_terms, query_terms
from loccit.grammar.text.code_terms import CodeQuery, CodeTerm
from loccit.index.folder.keyword_schema import CODE, CODE_LANGUAGE, CODE_PARTS, DOCUMENT, EXACT, RANKED

TIE_BREAKER = 0.4
"""The share that fields other than the best one add to a term's score."""

_K1 = 1.2  # tantivy's
_TEXTS = ("title", "headings", "path", "body")


# Words whose counts are cached while the index is unchanged.
_KEPT_COUNTS = 50_000


class Counts:
    """The number of chunks in one state of the index, and of those with a term in a field.

    Lookups are cached: a search needs each of its words several times, and the next search many of the same.
    """

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._known: dict[tuple[str, str], int] = {}
        self.total: int = int(searcher.num_docs)

    def having(self, field: str, term: str) -> int:
        """How many chunks have a term in a field."""
        count = self._known.get((field, term))
        if count is None:
            if len(self._known) >= _KEPT_COUNTS:
                self._known.clear()
            count = self._known[field, term] = int(self._searcher.doc_freq(field, term))
        return count


def terms_query(
    schema: Schema,
    counts: Counts,
    terms: Sequence[QueryTerm],
    boosts: Mapping[str, float],
    tie_breaker: float = TIE_BREAKER,
) -> Query:
    """Any of the terms, each in its best field, with partial credit for the others."""
    fields = {name: (_K1 + 1) * boost / (boost + _K1) for name, boost in boosts.items() if boost > 0}
    builder = _Builder(schema, counts, fields, tie_breaker)
    return any_of([found for term in terms if (found := builder.term(term))])


def idfs(counts: Counts, terms: Sequence[QueryTerm]) -> list[float]:
    """The IDF of each term; a word that no text contains has the highest."""
    return [
        idf(counts.total, sum(max(counts.having(name, form) for name in _TEXTS) for form in term.forms))
        for term in terms
    ]


def idf(total: int, having: int) -> float:
    """The IDF of a word that ``having`` of ``total`` chunks contain."""
    return math.log(1 + (max(total, having) - having + 0.5) / (having + 0.5))


class _Builder:
    def __init__(
        self, schema: Schema, counts: Counts, fields: Mapping[str, float], tie_breaker: float
    ) -> None:
        self._schema = schema
        self._counts = counts
        self._total = counts.total
        self._fields = fields
        self._tie_breaker = tie_breaker

    def term(self, term: QueryTerm) -> Query | None:
        """Match a term in any field, or else its parts; None if no text contains any of them."""
        ways = []
        if found := self._whole(term):
            ways.append(found)
        if parts := [part for item in term.parts if (part := self.term(item))]:
            ways.append(Query.boost_query(any_of(parts), term.parts_weight))
        if not ways:
            return None
        return _best(ways, 0.0) if term.count == 1 else Query.boost_query(_best(ways, 0.0), float(term.count))

    def _whole(self, term: QueryTerm) -> Query | None:
        having = {
            (name, form): count
            for name in self._fields
            for form in (*term.forms, *term.within)
            if (count := self._counts.having(name, form))
        }
        if not having:
            return None
        # Chunks with it in one field mostly have it in the text as well; the forms are those of other
        # languages.
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
    """Whatever contains a word in any of its forms, or several words in this order; None if there are no words."""
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
    """The same query over some documents only, with unchanged scores."""
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


_AGAIN = 0.5  # how often a name occurs, beside that it occurs at all
_OTHER_STYLE = 0.7  # ``get_user`` for ``getUser``
_PART = 0.15  # a word of a name that was asked for
_OPERATOR = 0.3
_WORD = 0.3  # a word of the question, among the names of the code
_WORD_IN_NAME = 0.15


def code_query(schema: Schema, counts: Counts, asked: CodeQuery, language: str = "") -> Query:
    """Whole identifiers first, then their parts, then the other words; in one language if it is given."""
    names = [way for name in asked.names for way in _name(schema, counts, name)]
    if not names:
        return Query.empty_query()
    words = [
        Query.boost_query(Query.term_query(schema, field, word, "freq"), weight)
        for word in asked.words
        for field, weight in ((CODE, _WORD), (CODE_PARTS, _WORD_IN_NAME))
        if counts.having(field, word)
    ]
    # Words alone are not enough: every program has a "count" and a "list".
    found = Query.boolean_query([(Occur.Must, any_of(names)), *((Occur.Should, word) for word in words)])
    if not language:
        return found
    in_language = Query.const_score_query(Query.term_query(schema, CODE_LANGUAGE, language, "basic"), 0.0)
    return Query.boolean_query([(Occur.Must, found), (Occur.Must, in_language)])


def _name(schema: Schema, counts: Counts, name: CodeTerm) -> list[Query]:
    ways: list[Query] = []
    for text, weight in _spellings(name).items():
        if count := counts.having(CODE, text):
            term = Query.term_query(schema, CODE, text, "freq")
            ways.append(Query.const_score_query(term, weight * idf(counts.total, count)))
            ways.append(Query.boost_query(term, weight * _AGAIN))
    if not name.operator:
        ways += _within_names(schema, counts, name.text)
        inner = [_within_names(schema, counts, part, CODE) for part in name.parts]
        if inner and all(inner):
            # One word of an identifier is in many others: only all of them together mean it.
            ways.append(Query.boolean_query([(Occur.Must, any_of(part)) for part in inner]))
    return ways


def _within_names(schema: Schema, counts: Counts, word: str, *more: str) -> list[Query]:
    """A word as a part of identifiers, and in ``more`` fields."""
    return [
        Query.boost_query(Query.term_query(schema, field, word, "freq"), _PART)
        for field in (CODE_PARTS, *more)
        if counts.having(field, word)
    ]


def _spellings(name: CodeTerm) -> dict[str, float]:
    """The identifier as written, and in the other style: with underscores, or without."""
    if name.operator:
        return {name.text: _OPERATOR}
    others = (joint.join(name.parts) for joint in ("_", "", "-")) if len(name.parts) > 1 else ()
    return {**dict.fromkeys(others, _OTHER_STYLE), name.text: 1.0}


_TWO_EDITS_FROM = 8  # letters; in shorter words two edits make another word
_LONGEST = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def similar_words(searcher: tantivy.Searcher, word: str, limit: int) -> list[tuple[str, int]]:
    """Words one or two edits away with the number of chunks that contain them: closest first, then most frequent."""
    if not 2 <= len(word) <= _LONGEST or limit < 1:
        return []
    allowed = 2 if len(word) >= _TWO_EDITS_FROM else 1
    found = _nearby(searcher, word, allowed)
    words = [
        text
        for text in found
        if text != word and abs(len(text) - len(word)) <= allowed and text.isalnum() and not text.isdigit()
    ]
    distances = edit_distances(word, words)
    near = [
        (int(distance), -found[text], text)
        for text, distance in zip(words, distances, strict=True)
        if distance <= allowed
    ]
    return [(text, -count) for _, count, text in sorted(near)[:limit]]


def _nearby(searcher: tantivy.Searcher, word: str, allowed: int) -> dict[str, int]:
    """Dictionary ranges where similar words may be, with counts.

    The first letter is seldom wrong, so all words with it are compared; of words with another first letter, only those
    made by the commonest typing errors are looked up.
    """
    slices = {word[0]} if word[0] == word[1] else {word[0], word[1] + word[0]}
    found = {text: count for start in slices for text, count in searcher.terms_with_prefix(EXACT, start)}
    others = [word[1:]]
    if word.isascii():
        others += [letter + rest for letter in _LETTERS for rest in (word, word[1:])]
    for text in others:
        if text not in found and (count := searcher.doc_freq(EXACT, text)):
            found[text] = count
    return found


def edit_distances(word: str, others: Sequence[str]) -> NDArray[np.int16]:
    """The edit distance (with transpositions) from a word to each of the others.

    One table for all of them at once: Python alone would take a hundred times as long.
    """
    if not others:
        return np.zeros(0, dtype=np.int16)
    lengths = np.array([len(other) for other in others])
    width = int(lengths.max())
    letters = np.zeros((width, len(others)), dtype=np.uint32)
    codes = np.array(others, dtype=f"<U{max(width, 1)}").view(np.uint32).reshape(len(others), -1)
    letters[:, :] = codes[:, :width].T
    wanted = [ord(letter) for letter in word]
    rows: list[NDArray[np.int16]] = []
    for i in range(len(word) + 1):
        row = np.empty((width + 1, len(others)), dtype=np.int16)
        row[0] = i
        for j in range(1, width + 1):
            if i == 0:
                row[j] = j
                continue
            best = np.minimum(rows[i - 1][j], row[j - 1]) + 1
            np.minimum(best, rows[i - 1][j - 1] + (letters[j - 1] != wanted[i - 1]), out=best)
            if i > 1 and j > 1:
                swapped = (letters[j - 1] == wanted[i - 2]) & (letters[j - 2] == wanted[i - 1])
                np.minimum(best, rows[i - 2][j - 2] + 1, out=best, where=swapped)
            row[j] = best
        rows.append(row)
    distances: NDArray[np.int16] = rows[-1][lengths, np.arange(len(others))]
    return distances
