"""Parents: the section around a chunk, or as much of it as fits, replaces the chunk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loccit.config import SearchSettings
from loccit.index.port.records import Records, StoredChunk
from loccit.model import Lines, Pages, Place, chunk_id
from loccit.search.candidates import Candidate

# Upper bound of the average token length, to avoid reading sections that are too long.
_LONG_TOKEN = 12


@dataclass(frozen=True, slots=True)
class Stretch:
    """A widened chunk, and the chunks whose text it contains, in order."""

    chunk: StoredChunk
    members: tuple[StoredChunk, ...]


class Surroundings:
    """Widens chunks up to a number of tokens, repeated text counted twice."""

    def __init__(self, sections: Records, max_tokens: int) -> None:
        self._sections = sections
        self._max_tokens = max_tokens
        self._known: dict[tuple[int, int], Place | None] = {}

    def parent(self, chunk: StoredChunk, *, own: bool) -> Stretch | None:
        """Return the smallest section that contains more than the chunk, if it fits; ``own``: only the chunk's own."""
        section = self._larger(chunk, own=own)
        if section is None or section.end - section.start > _LONG_TOKEN * self._max_tokens:
            return None
        members = self._chunks_of(chunk.document, section)
        tokens = sum(member.tokens for member in members)
        if not members or tokens > self._max_tokens:
            return None
        # Whole chunks: before the first heading, anchors without text belong to its chunk, and windows cut
        # regardless of sections extend beyond them.
        first, last = members[0], members[-1]
        lines = Lines(min(section.lines.first, first.lines.first), max(section.lines.last, last.lines.last))
        pages = _joined(section.pages, _joined(first.pages, last.pages))
        start, end = min(section.start, first.start), max(section.end, last.end)
        widened = replace(
            self._widened(chunk, start, end, lines, pages, tokens),
            section=section.ordinal,
            parent_chain=section.path,
            section_id=section.section_id,
            place_id=section.place_id,
            section_label=section.label,
            heading=section.heading,
            heading_level=section.level,
        )
        return Stretch(widened, tuple(members))

    def neighbours(self, chunk: StoredChunk, taken: Collection[int]) -> Stretch:
        """Return the chunk with as many adjacent chunks of its section as fit and are not taken."""
        near = self._near(chunk)
        room = self._max_tokens - chunk.tokens
        around = [chunk]
        # Alternately after and before, so that the chunk stays in the middle.
        steps = [1, -1]
        while steps:
            step = steps.pop(0)
            other = near.get((around[-1] if step > 0 else around[0]).chunk_index + step)
            if other is not None and other.tokens <= room and other.id not in taken:
                room -= other.tokens
                around.insert(len(around) if step > 0 else 0, other)
                steps.append(step)
        if len(around) == 1:
            return Stretch(chunk, (chunk,))
        first, last = around[0], around[-1]
        lines = Lines(first.lines.first, last.lines.last)
        pages = _joined(first.pages, last.pages)
        tokens = self._max_tokens - room
        return Stretch(self._widened(chunk, first.start, last.end, lines, pages, tokens), tuple(around))

    # -- the section tree ------------------------------------------------------------------------------------

    def _larger(self, chunk: StoredChunk, *, own: bool) -> Place | None:
        section = self._section(chunk.document, chunk.section)
        while section is not None and chunk.start <= section.start and section.end <= chunk.end:
            # Up to the document itself, section 0, but without it: a file is not a section to cite.
            above = None if own else section.parent
            section = self._section(chunk.document, above) if above else None
        return section

    def _section(self, document: int, ordinal: int) -> Place | None:
        if (document, ordinal) not in self._known:
            stored = self._sections.place(document, ordinal)
            self._known[document, ordinal] = stored.place if stored else None
        return self._known[document, ordinal]

    def _chunks_of(self, document: int, section: Place) -> list[StoredChunk]:
        ids = self._sections.chunk_ids_between(document, section.start, section.end)
        holder = self._sections.chunk_at(document, section.start)
        if holder and holder[0] not in ids:
            ids = [holder[0], *ids]
        return sorted(self._sections.chunks(ids).values(), key=lambda chunk: chunk.chunk_index)

    def _near(self, chunk: StoredChunk) -> dict[int, StoredChunk]:
        """Return the chunks of the same section that are close enough to fit, by number."""
        section = self._section(chunk.document, chunk.section)
        reach = _LONG_TOKEN * (self._max_tokens - chunk.tokens)
        if section is None or reach <= 0:
            return {}
        start, end = max(0, chunk.start - reach), min(section.end, chunk.end + reach)
        ids = self._sections.chunk_ids_between(chunk.document, start, end)
        found = self._sections.chunks(ids).values()
        return {other.chunk_index: other for other in found if other.section == chunk.section}

    def _widened(
        self, chunk: StoredChunk, start: int, end: int, lines: Lines, pages: Pages | None, tokens: int
    ) -> StoredChunk:
        return replace(
            chunk,
            content=self._sections.document_text(chunk.document, start, end).rstrip(),
            prefix=0,
            start=start,
            end=end,
            lines=lines,
            pages=pages,
            tokens=tokens,
            # A heading that is joined with its text is no longer a bare one.
            chunk_type="content" if chunk.chunk_type == "header" else chunk.chunk_type,
        )


def _joined(a: Pages | None, b: Pages | None) -> Pages | None:
    if a is None or b is None:
        return a or b
    return Pages(min(a.first, b.first), max(a.last, b.last))


# -- parents: a small unit is matched, the larger one around it returned -------------------------------------
#
# The parent of a chunk is the smallest section that contains more than the chunk: the one it is a part of or,
# if it is a whole section, the one above. If that is too large, the chunk is joined with its neighbours in
# its own section; a whole section stays as it is, because its neighbours are other sections. What the query
# names by itself is not widened beyond its own section.


@dataclass(frozen=True, slots=True)
class Expanded:
    """A future result.

    ``chunk`` is the chunk that was found, with content, span, lines, pages and section of what is returned for it; a
    widened one has no repeated text, so offsets in it count from ``chunk.start``. ``members`` are the chunks whose text
    it contains, in order, and ``chunk_ids`` their public ids; ``merged`` are the other candidates it represents.
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
    sections: Records,
    *,
    limit: int | None = None,
    hidden: Collection[int] = (),
) -> list[Expanded]:
    """Return up to ``limit`` parents of candidates, best first, without overlapping text.

    ``hidden`` are chunks that the query excludes: no parent includes them.

    Candidates that share a parent become one result, with the rank and score of the best. Without parent retrieval in
    the settings, or for a chunk without a parent, the result is the chunk itself.
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
    """The results so far, and which of them contains which chunk: no text is shown twice."""

    def __init__(self, surroundings: Surroundings, hidden: frozenset[int]) -> None:
        self._surroundings = surroundings
        self._hidden = hidden
        self._owners: dict[int, _Result] = {}
        self.results: list[_Result] = []

    def add(self, candidate: Candidate, chunk: StoredChunk) -> None:
        """Add the next best candidate."""
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
        """Whether a stretch may be shown: it contains all results that overlap it, and nothing hidden."""
        ids = {member.id for member in stretch.members}
        if ids & self._hidden:
            return False
        owners = {owner for chunk in ids if (owner := self._owners.get(chunk))}
        return all(member.id in ids for owner in owners for member in owner.stretch.members)

    def _take_in(self, inside: set[_Result], result: _Result) -> None:
        """Replace the best of the results that a larger parent contains, and drop the others."""
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
