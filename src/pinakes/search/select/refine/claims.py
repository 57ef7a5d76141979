"""Claims: whether two texts that are nearly the same also say the same.

`within 30 days` and `within 60 days`, `Acme shall pay` and `Globex shall pay`, `may` and `may not` are alike but
for a word, and whoever must cite them needs both. So numbers, names and words that turn a sentence round must
agree before one text stands for another. In doubt, the two are different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pinakes.search.select.refine.wording import Wording


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
