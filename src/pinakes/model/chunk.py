"""Chunks, the unit that is found and cited, and passages, the unit that is embedded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pinakes.model.document import Lines, Pages


class ChunkType(str, Enum):
    """What a chunk mostly is."""

    CONTENT = "content"
    DEFINITION = "definition"
    REQUIREMENT = "requirement"
    REFERENCE = "reference"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Passage:
    """A window of a chunk small enough for the embedding model to read whole.

    ``start`` and ``end`` are offsets into the chunk's content; ``text_hash`` names the exact text that is
    embedded (context and window), so that equal texts share one vector.
    """

    start: int
    end: int
    text_hash: str = ""


def chunk_id(source_path: str, index: int) -> str:
    """Return the public id of a chunk."""
    return f"{source_path}_chunk_{index}"


def chunk_number(public_id: str) -> int | None:
    """Return the index in a chunk's public id, or None when there is none."""
    number = public_id.rpartition("_chunk_")[2]
    return int(number) if number.isdigit() else None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one section.

    ``start`` to ``end`` is its own part of the document's text; these spans tile the document without gap or
    overlap. ``content`` is what is shown: that part, preceded by ``prefix`` characters that are repeated from
    before it (overlap with the chunk before, or the header row of a split table). ``clauses`` and
    ``cross_references`` are the section ids of the clauses it holds and of the places it refers to.
    """

    source_path: str
    chunk_index: int
    content: str
    start: int
    end: int
    lines: Lines
    section: int
    prefix: int = 0
    parent_chain: tuple[str, ...] = ()
    section_id: str = ""
    section_label: str = ""
    heading: str = ""
    heading_level: int = 0
    chunk_type: ChunkType = ChunkType.CONTENT
    pages: Pages | None = None
    tokens: int = 0
    context: str = ""
    clauses: tuple[str, ...] = ()
    cross_references: tuple[str, ...] = ()
    defined_term: str = ""
    defined_term_normalized: str = ""
    passages: tuple[Passage, ...] = ()

    @property
    def id(self) -> str:
        """Public id: ``{source_path}_chunk_{index}``."""
        return chunk_id(self.source_path, self.chunk_index)

    @property
    def contextualized_content(self) -> str:
        """The text that is searched: structural context, then content."""
        return f"{self.context}\n\n{self.content}" if self.context else self.content
