"""Calibrate: scores become probabilities that a result is what was asked for.

Fused scores only give an order: the best of a poor list scores as high as the best of a good one. The similarity of the
best candidate to the query, and the share of the query's words in it, tell the two apart. The weights were fitted on
labelled questions (benchmarks/calibration.py); docs/decisions/0019-confidence.md has the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from loccit.search.candidates import CODE, KEYWORD, SEMANTIC, Candidate, RankedList
from loccit.search.place_evidence import PlaceEvidence

# Anything named literally that is not a place is meant, whatever else matches.
PINNED = {"document": 0.95, "title": 0.95, "phrase": 0.9, "identifier": 0.85, "name": 0.7, "mention": 0.5}
# The named place does not exist: no result can be exactly what was asked for, least of all if nothing else
# was.
_MISSING_PLACE, _ONLY_A_PLACE = 0.5, 0.3
_SURE = 0.97
# The words of the query as they were typed are a match, though not certainly the intended one.
_VERBATIM = 0.8
_HIGH_FLOOR = 0.3
# The crowd that the first candidate is compared with: a library of fewer chunks is filled up with unrelated ones.
_CROWD, _FEW = 300, 30
_PLACES = frozenset({"section", "line"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for the first candidate.

    ``meaning`` is its similarity to the query and ``words`` the share of the query's words in it, weighted by IDF; both
    are between 0 and 1, and None if that leg did not run. ``agreement``: the semantic and keyword legs have the same
    first hit. ``code`` is the weight among the query's words, between 0 and 1, of the identifiers that it contains.
    ``distance`` is how much closer in meaning it is than the library's nearest passages are on average.
    """

    meaning: float | None = None
    words: float | None = None
    agreement: bool = False
    code: float = 0.0
    distance: float = 0.0


class Exact(Protocol):
    """What the exact leg reports about its hits."""

    @property
    def grounds(self) -> Mapping[int, PlaceEvidence]:
        """The evidence for the places among the chunks."""
        ...

    @property
    def missing(self) -> Sequence[str]:
        """What the query names but no document has."""
        ...

    @property
    def verbatim(self) -> Collection[int]:
        """The chunks that contain the words of the query literally."""
        ...


# -- fitted, as logistic regressions ---------------------------------------------------------------------------
_BIAS, _DISTANCE, _EITHER, _AGREEMENT = -3.49, 5.03, 2.35, 0.61
_MEANING_ALONE = (-4.78, 8.33)
_WORDS_ALONE = (-2.57, 3.70)
# For places: the intercept, then the features of PlaceEvidence. Equally good places are equally likely.
_PLACE = (-5.2, 2.0, 0.5, 6.6, -2.0)
# Places that were not recognised: a line that begins with their number, a line that contains it.
_FIRST_IN_LINE, _IN_LINE = 0.7, 0.3
# Factor if other words of the query are not in its document: another one is meant.
_UNEXPLAINED = 0.1
# Identifiers found count nearly as much as words found.
_NAMES = 0.8


def probability(evidence: Evidence) -> float:
    """Return the probability that the first candidate is what was asked for."""
    meaning, words = evidence.meaning, evidence.words
    if meaning is None and words is None:
        return 0.0
    if meaning is None:
        logit = _WORDS_ALONE[0] + _WORDS_ALONE[1] * (words or 0.0)
    elif words is None:
        logit = _MEANING_ALONE[0] + _MEANING_ALONE[1] * meaning
    else:
        either = 1.0 - (1.0 - meaning) * (1.0 - words) * (1.0 - _NAMES * evidence.code)
        logit = _BIAS + _DISTANCE * evidence.distance + _EITHER * either + _AGREEMENT * evidence.agreement
    return 1.0 / (1.0 + math.exp(-logit))


def gather(first: Candidate, legs: Sequence[RankedList], covered: float = 1.0) -> Evidence:
    """Collect the evidence of the legs for the first candidate.

    ``covered`` is the share of the query's words that it contains at all. A frequent word scores as much as two that
    occur once; meaning tells these apart, and without semantic search, this share does.
    """
    by_name = {leg.name: leg for leg in legs if len(leg)}
    semantic, keyword = by_name.get(SEMANTIC), by_name.get(KEYWORD)
    meaning = words = None
    code = distance = 0.0
    if semantic is not None:
        # Cosines of some models never come near 0: there the lowest is that of unrelated texts.
        floor = semantic.floor if semantic.floor > _HIGH_FLOOR else min(0.0, semantic.floor)
        near, scale = semantic.score_of(first.chunk, floor) - floor, max(1.0 - floor, 1e-9)
        meaning = min(1.0, max(0.0, near) / scale)
        crowd = semantic.scores[:_CROWD] - floor
        distance = (near - float(crowd.sum()) / max(len(crowd), _FEW)) / scale
    if keyword is not None and keyword.full > 0:
        words = min(1.0, keyword.score_of(first.chunk) / keyword.full)
        # Both legs weigh an identifier that is found whole by its rarity, so one scale serves both.
        code = min(1.0, first.scores.get(CODE, 0.0) / keyword.full)
        words = words if semantic is not None else min(words, covered)
    agree = semantic is not None and keyword is not None and semantic.chunks[0] == keyword.chunks[0]
    return Evidence(meaning, words, bool(agree), code, distance)


def place_probability(grounds: PlaceEvidence) -> float:
    """Return the probability that a place is the one asked for."""
    if not grounds.recognised:
        known = _FIRST_IN_LINE if grounds.printed else _IN_LINE
        known *= 1.0 if grounds.explained else _UNEXPLAINED
        return known / max(1, grounds.documents) / max(1, grounds.places)
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
    """Map the candidates' scores to the scale of the confidence in the first one, and return that confidence.

    ``exact`` is what the exact leg reports; ``only_a_place``: the query names a place and asks for nothing else;
    ``covered`` is the share of the query's words in the first candidate.
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
    """The probability that what is named literally is meant."""
    grounds = exact.grounds.get(candidate.chunk) if exact else None
    if grounds is not None and candidate.reason in _PLACES:
        return place_probability(grounds)
    several = grounds.documents if grounds is not None else 1
    return PINNED.get(candidate.reason, 0.0) / several
