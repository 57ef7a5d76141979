"""Calibrate: scores become probabilities that a result is what was asked for.

Fusion scores only order: the best of a poor lot has the same score as the best of a good one. How near the best
candidate is in meaning, and how much of the query's words it has, tell the two apart. The weights were fitted on
labelled questions (benchmarks/calibration.py); docs/decisions/0019-confidence.md has the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pinakes.model import SelfCheck
from pinakes.search.candidates import CODE, KEYWORD, SEMANTIC, Candidate, RankedList

# What is named literally, and is no place, is meant, whatever else matches.
PINNED = {"document": 0.95, "title": 0.95, "phrase": 0.9, "identifier": 0.85, "name": 0.7, "mention": 0.5}
# A place that does not exist: nothing can be quite what was asked for, and least where nothing else was.
_MISSING_PLACE, _ONLY_A_PLACE = 0.5, 0.3
_SURE = 0.97
# Words that stand there as they were asked for are a match, if not surely the one that was meant.
_VERBATIM = 0.8
_HIGH_FLOOR = 0.3
_PLACES = frozenset({"section", "holder", "line"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for the first candidate.

    ``meaning`` is how near it is to the query and ``words`` which share of the query's words it has, rare ones
    counting more, both between 0 and 1 and None where that was not searched by. ``agreement``: search by meaning and
    by words have the same first. ``code`` is how much the names of code in the query, which it has, weigh among the
    query's words, between 0 and 1.
    """

    meaning: float | None = None
    words: float | None = None
    agreement: bool = False
    code: float = 0.0


@dataclass(frozen=True, slots=True)
class Grounds:
    """What speaks for a place that a reference leads to.

    ``named``: the query names its document. ``documents`` counts the documents, of those that may be meant, which have
    a place of that number, and ``places`` the places in its own that are as good. ``alike``: the label is printed as
    it was asked for; ``explained``: all other words of the query are in its names or in its document; ``whole``: the
    reference leads all the way; ``recognised``: as a place, rather than as a line that bears the number, and
    ``printed``: at its beginning. ``evidence`` is how much of what the document says of its own places is borne out.
    """

    named: bool
    documents: int
    places: int
    alike: bool = True
    explained: bool = True
    whole: bool = True
    recognised: bool = True
    printed: bool = True
    evidence: float = 1.0

    def features(self) -> tuple[float, ...]:
        """The columns of the regression, without the constant."""
        return (
            float(self.named),
            float(self.alike),
            float(self.explained),
            1.0 - self.evidence,
        )


class Exact(Protocol):
    """What the exact leg says about what it found."""

    @property
    def grounds(self) -> Mapping[int, Grounds]:
        """What speaks for the places among the chunks."""
        ...

    @property
    def missing(self) -> Sequence[str]:
        """What the query names and no document has."""
        ...

    @property
    def verbatim(self) -> Collection[int]:
        """The chunks that hold the words of the query as they stand."""
        ...


# -- fitted, as logistic regressions ---------------------------------------------------------------------------
_BIAS, _MEANING, _EITHER, _AGREEMENT = -5.51, 3.03, 4.00, 1.15
_MEANING_ALONE = (-4.78, 8.33)
_WORDS_ALONE = (-2.57, 3.70)
# For places: the constant, then the features of Grounds. Of several that are as good, each is as likely.
_PLACE = (-5.2, 2.0, 0.5, 6.6, -2.0)
# The share of what a document says of its places, from which on there is no doubt.
_CLEAR = 0.75
# What is not a place that was recognised: the holder of one, a line that begins with its number, one that has it.
_HOLDER, _FIRST_IN_LINE, _IN_LINE = 0.3, 0.7, 0.3
# What that counts when other words of the query are not in its document: another one is meant.
_UNEXPLAINED = 0.1
# Names of code that are there count nearly as much as words that are there.
_NAMES = 0.8


def probability(evidence: Evidence) -> float:
    """Return how likely the first candidate is what was asked for."""
    meaning, words = evidence.meaning, evidence.words
    if meaning is None and words is None:
        return 0.0
    if meaning is None:
        logit = _WORDS_ALONE[0] + _WORDS_ALONE[1] * (words or 0.0)
    elif words is None:
        logit = _MEANING_ALONE[0] + _MEANING_ALONE[1] * meaning
    else:
        either = 1.0 - (1.0 - meaning) * (1.0 - words) * (1.0 - _NAMES * evidence.code)
        logit = _BIAS + _MEANING * meaning + _EITHER * either + _AGREEMENT * evidence.agreement
    return 1.0 / (1.0 + math.exp(-logit))


