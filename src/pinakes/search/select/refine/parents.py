"""Parents: a small unit is matched, the larger one around it is returned.

The parent of a chunk is the smallest section that holds more than the chunk: the one it is a part of or, when it
is a whole section, the one above. Where that is too large, the chunk takes in its neighbours in its own section;
a whole section stays as it is, because its neighbours are other sections. What the query names by itself is not
widened beyond its own section.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pinakes.config import SearchSettings
from pinakes.model import chunk_id
from pinakes.port.rows import StoredChunk
from pinakes.search.candidates import Candidate
from pinakes.search.select.refine.surroundings import Sections, Stretch, Surroundings


@dataclass(frozen=True, slots=True)
class Expanded:
    """A result to be.

    ``chunk`` is the chunk that was found, with content, span, lines, pages and section of what is returned for it;
    a widened one repeats nothing, so places in it count from ``chunk.start``. ``members`` are the chunks whose text
    it holds, in order, and ``chunk_ids`` their public ids; ``merged`` are the other candidates it stands for.
    """

    candidate: Candidate
    chunk: StoredChunk
    members: tuple[int, ...]
    chunk_ids: tuple[str, ...]
    merged: tuple[int, ...] = ()


def expand_parents(
    candidates: Sequence[Candidate],
    chunks: Mapping[int, StoredChunk],
    settings: SearchSettings,
    sections: Sections,
    *,
    limit: int | None = None,
    hidden: Collection[int] = (),
) -> list[Expanded]:
    """Return each candidate's parent, best first, each part of a text once, at most ``limit``.

    ``hidden`` are chunks that the query does not want: no parent takes them in.

    Candidates that share a parent become one result, in the place and with the score of the best. Without parent
    retrieval in the settings, or for a chunk that has no parent, the result is the chunk itself.
    """
    enabled = settings.parent_retrieval_enabled and settings.uses("parents")
    expansion = _Expansion(Surroundings(sections, settings.parent_max_tokens), frozenset(hidden))
    for candidate in candidates:
        if limit is not None and len(expansion.results) >= limit:
            break
        chunk = chunks[candidate.chunk]
        if enabled:
            expansion.add(candidate, chunk)
        else:
            expansion.results.append(_Result(candidate, Stretch(chunk, (chunk,))))
    return [result.finish() for result in expansion.results]


@dataclass(slots=True, eq=False)
class _Result:
    candidate: Candidate
    stretch: Stretch
    merged: list[int] = field(default_factory=list)

    def finish(self) -> Expanded:
        members = self.stretch.members
        return Expanded(
            self.candidate,
            self.stretch.chunk,
            tuple(member.id for member in members),
            tuple(chunk_id(member.source_path, member.chunk_index) for member in members),
            tuple(self.merged),
        )


class _Expansion:
    """Results so far, and which of them holds which chunk: no text is shown twice."""

    def __init__(self, surroundings: Surroundings, hidden: frozenset[int]) -> None:
        self._surroundings = surroundings
        self._hidden = hidden
        self._owners: dict[int, _Result] = {}
        self.results: list[_Result] = []

    def add(self, candidate: Candidate, chunk: StoredChunk) -> None:
        """Take in the next best candidate."""
        owner = self._owners.get(chunk.id)
        if owner is not None:
            owner.merged.append(chunk.id)
            return
        stretch = self._surroundings.parent(chunk, own=candidate.pin > 0)
        if stretch is None or not self._fits(stretch):
            stretch = self._surroundings.neighbours(chunk, self._owners.keys() | self._hidden)
        result = _Result(candidate, stretch)
        inside = {owner for member in stretch.members if (owner := self._owners.get(member.id))}
        if inside:
            self._take_in(inside, result)
        else:
            self.results.append(result)
        self._owners.update((member.id, result) for member in stretch.members)

    def _fits(self, stretch: Stretch) -> bool:
        """Whether a stretch may be shown: results that share text with it lie inside it entirely, nothing is hidden."""
        ids = {member.id for member in stretch.members}
        if ids & self._hidden:
            return False
        owners = {owner for chunk in ids if (owner := self._owners.get(chunk))}
        return all(member.id in ids for owner in owners for member in owner.stretch.members)

    def _take_in(self, inside: set[_Result], result: _Result) -> None:
        """Put a larger parent in the place of the best of those that it holds."""
        best, *others = [known for known in self.results if known in inside]
        lost = [chunk for other in others for chunk in (other.candidate.chunk, *other.merged)]
        result.merged = [*best.merged, *lost, result.candidate.chunk]
        result.candidate = best.candidate
        found = best.stretch.chunk
        widened = replace(
            result.stretch.chunk,
            id=found.id,
            chunk_index=found.chunk_index,
            chunk_type=found.chunk_type,
            context=found.context,
        )
        result.stretch = replace(result.stretch, chunk=widened)
        self.results = [result if known is best else known for known in self.results if known not in others]
