"""Bounds: which side of a number a sentence allows, from the comparison at the number and what negates it.

A comparison (*more than*) and its negation give the bound (*not more than*: at most). A negation counts if it stands at
the comparison, or if the comparison belongs to the negated verb: *shall not keep it for longer than 6 months* allows at
most 6, but *shall not accept gifts exceeding £25* is about gifts of more than that.
"""

from __future__ import annotations

from typing import NamedTuple

from loccit.extract.obligations.lexicon import Lexicon

_NEGATED = {
    "more than": "at most",
    "less than": "at least",
    "at least": "less than",
    "at most": "more than",
    "": "",
}
# Counted back from an event: not later than 10 days before it is at least 10 days before it.
_MIRRORED = {
    "more than": "less than",
    "less than": "more than",
    "at least": "at most",
    "at most": "at least",
}
# How far a negation can be from its comparison.
_REACH = 160
_BEHIND = 70


class Bound(NamedTuple):
    """A bound, and whether it is one of time: *not later than*, which *before* turns around."""

    name: str = ""
    of_time: bool = False

    def before_event(self) -> Bound:
        """Return the bound of a period that is counted back from an event."""
        return Bound(_MIRRORED[self.name]) if self.of_time and self.name else self


def find_bound(sentence: str, start: int, end: int, lexicon: Lexicon, *, sum_of_money: bool = False) -> Bound:
    """Return the bound that a sentence sets with the number at ``start`` to ``end``."""
    before = sentence[max(0, start - _REACH) : start]
    for name, kind, form in lexicon.comparisons:
        if kind == "money" and not sum_of_money:
            continue
        match = form.search(before)
        if match:
            negated = _is_negated(before[: match.start()], kind, lexicon)
            return Bound(_NEGATED[name] if negated else name, kind == "time")
    behind = sentence[end : end + _BEHIND]
    found = [
        (match, name, kind)
        for name, kind, form in lexicon.comparisons_behind
        if (match := form.match(behind))
    ]
    if not found:
        return Bound()
    # `zwei Wochen nicht unterschreiten und drei Monate nicht überschreiten`: the verb that comes first.
    match, name, kind = min(found, key=lambda item: item[0].end())
    negated = kind == "verb" and (
        bool(lexicon.forms["negation"].search(match.group())) or _is_negated(f"{before} ", kind, lexicon)
    )
    return Bound(_NEGATED[name] if negated else name)


def is_negated_verb(before: str, lexicon: Lexicon) -> bool:
    """Whether text ends with a negated verb and at most its object: *shall not begin work* before a date."""
    return bool(lexicon.forms["negated_verb"].search(before))


def _is_negated(before: str, kind: str, lexicon: Lexicon) -> bool:
    """Whether a comparison is negated by the text before it."""
    if lexicon.forms["negation_at"].search(before):
        return True
    if kind == "plain":
        return False
    joint = lexicon.forms["or_than"].search(before)
    if joint:
        # `shall not be less than 5 or more than 40 per cent`: as the first of the two.
        return _is_negated(before[: joint.start()], "verb", lexicon)
    if kind != "verb" and kind != "time" and not _of_verb(before, kind, lexicon):
        return False
    reach = before
    for last in lexicon.forms["clause"].finditer(before):
        reach = before[last.end() :]
    negations = [match.end() for match in lexicon.forms["negation"].finditer(reach)]
    # One comma ends a clause, two enclose a phrase.
    return bool(negations) and reach.count(", ", negations[-1]) != 1


def _of_verb(before: str, kind: str, lexicon: Lexicon) -> bool:
    """Whether a comparison belongs to the verb, and not to a noun before it."""
    if kind == "than":
        return not lexicon.forms["of_noun"].search(before)
    return bool(lexicon.forms["being"].search(before))
