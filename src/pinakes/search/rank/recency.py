"""Recency: what was written lately counts a little more, if that is wanted.

The date is the one a document gives itself, else that of its file. Below a week it counts 1.2 times, below 30 days
1.1 times, older as it is; ``bias`` takes as much of that as it says, from 0 (nothing, the default) to 1.
"""

from __future__ import annotations

import time
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from pinakes.search.candidates import Candidates, Ids, Scores
from pinakes.search.rank.signal import Asked, Ranked, Signal

DAY = 86_400.0
TIERS = ((7 * DAY, 1.2), (30 * DAY, 1.1))
"""Age in seconds below which a factor holds, youngest first."""

# Clocks and time zones differ by less than this. A date further ahead is not one of writing.
_AHEAD = DAY
# What stands further down than this does not come to the top by being new.
_CANDIDATES = 300


def recency_factor(date: datetime | None, now: datetime, bias: float) -> float:
    """Return what the score of a document of some date is multiplied by; 1.0 for one without a date.

    >>> now = datetime(2025, 3, 10, tzinfo=timezone.utc)
    >>> [recency_factor(datetime(2025, 3, day), now, bias) for day, bias in ((8, 1.0), (8, 0.5), (1, 1.0))]
    [1.2, 1.1, 1.1]
    """
    stamp = np.nan if date is None else _utc(date).timestamp()
    return round(float(recency_factors(np.array([stamp]), _utc(now).timestamp(), bias)[0]), 12)


def recency_factors(dates: NDArray[np.float64], now: float, bias: float) -> NDArray[np.float64]:
    """Return the factors for dates given in seconds since 1970; not a number stands for none."""
    ages = now - dates
    factors = np.ones(len(dates))
    # Comparing with what is no number gives False, which leaves the factor as it is.
    for limit, factor in reversed(TIERS):
        factors[(ages < limit) & (ages >= -_AHEAD)] = factor
    return 1.0 + bias * (factors - 1.0)


def _utc(date: datetime) -> datetime:
    return date if date.tzinfo else date.replace(tzinfo=timezone.utc)


class Recency(Signal):
    """Knows the dates of documents, which the index keeps with them."""

    stage, column = "recency", "recent"

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Let what was written lately count a little more, where that is wanted."""
        return self.favour(ranked.table, asked.settings.recency_bias)

    def favour(self, table: Candidates, bias: float, *, now: float | None = None) -> Scores:
        """Return the scores, those of the best multiplied by how new their documents are; they stay within 0..1."""
        if bias <= 0 or not len(table):
            return table.scores
        order = table.best(_CANDIDATES)
        dates = self._of(table.chunks[order])
        scores = table.scores.copy()
        scores[order] *= recency_factors(dates, time.time() if now is None else now, bias)
        # All of them, so that nothing else changes than what being new is worth.
        return np.asarray(scores / max(1.0, float(scores.max())))

    def _of(self, chunks: Ids) -> NDArray[np.float64]:
        documents = self._index.columns.of(chunks)["document"].tolist()
        dates = self._index.fields.dates_of(set(documents))
        return np.array([dates.get(document, np.nan) for document in documents])
