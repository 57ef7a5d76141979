"""Refine: fused candidates become a list worth reading; no more candidates are read than needed.

threshold > duplicates (exact, near, semantic), or MMR > limit per document

Each candidate goes through all stages before the next one is considered, and is compared with those kept; so duplicated
text is always represented by a result that is shown. MMR chooses from a pool of a few times as many candidates as are
wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from loccit.config import SearchSettings
from loccit.index.port.records import StoredChunk
from loccit.models.embedding.protocol import Vectors
from loccit.search.candidates import Candidate
from loccit.search.select.duplicates import ExactDuplicates, NearDuplicates, SemanticDuplicates
from loccit.search.select.wording import Wording, wording_of


class Reader(Protocol):
    """What refining needs to know about chunks."""

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, without those that no longer exist."""
        ...

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return a unit vector for each chunk that has one."""
        ...


# -- threshold: fewer results rather than noise --------------------------------------------------------------


def above_threshold(candidates: Iterable[Candidate], settings: SearchSettings) -> list[Candidate]:
    """Drop candidates below ``min_confidence`` or ``min_score``, unless the query names them."""
    lowest = max(settings.min_confidence, settings.min_score or 0.0)
    return [candidate for candidate in candidates if candidate.pin > 0 or candidate.score >= lowest]


# -- quota: how many results one document may have -----------------------------------------------------------


class DocumentQuota:
    """Counts the results per document; a limit of 0 admits everything."""

    name = "doc_limit"

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: Counter[int] = Counter()

    def admit(self, document: int, *, named: bool) -> bool:
        """Whether another result of this document is allowed; what the query names always is, and counts."""
        if self._limit and not named and self._taken[document] >= self._limit:
            return False
        self._taken[document] += 1
        return True


# -- maximal marginal relevance: each next result is relevant, and unlike those before it --------------------


def select(
    pool: Sequence[Candidate],
    vectors: Mapping[int, Vectors],
    trade_off: float,
    limit: int,
    admit: Callable[[Candidate], bool],
) -> list[Candidate]:
    """Choose up to ``limit`` candidates of a pool that ``admit`` accepts, in the order of choice.

    Each step takes the candidate with the highest ``trade_off * score - (1 - trade_off) * similarity``, where the
    similarity is the highest cosine to one already chosen; ties go to the earlier one. What the query names comes
    first.
    """
    chosen: list[Candidate] = []
    matrix = _matrix(pool, vectors)
    scores = np.array([candidate.score for candidate in pool], dtype=np.float64)
    likeness = np.zeros(len(pool))
    left = np.ones(len(pool), dtype=bool)
    named = [at for at, candidate in enumerate(pool) if candidate.pin > 0][::-1]
    while len(chosen) < limit and left.any():
        if named:
            best = named.pop()
        else:
            worth = np.where(left, trade_off * scores - (1 - trade_off) * likeness, -np.inf)
            best = int(np.argmax(worth))
        left[best] = False
        if not admit(pool[best]):
            continue
        cosines = matrix @ matrix[best]
        likeness = np.maximum(likeness, cosines) if chosen else cosines
        chosen.append(pool[best])
    return chosen


def _matrix(pool: Sequence[Candidate], vectors: Mapping[int, Vectors]) -> Vectors:
    """Return one row per candidate; zeros, which are similar to nothing, if it has no vector."""
    width = len(next(iter(vectors.values()), ()))
    missing = np.zeros(width, dtype=np.float32)
    rows = [vectors.get(candidate.chunk, missing) for candidate in pool]
    return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


# -- the stages after fusion, one candidate at a time --------------------------------------------------------


# MMR chooses from this many times as many candidates as are wanted.
_POOL = 4


class _Duplicates(Protocol):
    name: str

    def find(self, wording: Wording) -> int | None: ...

    def keep(self, wording: Wording) -> None: ...


@dataclass(frozen=True, slots=True)
class Refined:
    """What is left, best first, with descending scores.

    ``chunks`` are the texts that were read, so they need not be read again. ``also_in`` has, for a kept chunk, its
    duplicates, best first. ``removed`` names the stage that removed a candidate; ``gone`` are those no longer in the
    record.

    ``stats`` counts the candidates left after each stage. Candidates are considered until enough are settled: from
    ``looked_at`` on, the counts refer to these, and the difference between two counts is what that stage removed.
    ``clusters_merged`` are the semantic duplicates. ``after_mmr`` counts those that MMR chose, ``after_doc_limit``
    those passed on.
    """

    candidates: list[Candidate]
    chunks: dict[int, StoredChunk]
    also_in: dict[int, list[int]]
    removed: dict[int, str]
    stats: dict[str, int]


def refine(
    candidates: Sequence[Candidate], settings: SearchSettings, reader: Reader, *, limit: int
) -> Refined:
    """Remove weak candidates, duplicates and too many from one document, until ``limit`` are left.

    What the query names (``pin``) is never removed. Candidates come best first; none is modified.
    """
    passed = above_threshold(candidates, settings)
    run = _Run(settings, reader, limit)
    kept = run.diverse(passed) if run.uses_mmr else run.in_order(passed)
    if len(passed) < len(candidates):
        above = {candidate.chunk for candidate in passed}
        run.removed.update((c.chunk, "threshold") for c in candidates if c.chunk not in above)
    return Refined(
        _descending(kept),
        run.chunks,
        {
            candidate.chunk: run.also_in[candidate.chunk]
            for candidate in kept
            if candidate.chunk in run.also_in
        },
        run.removed,
        run.stats(len(candidates), len(passed)),
    )


class _Run:
    """One refinement in progress."""

    def __init__(self, settings: SearchSettings, reader: Reader, limit: int) -> None:
        self._reader = reader
        self._limit = limit
        self._trade_off = settings.mmr_lambda
        self.uses_mmr = settings.mmr_enabled and settings.uses("mmr")
        self._vectors: dict[int, Vectors] = {}
        self._duplicates: list[_Duplicates] = []
        if settings.uses("content_dedup"):
            self._duplicates.append(ExactDuplicates())
        if settings.uses("ngram_dedup"):
            self._duplicates.append(NearDuplicates(settings.ngram_dedup_threshold))
        self._by_meaning = settings.dedup_enabled and settings.uses("semantic_dedup") and not self.uses_mmr
        if self._by_meaning:
            self._duplicates.append(
                SemanticDuplicates(
                    settings.dedup_similarity_threshold, settings.ngram_dedup_threshold, self._vectors
                )
            )
        self._quota = DocumentQuota(settings.max_chunks_per_doc if settings.uses("doc_limit") else 0)
        self._settled = 0
        self._looked_at = 0
        self.chunks: dict[int, StoredChunk] = {}
        self.also_in: dict[int, list[int]] = {}
        self.removed: dict[int, str] = {}

    def in_order(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Keep candidates in order until there are enough."""
        kept: list[Candidate] = []
        for candidate, wording in self._read(candidates, self._limit):
            if self._is_duplicate(candidate, wording):
                continue
            if self._admit(candidate):
                self._keep(wording)
                kept.append(candidate)
                if len(kept) == self._limit:
                    break
        return kept

    def diverse(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Collect more than enough, then choose."""
        pool: list[Candidate] = []
        for candidate, wording in self._read(candidates, _POOL * self._limit):
            if self._is_duplicate(candidate, wording):
                continue
            self._keep(wording)
            pool.append(candidate)
            if len(pool) == _POOL * self._limit:
                break
        self._vectors.update(self._reader.vectors([candidate.chunk for candidate in pool]))
        kept = select(pool, self._vectors, self._trade_off, self._limit, self._admit)
        settled = {candidate.chunk for candidate in kept} | self.removed.keys()
        self.removed.update((c.chunk, "mmr") for c in pool if c.chunk not in settled)
        return kept

    def stats(self, original: int, passed: int) -> dict[str, int]:
        """Count what is left after each stage."""
        removed = Counter(self.removed.values())
        stats = {"original_count": original, "after_threshold": passed, "looked_at": self._looked_at}
        left = self._looked_at
        for stage, name in (
            ("content_dedup", "after_content_dedup"),
            ("ngram_dedup", "after_ngram_dedup"),
            ("semantic_dedup", "after_dedup"),
            ("mmr", "after_mmr"),
            ("doc_limit", "after_doc_limit"),
        ):
            left -= removed[stage]
            stats[name] = left
            if stage == "semantic_dedup":
                stats["clusters_merged"] = removed[stage]
        return stats

    # -- one candidate ---------------------------------------------------------------------------------------

    def _is_duplicate(self, candidate: Candidate, wording: Wording) -> bool:
        if candidate.pin > 0:
            return False
        for duplicates in self._duplicates:
            duplicate = duplicates.find(wording)
            if duplicate is not None:
                self.also_in.setdefault(duplicate, []).append(candidate.chunk)
                self.removed[candidate.chunk] = duplicates.name
                return True
        return False

    def _keep(self, wording: Wording) -> None:
        self._settled += 1
        for duplicates in self._duplicates:
            duplicates.keep(wording)

    def _admit(self, candidate: Candidate) -> bool:
        document = self.chunks[candidate.chunk].document
        admitted = self._quota.admit(document, named=candidate.pin > 0)
        if not admitted:
            self.removed[candidate.chunk] = self._quota.name
        return admitted

    def _read(self, candidates: Sequence[Candidate], wanted: int) -> Iterator[tuple[Candidate, Wording]]:
        """Read the texts still needed; those gone from the record make room for the next."""
        position = 0
        while position < len(candidates):
            # A minimum batch: one query to the record per candidate would be slow.
            size = max(wanted - self._settled, wanted // 2, 1)
            batch = candidates[position : position + size]
            position += len(batch)
            ids = [candidate.chunk for candidate in batch]
            found = self._reader.chunks(ids)
            self.chunks.update(found)
            if self._by_meaning:
                self._vectors.update(self._reader.vectors(ids))
            for candidate in batch:
                if candidate.chunk not in found:
                    self.removed[candidate.chunk] = "gone"
                    continue
                self._looked_at += 1
                yield candidate, wording_of(found[candidate.chunk])


def _descending(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with no score above the previous one's: MMR changes the order."""
    kept: list[Candidate] = []
    lowest = 1.0
    for candidate in candidates:
        lowest = min(lowest, candidate.score)
        kept.append(candidate if candidate.score == lowest else candidate.rescored("refined", lowest))
    return kept
