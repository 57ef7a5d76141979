"""Surroundings: the section around a chunk, or as much of it as fits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from pinakes.model import Lines, Pages, Place
from pinakes.port.rows import StoredChunk, StoredPlace

# Characters that a token has at most on average, to leave long sections unread.
_LONG_TOKEN = 12


class Sections(Protocol):
    """What this asks of the record."""

    def place(self, document: int, ordinal: int) -> StoredPlace | None:
        """Return one place of a document."""
        ...

    def chunk_ids_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the chunks that begin inside a span of a document's text, in order."""
        ...

    def chunk_at(self, document: int, offset: int) -> tuple[int, int] | None:
        """Return id and number of the chunk that holds an offset."""
        ...

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id."""
        ...

    def document_text(self, document: int, start: int, end: int) -> str:
        """Return a stretch of a document's text."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """A chunk that was widened, and the chunks whose text it now holds, in order."""

    chunk: StoredChunk
    members: tuple[StoredChunk, ...]


class Surroundings:
    """Widens chunks up to a number of tokens, repeated text counted twice."""

    def __init__(self, sections: Sections, max_tokens: int) -> None:
        self._sections = sections
        self._max_tokens = max_tokens
        self._known: dict[tuple[int, int], Place | None] = {}

    def parent(self, chunk: StoredChunk, *, own: bool) -> Stretch | None:
        """Return the smallest section that holds more than the chunk, if it fits; ``own``: only the chunk's own."""
        section = self._larger(chunk, own=own)
        if section is None or section.end - section.start > _LONG_TOKEN * self._max_tokens:
            return None
        members = self._chunks_of(chunk.document, section)
        tokens = sum(member.tokens for member in members)
        if not members or tokens > self._max_tokens:
            return None
        # Whole chunks: before the first heading, marks without text belong to its chunk, and windows that were cut
        # without regard to sections reach beyond them.
        first, last = members[0], members[-1]
        lines = Lines(min(section.lines.first, first.lines.first), max(section.lines.last, last.lines.last))
        pages = _joined(section.pages, _joined(first.pages, last.pages))
        start, end = min(section.start, first.start), max(section.end, last.end)
        widened = replace(
            self._widened(chunk, start, end, lines, pages, tokens),
            section=section.ordinal,
            parent_chain=section.path,
            section_id=section.section_id,
            section_label=section.label,
            heading=section.heading,
            heading_level=section.level,
        )
        return Stretch(widened, tuple(members))

    def neighbours(self, chunk: StoredChunk, taken: Collection[int]) -> Stretch:
        """Return the chunk between as many others of its section as fit and are not taken."""
        near = self._near(chunk)
        room = self._max_tokens - chunk.tokens
        around = [chunk]
        # By turns after and before, so that the chunk stays in the middle.
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
            # Up to the document itself, section 0, but not including it: a file is no section to cite.
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
            # A heading that has come to its text is no longer a bare one.
            chunk_type="content" if chunk.chunk_type == "header" else chunk.chunk_type,
        )


def _joined(a: Pages | None, b: Pages | None) -> Pages | None:
    if a is None or b is None:
        return a or b
    return Pages(min(a.first, b.first), max(a.last, b.last))
