"""Candidates: what the legs of a search hand to fusion, and what fusion hands on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Leg:
    """The ranked answer of one way of searching, best first; scores are comparable within the leg only.

    ``floor`` is what a chunk that has nothing to do with the query scores, ``full`` what one would that has all of it.
    """

    name: str
    chunks: Ids
    scores: Scores
    floor: float = 0.0
    full: float = 0.0

    @classmethod
    def of(cls, name: str, hits: Sequence[tuple[int, float]], floor: float = 0.0) -> Leg:
        """Make a leg of (chunk, score) pairs."""
        return cls(
            name,
            np.fromiter((chunk for chunk, _ in hits), np.int64, len(hits)),
            np.fromiter((score for _, score in hits), np.float64, len(hits)),
            floor,
        )

    def __len__(self) -> int:
        return len(self.chunks)

    def best(self, count: int) -> list[tuple[int, float]]:
        """Return the first hits as pairs."""
        return [
            (int(chunk), float(score))
            for chunk, score in zip(self.chunks[:count], self.scores[:count], strict=True)
        ]


@dataclass(slots=True)
class Fused:
    """All chunks that any leg found, in order of their ids, with one score each between 0 and 1."""

    chunks: Ids
    scores: Scores
    legs: list[Leg]

    def positions(self, chunks: Ids) -> NDArray[np.intp]:
        """Return where chunks stand in ``chunks``; they must be there."""
        return np.searchsorted(self.chunks, chunks)

    def top(self, count: int, always: Collection[int] = ()) -> list[Candidate]:
        """Return the best as candidates, with what each leg said of them; equal scores in order of id.

        Those of ``always`` are among them, wherever they stand.
        """
        order = np.lexsort((self.chunks, -self.scores))
        if always:
            named = np.isin(self.chunks[order[count:]], np.fromiter(always, np.int64, len(always)))
            order = np.concatenate([order[:count], order[count:][named]])
        else:
            order = order[:count]
        best = {int(self.chunks[at]): Candidate(int(self.chunks[at]), float(self.scores[at])) for at in order}
        for leg in self.legs:
            for at in np.flatnonzero(np.isin(leg.chunks, self.chunks[order])):
                candidate = best[int(leg.chunks[at])]
                candidate.ranks[leg.name] = int(at) + 1
                candidate.scores[leg.name] = float(leg.scores[at])
        return list(best.values())


@dataclass(slots=True)
class Candidate:
    """A chunk on its way to becoming a result."""

    chunk: int
    score: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    pin: float = 0.0
    reason: str = ""
