"""Calibrate: scores become probabilities that a result is what was asked for.

Fusion scores only order: the best of a poor lot has the same score as the best of a good one. How near the best
candidate is in meaning, and how much of the query's words it has, tell the two apart. The weights were fitted on
labelled questions (benchmarks/calibration.py); docs/decisions/0019-confidence.md has the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.search.candidates import Candidate, Leg

# What is named literally is meant, whatever else matches.
PINNED = {"section": 0.98, "holder": 0.5, "title": 0.95, "phrase": 0.9, "identifier": 0.85, "name": 0.7}
# The score of what is named, from hardly to surely meant, goes from here to 1.
_NAMED = 0.85
_MISSING_PLACE = 0.5
_SURE = 0.97
_HIGH_FLOOR = 0.3


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


# -- fitted, as logistic regressions ---------------------------------------------------------------------------
_BIAS, _MEANING, _EITHER, _AGREEMENT = -5.51, 3.03, 4.00, 1.15
_MEANING_ALONE = (-4.78, 8.33)
_WORDS_ALONE = (-2.57, 3.70)
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


def gather(first: Candidate, legs: Sequence[Leg]) -> Evidence:
    """Read off what the legs said of the first candidate."""
    by_name = {leg.name: leg for leg in legs if len(leg)}
    semantic, keyword = by_name.get("semantic"), by_name.get("keyword")
    meaning = words = None
    code = 0.0
    if semantic is not None:
        # Cosines of some models never come near 0: there the lowest is what unrelated texts have.
        floor = semantic.floor if semantic.floor > _HIGH_FLOOR else min(0.0, semantic.floor)
        near = first.scores.get("semantic", floor) - floor
        meaning = min(1.0, max(0.0, near) / max(1.0 - floor, 1e-9))
    if keyword is not None and keyword.full > 0:
        words = min(1.0, first.scores.get("keyword", 0.0) / keyword.full)
        # Both legs count a name that is found whole by how rare it is, so one scale serves both.
        code = min(1.0, first.scores.get("code", 0.0) / keyword.full)
    agree = semantic is not None and keyword is not None and semantic.chunks[0] == keyword.chunks[0]
    return Evidence(meaning, words, bool(agree), code)


def calibrate(
    candidates: Sequence[Candidate], legs: Sequence[Leg], *, missing: bool
) -> tuple[float, Evidence]:
    """Bring the candidates' scores to the scale of the confidence in the first, which is returned.

    ``missing``: the query names a place that does not exist, so nothing can be quite what was asked for.
    """
    if not candidates:
        return 0.0, Evidence()
    evidence = gather(candidates[0], legs)
    plain = min(probability(evidence), _MISSING_PLACE if missing else _SURE)
    best = max((item.score for item in candidates if not item.pin), default=0.0)
    ceiling = 1.0
    for candidate in candidates:
        if candidate.pin:
            candidate.score = ceiling = min(1.0, _NAMED + (1 - _NAMED) * candidate.pin)
        elif best > 0:
            candidate.score = min(ceiling, plain * candidate.score / best)
    return round(max(PINNED.get(candidates[0].reason, 0.0), plain), 3), evidence
