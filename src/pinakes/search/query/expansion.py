"""Expansion: words of the library that a query does not use but seems to mean.

Two sources. The dictionary gives words that a short word of the query begins: ``auth`` is ``authentication``. The
concept vocabulary gives the terms whose vectors are nearest to the query's. Both are for keyword search: appended to
the text that is embedded, they only blur what it says already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pinakes.embedding.protocol import Vectors
from pinakes.port.matching import Vocabulary
from pinakes.text.analysis import query_terms

EXPANSION_TERMS = 3
MIN_SIMILARITY = 0.5
EXPANSION_WEIGHT = 0.3
"""What a word of an expansion counts in keyword search, against 1 for a word of the query."""

MAX_COMPLETED_TERMS = 4
MAX_EXPANDED_TERMS = 1
"""Up to how many terms a query is expanded by concepts: measured, one word gains, from two on it loses."""

# Abbreviations are short, and what they stand for is clearly longer.
_MIN_PREFIX, _MAX_PREFIX, _MORE_LETTERS = 3, 6, 3
_COMPLETIONS = 30
# What is in use itself only abbreviates what is in use this many times as often.
_RARER = 10


class Prefixes(Protocol):
    """The words of a library."""

    def suggest(self, prefix: str, limit: int = 10) -> list[str]:
        """Return words that begin so, the most frequent first."""
        ...

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """Return how many chunks have a word, in any of its forms."""
        ...


@dataclass(frozen=True, slots=True)
class Expansion:
    """A term that is searched for as well, and how near it is to the query: 1 for what completes a word of it."""

    term: str
    similarity: float


def expansions(
    text: str,
    languages: Sequence[str],
    dictionary: Prefixes,
    vocabulary: Vocabulary | None = None,
    vector: Vectors | None = None,
    *,
    k: int = EXPANSION_TERMS,
    known: Callable[[str], bool] | None = None,
) -> list[Expansion]:
    """Return up to ``k`` terms to search for besides a short query; none for one that says enough by itself.

    ``known`` tells words of the language, which abbreviate nothing; a tokenizer's single tokens are such words.
    """
    terms = len(query_terms(text, languages))
    if terms > MAX_COMPLETED_TERMS:
        return []
    found = [Expansion(word, 1.0) for word in complete(text, dictionary, languages, k=k, known=known)]
    if vocabulary is not None and vector is not None and terms <= MAX_EXPANDED_TERMS:
        said = " ".join([text, *(item.term for item in found)])
        found += [
            Expansion(*pair)
            for pair in expand(vector, said, vocabulary, languages=languages, k=k - len(found))
        ]
    return found


def expand(
    query_vector: Vectors,
    query_words: str,
    vocabulary: Vocabulary,
    *,
    languages: Sequence[str] = ("en",),
    k: int = EXPANSION_TERMS,
    min_similarity: float = MIN_SIMILARITY,
) -> list[tuple[str, float]]:
    """Return the terms nearest to a query that say something it does not say itself, with their cosine."""
    said = _forms(query_words, languages)
    chosen: list[tuple[str, float]] = []
    # Many of the nearest terms are the query's own words in other forms.
    for term, similarity in vocabulary.nearest(query_vector, 10 * k + 20):
        if similarity < min_similarity or len(chosen) >= k:
            break
        if _new_words(term, said, languages):
            chosen.append((term, similarity))
            said |= _forms(term, languages)
    return chosen


def complete(
    query_words: str,
    dictionary: Prefixes,
    languages: Sequence[str],
    *,
    k: int = EXPANSION_TERMS,
    known: Callable[[str], bool] | None = None,
) -> list[str]:
    """Return the words that the short words of a query seem to abbreviate, the most frequent first."""
    said = _forms(query_words, languages)
    found: list[str] = []
    for term in query_terms(query_words, languages):
        word = term.text
        fits = _MIN_PREFIX <= len(word) <= _MAX_PREFIX and word.isalpha()
        if not fits or (known is not None and known(word)):
            continue
        for candidate in _completions(word, dictionary, languages):
            if len(found) == k:
                return found
            if _new_words(candidate, said, languages):
                found.append(candidate)
                said |= _forms(candidate, languages)
    return found


def _completions(word: str, dictionary: Prefixes, languages: Sequence[str]) -> Iterator[str]:
    used = dictionary.frequency(word, languages)
    for candidate in dictionary.suggest(word, _COMPLETIONS):
        longer = len(candidate) >= len(word) + _MORE_LETTERS and candidate.isalpha()
        if longer and (not used or dictionary.frequency(candidate, languages) >= _RARER * used):
            yield candidate


def added_words(found: Sequence[Expansion], text: str, languages: Sequence[str]) -> str:
    """Return the words of expansions that the query does not have, as a text to search for by keyword."""
    said = _forms(text, languages)
    words = (word for item in found for word in _new_words(item.term, said, languages))
    return " ".join(dict.fromkeys(words))


def _new_words(text: str, said: set[str], languages: Sequence[str]) -> list[str]:
    """The words of a text of which no form is among those that were said."""
    return [term.text for term in query_terms(text, languages) if not said & set(term.forms)]


def _forms(text: str, languages: Sequence[str]) -> set[str]:
    """Every form under which the words of a text are indexed, so that inflections of a word count as the word."""
    return {form for term in query_terms(text, languages) for form in term.forms}
