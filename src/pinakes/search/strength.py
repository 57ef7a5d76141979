"""Strength: how much a leg knows about a query, so that a leg that knows little has little say.

A keyword leg whose best hit holds one of three words asked for, or a semantic leg whose nearest passage is far
away, still ranks something first. Its weight in fusion is scaled by its strength, between ``FLOOR`` and 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.search.candidates import Leg
from pinakes.text.analysis import analyze
from pinakes.text.query_terms import query_terms

FLOOR = 0.1
# Cosines of the bundled model between which a nearest passage goes from unrelated to clearly related.
_FAR, _NEAR = 0.15, 0.5
_ENOUGH_WORDS = 3


def semantic_strength(leg: Leg) -> float:
    """Judge by the nearest passage."""
    best = leg.hits[0][1] if leg.hits else 0.0
    return max(FLOOR, min(1.0, (best - _FAR) / (_NEAR - _FAR)))


def keyword_strength(query: str, languages: Sequence[str], text: str, language: str) -> float:
    """Judge by how many of the query's words the best hit holds; a few are enough in a long question."""
    terms = len(query_terms(query, languages))
    found = word_coverage(query, languages, text, language) * terms
    return max(FLOOR, min(1.0, found / max(1, min(terms, _ENOUGH_WORDS))))


def word_coverage(query: str, languages: Sequence[str], text: str, language: str) -> float:
    """Return which share of the query's words stand in a text."""
    terms = query_terms(query, languages)
    if not terms:
        return 0.0
    have = {token.text for token in analyze(text, language)}
    return sum(any(form in have for form in term.forms) for term in terms) / len(terms)
