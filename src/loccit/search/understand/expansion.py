"""Expansion: words of the library that a query does not use but probably means.

There are two sources. The dictionary completes short words of the query: ``auth`` becomes ``authentication``. The
concept vocabulary has the terms whose vectors are nearest to the query's. Both are used for keyword search only:
appended to the text that is embedded, they blur it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from loccit.grammar.text.analysis import query_terms
from loccit.index.port.matching import Vocabulary
from loccit.models.embedding.protocol import Vectors

EXPANSION_TERMS = 3
MIN_SIMILARITY = 0.5
EXPANSION_WEIGHT = 0.3
"""The weight of an expansion word in keyword search; a query word has 1."""

MAX_COMPLETED_TERMS = 4
MAX_EXPANDED_TERMS = 1
"""Longest query, in terms, that is expanded by concepts: measured, one word gains, two or more lose."""

# Abbreviations are short, and what they stand for is clearly longer.
_MIN_PREFIX, _MAX_PREFIX, _MORE_LETTERS = 3, 6, 3
_COMPLETIONS = 30
# A word in use abbreviates only words that are this many times as frequent.
_RARER = 10


class Prefixes(Protocol):
    """The words of a library."""

    def suggest(self, prefix: str, limit: int = 10) -> list[str]:
        """Return words with a prefix, the most frequent first."""
        ...

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """Return how many chunks contain a word, in any of its forms."""
        ...


@dataclass(frozen=True, slots=True)
class Expansion:
    """A term to search for as well, and its similarity to the query; 1 if it completes one of its words."""

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
    """Return up to ``k`` additional terms for a short query; none for a longer one.

    ``known`` recognises words of the language, which are not abbreviations; a tokenizer's single tokens are such words.
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
    """Return the terms nearest to a query that add something to it, with their cosine similarity."""
    said = _forms(query_words, languages)
    chosen: list[tuple[str, float]] = []
    # Many of the nearest terms are other forms of the query's own words.
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
    """Return the words that short words of a query probably abbreviate, the most frequent first."""
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
    """Return the words of expansions that are not in the query, as a text for keyword search."""
    said = _forms(text, languages)
    words = (word for item in found for word in _new_words(item.term, said, languages))
    return " ".join(dict.fromkeys(words))


def _new_words(text: str, said: set[str], languages: Sequence[str]) -> list[str]:
    """The words of a text none of whose forms have been used already."""
    return [term.text for term in query_terms(text, languages) if not said & set(term.forms)]


def _forms(text: str, languages: Sequence[str]) -> set[str]:
    """All indexed forms of the words of a text, so that inflections count as the word."""
    return {form for term in query_terms(text, languages) for form in term.forms}
