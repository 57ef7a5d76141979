"""Claims: whether two texts that are nearly the same also say the same.

`within 30 days` and `within 60 days`, `Acme shall pay` and `Globex shall pay`, `may` and `may not` are alike but
for a word, and whoever must cite them needs both. So numbers, names and words that turn a sentence round must
agree before one text stands for another. In doubt, the two are different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pinakes.search.refine.wording import Wording


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
    """Whether two texts that mean much the same, in whatever words, speak of the same numbers and names."""
    if set(a.numbers) != set(b.numbers):
        return False
    # In German every noun is capitalised, so that a capital says nothing.
    return "de" in (a.chunk.language, b.chunk.language) or _agree(a.names_inside, b.names_inside, a, b)


def _agree(ours: Iterable[str], theirs: Iterable[str], a: Wording, b: Wording) -> bool:
    """Whether each text has the other's names, capitalised or not."""
    return b.vocabulary.issuperset(ours) and a.vocabulary.issuperset(theirs)


def _swapped(a: Wording, b: Wording) -> bool:
    """Whether the same names stand in another order: who owes and who is owed have changed places."""
    return a.names != b.names and Counter(a.names) == Counter(b.names)


def _units(wording: Wording) -> Counter[str]:
    return Counter("".join(wording.words) if wording.by_characters else wording.words)
