"""Carried: places that only one document has, but whose words stand in another place of the other.

A paragraph that is divided into clauses, or a clause that is read as part of the one before, takes words from one place
to another, although hardly any was written or deleted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from loccit.search.verbatim.aligning import Part
from loccit.search.verbatim.words import WordText

# Fewer words in a row may be the same by chance.
_ROW = 5
# The share of a place's words that must stand elsewhere.
_MOST = 0.7
# What became of it may be this many times as long.
_LONGEST = 1.5
_COMPARED = 8
# So many words in a row are the same text, even if the place has others too.
_LONG = 20


@dataclass(slots=True, eq=False)
class Stretch:
    """The words of a place; its counterpart does not have the ``free`` ones, of which some are ``carried`` away."""

    part: Part
    words: WordText
    free: set[int] = field(default_factory=set)
    carried: set[int] = field(default_factory=set)

    def own(self, first: int, last: int) -> str:
        """Return the words of a span that do not stand elsewhere."""
        runs = [[*run] for away, run in groupby(range(first, last), self.carried.__contains__) if not away]
        return " … ".join(" ".join(self.words.stretch(run[0], run[-1] + 1).split()) for run in runs)

    def find(self, keys: Sequence[str]) -> int | None:
        """Return where some words begin that its counterpart does not have."""
        rest = self.free - self.carried
        return next(
            (
                at
                for at in sorted(rest)
                if self.words.keys[at : at + len(keys)] == keys and at + len(keys) - 1 in rest
            ),
            None,
        )


class Source(NamedTuple):
    """Words of a place that became those of another one, or the other way round."""

    stretch: Stretch
    first: int
    last: int


class Carried:
    """Finds the words of places among those that others have lost or gained."""

    def __init__(self, stretches: Iterable[Stretch]) -> None:
        """Take the words among which to look."""
        self._rows: dict[tuple[str, ...], list[tuple[Stretch, int]]] = defaultdict(list)
        for stretch in stretches:
            for at in sorted(stretch.free):
                row = tuple(stretch.words.keys[at : at + _ROW])
                self._rows[row].append((stretch, at))

    def source(self, lone: Stretch, near: Stretch | None, beside: Collection[Part]) -> Source | None:
        """Return where most words of a place stand, and mark these there; None if they do not stand elsewhere.

        A few words are only looked for ``near`` it. Long runs that places ``beside`` it had are marked in any case.
        """
        found: dict[Stretch, list[tuple[int, int, int]]] = defaultdict(list)
        at, total = 0, len(lone.words.keys)
        if near and 0 < total < _ROW and (begin := near.find(lone.words.keys)) is not None:
            found[near], at = [(0, begin, total)], total
        while at < total:
            stretch, begin, size = self._longest(lone, at)
            if size:
                found[stretch].append((at, begin, size))
            at += size or 1
        for stretch, runs in found.items():
            most = sum(size for *_, size in runs) >= _MOST * total
            # A new heading above text that stays where it was is a new place.
            is_headed = 0 < len(lone.part.title) <= runs[0][0] and stretch.part in beside
            if most and not is_headed:
                return _source(lone, stretch, runs)
            for at, begin, size in runs if stretch.part in beside else ():
                if most or size >= _LONG:
                    lone.carried.update(range(at, at + size))
                    stretch.carried.update(range(begin, begin + size))
        return None

    def _longest(self, lone: Stretch, at: int) -> tuple[Stretch, int, int]:
        """Return the longest run that begins with a word of a place: where it stands, and its length."""
        sought, best = lone.words.keys, (lone, 0, 0)
        for stretch, begin in self._rows.get(tuple(sought[at : at + _ROW]), [])[:_COMPARED]:
            keys, size = stretch.words.keys, 0
            while (
                at + size < len(sought)
                and begin + size in stretch.free
                and begin + size not in stretch.carried
                and sought[at + size] == keys[begin + size]
            ):
                size += 1
            if size >= _ROW and size > best[2]:
                best = (stretch, begin, size)
        return best


def _source(lone: Stretch, stretch: Stretch, runs: Sequence[tuple[int, int, int]]) -> Source | None:
    """Return the words that became those of a place, given the runs that did not change."""
    (at, first, _), (end, last, _) = runs[0], runs[-1]
    # Words that were replaced before the first and after the last run belong to it.
    first, last = first - at, last + len(lone.words.keys) - end
    while first not in stretch.free:
        first += 1
    while last - 1 not in stretch.free:
        last -= 1
    if last - first > _LONGEST * len(lone.words.keys):
        return None
    # So does its marker, if that is read as text there.
    marker = len(lone.part.marker)
    before = (
        first - marker
        if tuple(stretch.words.keys[max(0, first - marker) : first]) == lone.part.marker
        else first
    )
    stretch.carried.update(range(before, last))
    return Source(stretch, first, last)
