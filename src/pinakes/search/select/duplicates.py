"""Duplicates: passages that say what another says already, in the same words, in nearly the same, or in others.

`within 30 days` and `within 60 days`, `Acme shall pay` and `Globex shall pay`, `may` and `may not` are alike but
for a word, and whoever must cite them needs both. So numbers, names and words that turn a sentence round must
agree before one text stands for another. In doubt, the two are different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.search.select.wording import Wording


def same_claim(a: Wording, b: Wording) -> bool:
    """Whether what two nearly identical texts differ in is mere wording."""
    if a.numbers != b.numbers or a.turns != b.turns:
        return False
    if a.shows_names and b.shows_names:
        return _agree(a.names, b.names, a, b) and not _swapped(a, b)
    # Where any word may be a name, nothing may stand in the place of anything else.
    ours, theirs = _units(a), _units(b)
    return not (ours - theirs and theirs - ours)


def same_facts(a: Wording, b: Wording) -> bool:
    """Whether two texts that mean much the same, in whatever words, say so of the same numbers, names and dates.

    Neither may deny what the other says, allow what it demands, or count from the other side.
    """
    if a.numbers != b.numbers or a.facts != b.facts or _swapped(a, b):
        return False
    if not (a.shows_names and b.shows_names):
        return same_claim(a, b)
    (ours, our_first), (theirs, their_first) = a.capitalised, b.capitalised
    if not _agree(ours, theirs, a, b):
        return False
    # A word that begins a sentence may be a name, and then another must not stand in its place.
    return b.vocabulary.issuperset(our_first) or a.vocabulary.issuperset(their_first)


def _agree(ours: Iterable[str], theirs: Iterable[str], a: Wording, b: Wording) -> bool:
    """Whether each text has the other's names, capitalised or not."""
    return b.vocabulary.issuperset(ours) and a.vocabulary.issuperset(theirs)


def _swapped(a: Wording, b: Wording) -> bool:
    """Whether the same names stand in another order: who owes and who is owed have changed places."""
    return a.names != b.names and Counter(a.names) == Counter(b.names)


def _units(wording: Wording) -> Counter[str]:
    return Counter("".join(wording.words) if wording.by_characters else wording.words)


# -- exact duplicates: the same text in two places is shown once ---------------------------------------------


class ExactDuplicates:
    """Finds what has been kept already, word for word."""

    name = "content_dedup"

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    def find(self, wording: Wording) -> int | None:
        """Return the kept chunk with the same text."""
        # A text of nothing but marks is no text that two chunks could share.
        return self._kept.get(wording.key) if wording.key else None

    def keep(self, wording: Wording) -> None:
        """Remember a chunk; the first of several duplicates stands for them."""
        self._kept.setdefault(wording.key, wording.id)


# -- near duplicates: nearly the same words in the same order, by the share of trigrams that two texts have ---


# Texts that share 70 % of their trigrams share more than 80 % of their words; marks and punctuation that cling
# to words may hide a good part of that. Different texts on one subject share about 30 %.
_ROUGH_SHARE = 0.6
# So few may be missing by chance where there are few to share.
_ROUGH_SLACK = 3
# Sizes are compared before trigrams are counted, so with some leeway.
_ROUGH_SIZE = 0.8


def similarity(a: Wording, b: Wording) -> float:
    """Return the Jaccard similarity of two texts: trigrams of words, or of letters where words are few or unparted."""
    ours: frozenset[object]
    theirs: frozenset[object]
    if a.by_characters or b.by_characters:
        ours, theirs = a.character_grams, b.character_grams
    else:
        ours, theirs = a.word_grams, b.word_grams
    shared = len(ours & theirs)
    return shared / (len(ours) + len(theirs) - shared)


def perhaps_same(a: Wording, b: Wording, threshold: float) -> bool:
    """Whether the similarity may reach a threshold, going by size and a look at the words; this is quick."""
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
    """Finds what has been kept already, but for small changes that do not touch what is said."""

    name = "ngram_dedup"

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._kept: list[Wording] = []

    def find(self, wording: Wording) -> int | None:
        """Return the best-ranked kept chunk that says the same in nearly the same words."""
        for kept in self._kept:
            # Of a hundred contracts from one template, most differ in a name or a date: that is seen soonest.
            if (
                perhaps_same(kept, wording, self._threshold)
                and same_claim(kept, wording)
                and nearly_same(kept, wording, self._threshold)
            ):
                return kept.id
        return None

    def keep(self, wording: Wording) -> None:
        """Remember a chunk to compare others with."""
        self._kept.append(wording)


# -- duplicates in meaning: other words for the same thing, by the cosine of their vectors -------------------


class SemanticDuplicates:
    """Finds what has been kept already in other words; ``vectors`` grows while the search goes on."""

    name = "semantic_dedup"

    def __init__(self, threshold: float, near: float, vectors: Mapping[int, Vectors]) -> None:
        self._threshold = threshold
        self._near = near
        self._vectors = vectors
        self._kept: list[Wording] = []
        self._matrix: list[Vectors] = []

    def find(self, wording: Wording) -> int | None:
        """Return the best-ranked kept chunk that means the same and speaks of the same numbers and names."""
        vector = self._vectors.get(wording.id)
        if vector is None or not self._kept:
            return None
        close = np.flatnonzero(np.stack(self._matrix) @ vector >= self._threshold)
        return next((self._kept[at].id for at in close if self._same(self._kept[at], wording)), None)

    def keep(self, wording: Wording) -> None:
        """Remember a chunk; one without a vector is like nothing else."""
        vector = self._vectors.get(wording.id)
        if vector is not None:
            self._kept.append(wording)
            self._matrix.append(vector)

    def _same(self, a: Wording, b: Wording) -> bool:
        # Two clauses of one template mean much the same to a model, and differ in what matters.
        return same_facts(a, b) and (not nearly_same(a, b, self._near) or same_claim(a, b))
