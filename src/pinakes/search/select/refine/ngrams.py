"""Near duplicates: nearly the same words in the same order, by the share of trigrams that two texts have in common."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pinakes.search.select.refine.claims import same_claim
from pinakes.search.select.refine.wording import Wording

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
