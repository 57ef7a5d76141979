"""Recency: recent documents count a little more, if wanted.

The date is the one stated in the document, or else that of its file. Documents younger than a week count 1.2 times,
younger than 30 days 1.1 times, older ones once; ``bias`` is the share of that effect, from 0 (none, the default) to 1.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from loccit.search.candidates import Candidates, Ids, Scores
from loccit.search.rank.signal import Asked, Ranked, Signal

DAY = 86_400.0
TIERS = ((7 * DAY, 1.2), (30 * DAY, 1.1))
"""Factors by maximum age in seconds, youngest first."""

# Clocks and time zones differ by less than this. A date further in the future is not a date of writing.
_AHEAD = DAY
# Results ranked lower than this do not get to the top by being recent.
_CANDIDATES = 300


def recency_factors(dates: NDArray[np.float64], now: float, bias: float) -> NDArray[np.float64]:
    """Return the factors for dates in seconds since 1970; NaN means no date.

    >>> recency_factors(np.array([8 * DAY, 1 * DAY, np.nan]), 10 * DAY, 1.0).tolist()
    [1.2, 1.1, 1.0]
    """
    ages = now - dates
    factors = np.ones(len(dates))
    # Comparisons with NaN are False, which leaves the factor at 1.
    for limit, factor in reversed(TIERS):
        factors[(ages < limit) & (ages >= -_AHEAD)] = factor
    return 1.0 + bias * (factors - 1.0)


class Recency(Signal):
    """Raises recent documents, by the dates that the index stores."""

    stage = "recency"
    column = "recent"

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Raise recent documents a little, if configured."""
        return self.favour(ranked.table, asked.settings.recency_bias)

    def favour(self, table: Candidates, bias: float, *, now: float | None = None) -> Scores:
        """Return the scores with the best ones multiplied by the recency of their documents; they stay within 0..1."""
        if bias <= 0 or not len(table):
            return table.scores
        order = table.best(_CANDIDATES)
        dates = self._of(table.chunks[order])
        scores = table.scores.copy()
        scores[order] *= recency_factors(dates, time.time() if now is None else now, bias)
        # Scaled all together, so that only recency changes the order.
        return np.asarray(scores / max(1.0, float(scores.max())))

    def _of(self, chunks: Ids) -> NDArray[np.float64]:
        documents = self._index.columns.of(chunks)["document"].tolist()
        dates = self._index.fields.dates_of(set(documents))
        return np.array([dates.get(document, np.nan) for document in documents])
