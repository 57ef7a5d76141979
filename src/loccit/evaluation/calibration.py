"""Calibration: of answers given with a confidence of 0.8, eight in ten should be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers with similar confidence."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """All bins with answers, and the mean difference between confidence and accuracy."""

    error: float
    bins: list[Bin]


@dataclass(frozen=True, slots=True)
class OffTopic:
    """The confidence of a search for questions that nothing answers; low is good.

    ``told_apart`` is how often, of one answerable question whose first result is right and one off-topic question, the
    former gets the higher confidence: 0.5 is chance.
    """

    questions: int
    confidence: float
    above_half: float
    told_apart: float | None


def off_topic(confidences: Sequence[float], answers: Sequence[tuple[float, bool]]) -> OffTopic | None:
    """Compare the confidence for off-topic questions with that in right answers; None without such questions."""
    if not confidences:
        return None
    right = [confidence for confidence, is_right in answers if is_right]
    pairs = [(own > other) + 0.5 * (own == other) for own in right for other in confidences]
    return OffTopic(
        questions=len(confidences),
        confidence=sum(confidences) / len(confidences),
        above_half=sum(confidence > 0.5 for confidence in confidences) / len(confidences),
        told_apart=sum(pairs) / len(pairs) if pairs else None,
    )


def calibrate(answers: Sequence[tuple[float, bool]]) -> Calibration | None:
    """Sort answers by confidence into bins of equal width; None if there are no answers."""
    if not answers:
        return None
    sorted_in: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in answers:
        sorted_in.setdefault(min(BINS - 1, int(confidence * BINS)), []).append((confidence, right))
    bins = [
        Bin(
            number / BINS,
            (number + 1) / BINS,
            len(own),
            sum(confidence for confidence, _ in own) / len(own),
            sum(right for _, right in own) / len(own),
        )
        for number, own in sorted(sorted_in.items())
    ]
    error = sum(b.count * abs(b.confidence - b.right) for b in bins) / len(answers)
    return Calibration(error, bins)