def gather(first: Candidate, legs: Sequence[RankedList], covered: float = 1.0) -> Evidence:
    """Read off what the legs said of the first candidate.

    ``covered`` is which share of the query's words it has at all. A word that stands there often scores as much as two
    that stand there once, which meaning tells apart, and where nothing was searched by meaning, this does.
    """
    by_name = {leg.name: leg for leg in legs if len(leg)}
    semantic, keyword = by_name.get(SEMANTIC), by_name.get(KEYWORD)
    meaning = words = None
    code = 0.0
    if semantic is not None:
        # Cosines of some models never come near 0: there the lowest is what unrelated texts have.
        floor = semantic.floor if semantic.floor > _HIGH_FLOOR else min(0.0, semantic.floor)
        near = semantic.score_of(first.chunk, floor) - floor
        meaning = min(1.0, max(0.0, near) / max(1.0 - floor, 1e-9))
    if keyword is not None and keyword.full > 0:
        words = min(1.0, keyword.score_of(first.chunk) / keyword.full)
        # Both legs count a name that is found whole by how rare it is, so one scale serves both.
        code = min(1.0, first.scores.get(CODE, 0.0) / keyword.full)
        words = words if semantic is not None else min(words, covered)
    agree = semantic is not None and keyword is not None and semantic.chunks[0] == keyword.chunks[0]
    return Evidence(meaning, words, bool(agree), code)


def borne_out(check: SelfCheck | None) -> float:
    """Return how far a document bears out its places, between 0 and 1; a few references astray are no doubt."""
    share = check.share if check else None
    return 1.0 if share is None else min(1.0, share / _CLEAR)


def place_probability(grounds: Grounds) -> float:
    """Return how likely a place is the one that was asked for."""
    if not grounds.whole or not grounds.recognised:
        known = _HOLDER if grounds.recognised else _FIRST_IN_LINE if grounds.printed else _IN_LINE
        return known * (1.0 if grounds.explained else _UNEXPLAINED) / max(1, grounds.documents)
    logit = _PLACE[0] + sum(
        weight * value for weight, value in zip(_PLACE[1:], grounds.features(), strict=True)
    )
    return 1.0 / (1.0 + math.exp(-logit)) / max(1, grounds.documents) / max(1, grounds.places)


def calibrate(
    candidates: Sequence[Candidate],
    legs: Sequence[RankedList],
    exact: Exact | None = None,
    *,
    only_a_place: bool = False,
    covered: float = 1.0,
) -> tuple[float, Evidence]:
    """Bring the candidates' scores to the scale of the confidence in the first, which is returned.

    ``exact`` is what is known of what the query names; ``only_a_place``: it names a place and asks for nothing else;
    ``covered`` is which share of the query's words the first candidate has.
    """
    if not candidates:
        return 0.0, Evidence()
    evidence = gather(candidates[0], legs, covered)
    plain = min(probability(evidence), _SURE)
    if exact and candidates[0].chunk in exact.verbatim:
        plain = max(plain, _VERBATIM)
    if exact and exact.missing:
        plain = min(plain, _ONLY_A_PLACE if only_a_place else _MISSING_PLACE)
    best = max((item.score for item in candidates if not item.pin), default=0.0)
    ceiling = 1.0
    for candidate in candidates:
        if candidate.pin:
            ceiling = min(ceiling, _named(candidate, exact))
            candidate.rescore("confidence", ceiling)
        elif best > 0:
            candidate.rescore("confidence", min(ceiling, plain * candidate.score / best))
    first = candidates[0]
    sure = _named(first, exact) if first.pin else plain
    return round(sure if first.reason in _PLACES else max(sure, plain), 3), evidence


def _named(candidate: Candidate, exact: Exact | None) -> float:
    """How likely what is named literally is meant."""
    grounds = exact.grounds.get(candidate.chunk) if exact else None
    if grounds is not None and candidate.reason in _PLACES:
        return place_probability(grounds)
    several = grounds.documents if grounds is not None else 1
    return PINNED.get(candidate.reason, 0.0) / several
