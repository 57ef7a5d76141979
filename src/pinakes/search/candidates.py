"""Candidates: what the legs of a search hand to fusion, and what fusion hands on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]


def union(*ids: Ids) -> Ids:
    """Join lists of ids in order, each id once: what ``np.unique`` does, in a fraction of its time."""
    joined = np.sort(np.concatenate(ids))
    new = np.ones(len(joined), bool)
    np.not_equal(joined[1:], joined[:-1], out=new[1:])
    return np.asarray(joined[new])


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

    def best(self, count: int | None = None) -> NDArray[np.intp]:
        """Return where the chunks with the best scores stand, best first; equal scores in order of id."""
        return np.argsort(-self.scores, kind="stable")[:count]

    def top(self, count: int, always: Collection[int] = ()) -> list[Candidate]:
        """Return the best as candidates, with what each leg said of them; equal scores in order of id.

        Those of ``always`` are among them, wherever they stand.
        """
        order = self.best()
        if always:
            named = np.isin(self.chunks[order[count:]], np.fromiter(always, np.int64, len(always)))
            order = np.concatenate([order[:count], order[count:][named]])
        else:
            order = order[:count]
        pairs = zip(self.chunks[order].tolist(), self.scores[order].tolist(), strict=True)
        best = {chunk: Candidate(chunk, score) for chunk, score in pairs}
        if best:
            self._add_legs(best, np.sort(self.chunks[order]))
        return list(best.values())

    def _add_legs(self, candidates: dict[int, Candidate], chosen: Ids) -> None:
        """Note the rank and the score of candidates, whose ids come in order too, in every leg."""
        for leg in self.legs:
            nearest = np.minimum(np.searchsorted(chosen, leg.chunks), len(chosen) - 1)
            at = np.flatnonzero(chosen[nearest] == leg.chunks)
            hits = zip(at.tolist(), leg.chunks[at].tolist(), leg.scores[at].tolist(), strict=True)
            for rank, chunk, score in hits:
                candidates[chunk].ranks[leg.name] = rank + 1
                candidates[chunk].scores[leg.name] = score


@dataclass(slots=True)
class Candidate:
    """A chunk on its way to becoming a result."""

    chunk: int
    score: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    pin: float = 0.0
    reason: str = ""
