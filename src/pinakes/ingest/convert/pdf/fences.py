"""Upright rules, which no line of text crosses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np

from .page import Rule

_NEAR = 1.0
_LEAST_GAP = 0.5
_FEW = 60


class Fences:
    """The upright rules of a page, looked up by the baseline of the words between which they may stand."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._standing = sorted((r.x0, r.y0, r.y1) for r in rules if not r.horizontal)
        # Pictures may be drawn of thousands of them.
        self._many = np.array(self._standing).T if len(self._standing) > _FEW else None
        self._rows: dict[float, list[float]] = {}

    def __bool__(self) -> bool:
        return bool(self._standing)

    def row(self, base: float, size: float) -> list[float]:
        """Where rules stand in the line of some words, from the left."""
        y = base - 0.3 * size
        row = self._rows.get(y)
        if row is None:
            if self._many is None:
                row = [x for x, top, bottom in self._standing if top <= y <= bottom]
            else:
                x, top, bottom = self._many
                row = x[(top <= y) & (y <= bottom)].tolist()
            self._rows[y] = row
        return row


def parted(row: list[float], x0: float, x1: float) -> bool:
    """Whether a rule stands between two places in its row, or as good as there."""
    at = bisect_left(row, x0 - _NEAR)
    return at < len(row) and row[at] <= x1 + _NEAR


def kept_apart(row: list[float], x0: float, x1: float) -> bool:
    """Whether a rule stands in the gap between two words, if there is one to speak of."""
    return x1 - x0 > _LEAST_GAP and parted(row, x0, x1)
