"""Duplicates: passages that repeat another one, verbatim, nearly verbatim or in other words.

`within 30 days` and `within 60 days`, `Acme shall pay` and `Globex shall pay`, `may` and `may not` differ by one word,
and anyone who cites them needs both. So numbers, names and words that reverse a statement must agree before one text
can represent another. In doubt, two texts are different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

import numpy as np

from loccit.models.embedding.protocol import Vectors
from loccit.search.select.wording import Wording


def same_claim(a: Wording, b: Wording) -> bool:
    """Whether two nearly identical texts differ in mere wording."""
    if a.numbers != b.numbers or a.turns != b.turns:
        return False
    if a.shows_names and b.shows_names:
        return _agree(a.names, b.names, a, b) and not _swapped(a, b)
    # Where any word may be a name, nothing may be substituted.
    return a.units <= b.units or b.units <= a.units


def same_facts(a: Wording, b: Wording) -> bool:
    """Whether two texts with similar meaning state the same numbers, names and dates.

    Neither may deny what the other states, permit what it requires, or count from the other side.
    """
    if a.numbers != b.numbers or a.facts != b.facts or _swapped(a, b):
        return False
    if not (a.shows_names and b.shows_names):
        return same_claim(a, b)
    (ours, our_first), (theirs, their_first) = a.capitalised, b.capitalised
    if not _agree(ours, theirs, a, b):
        return False
    # A word that begins a sentence may be a name, so another must not replace it.
    return b.vocabulary.issuperset(our_first) or a.vocabulary.issuperset(their_first)


def _agree(ours: Iterable[str], theirs: Iterable[str], a: Wording, b: Wording) -> bool:
    """Whether each text contains the other's names, capitalised or not."""
    return b.vocabulary.issuperset(ours) and a.vocabulary.issuperset(theirs)


def _swapped(a: Wording, b: Wording) -> bool:
    """Whether the same names occur in another order: debtor and creditor are swapped."""
    return a.names != b.names and Counter(a.names) == Counter(b.names)


# -- exact duplicates: identical text is shown once ----------------------------------------------------------


class ExactDuplicates:
    """Finds verbatim duplicates of the chunks kept so far."""

    name = "content_dedup"

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    def find(self, wording: Wording) -> int | None:
        """Return the kept chunk with the same text."""
        # Punctuation alone is not a text that two chunks could share.
        return self._kept.get(wording.key) if wording.key else None

    def keep(self, wording: Wording) -> None:
        """Remember a chunk; the first of several duplicates represents them."""
        self._kept.setdefault(wording.key, wording.id)


# -- near duplicates: nearly the same words in the same order, by shared trigrams -----------------------------


# Texts that share 70 % of their trigrams share more than 80 % of their words; markup and punctuation attached
# to words may hide much of that. Different texts on one subject share about 30 %.
_ROUGH_SHARE = 0.6
# This few may be missing by chance if there are few to share.
_ROUGH_SLACK = 3
# Sizes are compared before trigrams are counted, so with some tolerance.
_ROUGH_SIZE = 0.8


def similarity(a: Wording, b: Wording) -> float:
    """Return the Jaccard similarity of two texts: of word trigrams, or of character trigrams if words are few."""
    ours: frozenset[object]
    theirs: frozenset[object]
    if a.by_characters or b.by_characters:
        ours, theirs = a.character_grams, b.character_grams
    else:
        ours, theirs = a.word_grams, b.word_grams
    shared = len(ours & theirs)
    return shared / (len(ours) + len(theirs) - shared)


def perhaps_same(a: Wording, b: Wording, threshold: float) -> bool:
    """Whether the similarity may reach a threshold: a quick check by size and vocabulary."""
    if a.size < (least := _ROUGH_SIZE * threshold) * b.size or b.size < least * a.size:
        return False
    if a.by_characters or b.by_characters:
        return _share(a.pairs, b.pairs, threshold)
    return _share(a.long_tokens, b.long_tokens, threshold) and _share(a.tokens, b.tokens, threshold)


def nearly_same(a: Wording, b: Wording, threshold: float) -> bool:
    """Whether the similarity reaches a threshold."""
    return perhaps_same(a, b, threshold) and bool(a.words and b.words) and similarity(a, b) >= threshold


def _share(ours: AbstractSet[object], theirs: AbstractSet[object], threshold: float) -> bool:
    wanted = _ROUGH_SHARE * threshold * max(len(ours), len(theirs)) - _ROUGH_SLACK
    return len(ours & theirs) >= wanted


class NearDuplicates:
    """Finds near duplicates of the chunks kept so far, whose differences do not change the statement."""

    name = "ngram_dedup"

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._kept: list[Wording] = []

    def find(self, wording: Wording) -> int | None:
        """Return the best-ranked kept chunk that says the same in nearly the same words."""
        for kept in self._kept:
            # Of a hundred contracts from one template, most differ in a name or a date: cheapest to check
            # first.
            if (
                perhaps_same(kept, wording, self._threshold)
                and same_claim(kept, wording)
                and nearly_same(kept, wording, self._threshold)
            ):
                return kept.id
        return None

    def keep(self, wording: Wording) -> None:
        """Remember a chunk for later comparisons."""
        self._kept.append(wording)


# -- semantic duplicates: other words for the same thing, by cosine similarity -------------------------------


class SemanticDuplicates:
    """Finds paraphrases of the chunks kept so far; ``vectors`` grows during the search."""

    name = "semantic_dedup"

    def __init__(self, threshold: float, near: float, vectors: Mapping[int, Vectors]) -> None:
        self._threshold = threshold
        self._near = near
        self._vectors = vectors
        self._kept: list[Wording] = []
        self._matrix: list[Vectors] = []

    def find(self, wording: Wording) -> int | None:
        """Return the best-ranked kept chunk with the same meaning, numbers and names."""
        vector = self._vectors.get(wording.id)
        if vector is None or not self._kept:
            return None
        close = np.flatnonzero(np.stack(self._matrix) @ vector >= self._threshold)
        return next((self._kept[at].id for at in close if self._same(self._kept[at], wording)), None)

    def keep(self, wording: Wording) -> None:
        """Remember a chunk; one without a vector is similar to nothing."""
        vector = self._vectors.get(wording.id)
        if vector is not None:
            self._kept.append(wording)
            self._matrix.append(vector)

    def _same(self, a: Wording, b: Wording) -> bool:
        # To a model, two clauses of one template mean much the same, but they differ in what matters.
        return same_facts(a, b) and (not nearly_same(a, b, self._near) or same_claim(a, b))
