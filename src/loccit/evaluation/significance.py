"""Significance: whether a difference between two ways of answering the same questions is more than chance.

The sign-flip test computes how often a difference this large would occur if, for each question, chance decided which
way gave which value. The interval comes from bootstrapping: drawing questions repeatedly, with replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 10_000
_SEED = 20_260
_CELLS = 4_000_000
# Differences below this are rounding, not gains or losses.
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """The change from one to the other, with a 95 % interval, and the number of questions won, lost or tied."""

    metric: str
    before: float
    after: float
    change: float
    low: float
    high: float
    p: float
    wins: int
    losses: int
    ties: int

    @property
    def moved(self) -> bool:
        """Whether any question changed."""
        return self.wins + self.losses > 0

    @property
    def significant(self) -> bool:
        """Whether chance alone is an unlikely explanation."""
        return self.p < 0.05


def compare(metric: str, before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare values of the same questions, in the same order."""
    if len(before) != len(after) or not before:
        raise ValueError("a paired comparison needs the same questions on both sides, and at least one")
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    change = new - old
    change[np.abs(change) < _EQUAL] = 0.0
    low, high = _interval(change)
    return Difference(
        metric=metric,
        before=float(old.mean()),
        after=float(new.mean()),
        change=float(new.mean() - old.mean()),
        low=low,
        high=high,
        p=_sign_flip(change),
        wins=int((change > 0).sum()),
        losses=int((change < 0).sum()),
        ties=int((change == 0).sum()),
    )


def _batches(width: int) -> list[int]:
    """Divide the rounds so that a batch fits into memory."""
    size = max(1, min(ROUNDS, _CELLS // width))
    return [min(size, ROUNDS - start) for start in range(0, ROUNDS, size)]


def _sign_flip(change: NDArray[np.float64]) -> float:
    # Unchanged questions say nothing about the direction, whatever their sign.
    moved = change[change != 0]
    if not len(moved):
        return 1.0
    generator = np.random.default_rng(_SEED)
    observed = abs(moved.sum())
    as_large = 0
    for rounds in _batches(len(moved)):
        signs = generator.integers(0, 2, size=(rounds, len(moved)), dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ moved) >= observed - _EQUAL).sum())
    return (as_large + 1) / (ROUNDS + 1)


def _interval(change: NDArray[np.float64]) -> tuple[float, float]:
    generator = np.random.default_rng(_SEED + 1)
    drawn = np.concatenate(
        [
            change[generator.integers(0, len(change), size=(rounds, len(change)))].mean(axis=1)
            for rounds in _batches(len(change))
        ]
    )
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)
