"""Candidates: what the legs of a search pass to fusion, and what fusion passes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from loccit.index.port.columns import COLUMNS, ColumnValues

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

EXACT, KEYWORD, CODE, SEMANTIC, EXPANSION = "exact", "keyword", "code", "semantic", "expansion"
"""The legs of a search, by the names used in weights, results and explanations."""

HYBRID = "hybrid"
"""All legs at once: the name of the mode, and of the list from a database that fuses keywords and vectors itself."""

GRAPH = "graph"
"""Neighbours of good hits."""

SECTION, DOCUMENT = "section", "document"
"""The groups of chunks whose evidence is added to a chunk's own."""


def union(*ids: Ids) -> Ids:
    """Merge sorted id lists without duplicates: ``np.unique`` of them all, but much faster."""
    joined = np.sort(np.concatenate(ids))
    new = np.ones(len(joined), bool)
    np.not_equal(joined[1:], joined[:-1], out=new[1:])
    return np.asarray(joined[new])


@dataclass(frozen=True, slots=True)
class RankedList:
    """The ranked results of one leg, best first; scores are comparable only within the leg.

    ``floor`` is the score of a chunk unrelated to the query, ``full`` that of a complete match.
    """

    name: str
    chunks: Ids
    scores: Scores
    floor: float = 0.0
    full: float = 0.0

    @classmethod
    def of(cls, name: str, hits: Sequence[tuple[int, float]], floor: float = 0.0) -> RankedList:
        """Build a list from (chunk, score) pairs."""
        return cls(
            name,
            np.fromiter((chunk for chunk, _ in hits), np.int64, len(hits)),
            np.fromiter((score for _, score in hits), np.float64, len(hits)),
            floor,
        )

    def __len__(self) -> int:
        return len(self.chunks)

    def score_of(self, chunk: int, otherwise: float = 0.0) -> float:
        """Return the score of a chunk, if it was found."""
        at = np.flatnonzero(self.chunks == chunk)
        return float(self.scores[at[0]]) if len(at) else otherwise

    def best(self, count: int) -> list[tuple[int, float]]:
        """Return the first hits as pairs."""
        return [
            (int(chunk), float(score))
            for chunk, score in zip(self.chunks[:count], self.scores[:count], strict=True)
        ]


class Candidates:
    """A table of all chunks that any list found, ordered by id; every ranking stage adds a column.

    Columns are never overwritten: ``scored`` keeps every stage's scores by column name, and the last column is the
    current one. All scores are between 0 and 1. ``known`` is what the index stores about the chunks.
    """

    __slots__ = ("chunks", "known", "lists", "scored")

    def __init__(
        self,
        chunks: Ids,
        lists: Sequence[RankedList],
        scored: Mapping[str, Scores],
        known: ColumnValues | None = None,
    ) -> None:
        self.chunks: Ids = chunks
        self.lists: list[RankedList] = list(lists)
        self.scored: dict[str, Scores] = dict(scored)
        self.known: ColumnValues = np.zeros(len(chunks), COLUMNS) if known is None else known

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def scores(self) -> Scores:
        """The scores after the last stage."""
        return next(reversed(self.scored.values()))

    def add(self, column: str, scores: Scores) -> None:
        """Add a column; it becomes the current one."""
        if column in self.scored:
            raise ValueError(f"the column {column} already exists")
        self.scored[column] = scores

    def kept(self, keep: NDArray[np.bool_]) -> Candidates:
        """Return the table without some of its rows."""
        scored = {name: scores[keep] for name, scores in self.scored.items()}
        return Candidates(self.chunks[keep], self.lists, scored, self.known[keep])

    def joined(self, more: RankedList) -> Candidates:
        """Return the table with the chunks of another list added; they score 0 in all existing columns."""
        new = np.unique(more.chunks)
        at = np.minimum(self.positions(new), max(0, len(self) - 1))
        new = new[self.chunks[at] != new] if len(self) else new
        chunks, nothing = np.concatenate([self.chunks, new]), np.zeros(len(new))
        order = np.argsort(chunks, kind="stable")
        known = np.concatenate([self.known, np.zeros(len(new), COLUMNS)])[order]
        scored = {name: np.concatenate([scores, nothing])[order] for name, scores in self.scored.items()}
        return Candidates(chunks[order], [*self.lists, more], scored, known)

    def positions(self, chunks: Ids) -> NDArray[np.intp]:
        """Return the rows of chunks, which must be in the table."""
        return np.searchsorted(self.chunks, chunks)

    def best(self, count: int | None = None) -> NDArray[np.intp]:
        """Return the rows with the best scores, best first; ties in order of id."""
        scores = self.scores
        if count is None or not 0 < count < len(scores):
            return np.argsort(-scores, kind="stable")[:count]
        # Ties with the last one included: only these few have to be sorted.
        enough = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
        return np.asarray(enough[np.argsort(-scores[enough], kind="stable")[:count]])

    def top(self, count: int, always: Collection[int] = (), *, described: bool = True) -> list[Candidate]:
        """Return the best candidates with their scores and ranks per list and stage; ties in order of id.

        Chunks in ``always`` are included wherever they rank. Without ``described``, the details are left out;
        ``describe`` adds them to the few that are shown.
        """
        if always:
            order = self.best()
            named = np.isin(self.chunks[order[count:]], np.fromiter(always, np.int64, len(always)))
            order = np.concatenate([order[:count], order[count:][named]])
        else:
            order = self.best(count)
        scored = zip(self.chunks[order].tolist(), self.scores[order].tolist(), strict=True)
        best = [Candidate(chunk, score, {}, {}, 0.0, "", {}) for chunk, score in scored]
        if described:
            self.describe(best)
        return best

    def describe(self, candidates: Sequence[Candidate]) -> None:
        """Record each candidate's score at every ranking stage, and its rank and score in every list."""
        if not candidates:
            return
        by_chunk = {candidate.chunk: candidate for candidate in candidates}
        chosen = np.sort(np.fromiter(by_chunk, np.int64, len(by_chunk)))
        at = self.positions(chosen)
        columns = zip(*(scores[at].tolist() for scores in self.scored.values()), strict=True)
        for chunk, row in zip(chosen.tolist(), columns, strict=True):
            candidate = by_chunk[chunk]
            # Scores of later stages are kept.
            candidate.stages = dict(zip(self.scored, row, strict=True)) | candidate.stages
        for ranked in self.lists:
            nearest = np.minimum(np.searchsorted(chosen, ranked.chunks), len(chosen) - 1)
            at = np.flatnonzero(chosen[nearest] == ranked.chunks)
            hits = zip(at.tolist(), ranked.chunks[at].tolist(), ranked.scores[at].tolist(), strict=True)
            for rank, chunk, score in hits:
                by_chunk[chunk].ranks[ranked.name] = rank + 1
                by_chunk[chunk].scores[ranked.name] = score


@dataclass(slots=True)
class Candidate:
    """A chunk on its way to becoming a result.

    ``score`` is the current score, ``stages`` the score after each stage; ``ranks`` and ``scores`` come from the lists.
    """

    chunk: int
    score: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    pin: float = 0.0
    reason: str = ""
    stages: dict[str, float] = field(default_factory=dict)

    def rescore(self, stage: str, score: float) -> None:
        """Set the score after a stage; earlier ones are kept in ``stages``."""
        self.score = self.stages[stage] = score

    def rescored(self, stage: str, score: float) -> Candidate:
        """Return a copy with the score after a stage."""
        return replace(self, score=score, stages={**self.stages, stage: score})
