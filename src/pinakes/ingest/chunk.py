"""Chunk: the text of a document is divided into the pieces that are found and cited.

Whatever the strategy, the spans of the chunks tile the document: joined, they give back its text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.ingest.parse import Block, Parsed
from pinakes.ingest.split import Piece, Stretch, split
from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Chunk, ChunkType, Place

_WORD = re.compile(r"\w")
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """How to divide: ``structure`` follows the sections, ``token`` cuts windows of equal size."""

    strategy: str = "structure"
    max_tokens: int = 800
    overlap: int = 50


def chunk_document(
    parsed: Parsed,
    sections: Sequence[Place],
    source_path: str,
    tokens: TokenIndex,
    options: ChunkingOptions,
) -> list[Chunk]:
    """Return the chunks of a document, in order."""
    block_starts = [block.start for block in parsed.blocks]
    section_starts = [section.start for section in sections]
    by_section = options.strategy != "token"
    chunks: list[Chunk] = []
    for start, end, owner in _regions(parsed.text, sections) if by_section else _whole(parsed):
        if by_section:
            first, last = bisect_right(block_starts, start) - 1, bisect_left(block_starts, end)
            stretch = Stretch(start, end, parsed.blocks[max(0, first) : last], sections[owner].body)
        else:
            stretch = Stretch(start, end, [Block("text", start, end)])
        for piece in split(parsed.text, stretch, tokens, options.max_tokens, options.overlap):
            if not by_section:
                owner = max(0, bisect_right(section_starts, piece.start) - 1)
            chunks.append(_chunk(parsed, sections[owner], source_path, len(chunks), piece, tokens))
    return chunks


def _whole(parsed: Parsed) -> list[tuple[int, int, int]]:
    blank = not parsed.text[parsed.body_start :].strip()
    return [] if blank else [(parsed.body_start, len(parsed.text), 0)]


def _regions(text: str, sections: Sequence[Place]) -> list[tuple[int, int, int]]:
    """Return each section's own text, up to the next heading.

    Before the first heading, blank text and lone marks (a rule, an opening ``<div>``) join what comes next.
    """
    regions: list[tuple[int, int, int]] = []
    pending = sections[0].start
    for index, section in enumerate(sections):
        end = sections[index + 1].start if index + 1 < len(sections) else sections[0].end
        own = text[section.start : end]
        if index or (own.strip() and (end == sections[0].end or not _only_marks(own))):
            regions.append((pending, end, section.ordinal))
            pending = end
    return regions


def _only_marks(text: str) -> bool:
    return len(text) < 1000 and not _WORD.search(_TAG.sub("", text))


def _chunk(
    parsed: Parsed, section: Place, source_path: str, index: int, piece: Piece, tokens: TokenIndex
) -> Chunk:
    text = parsed.text
    prefix = text[slice(*piece.prefix)] if piece.prefix else ""
    own = text[piece.start : piece.end]
    only_heading = section.level > 0 and not _WORD.search(text, section.body, piece.end)
    first, last = piece.start + len(own) - len(own.lstrip()), piece.start + len(own.rstrip())
    count = tokens.count(first, last) + (tokens.count(*piece.prefix) if piece.prefix else 0)
    return Chunk(
        source_path=source_path,
        chunk_index=index,
        content=(prefix + own).rstrip(),
        start=piece.start,
        end=piece.end,
        lines=parsed.position.lines(piece.start, piece.end),
        section=section.ordinal,
        prefix=len(prefix),
        parent_chain=section.path,
        section_id=section.section_id,
        section_label=section.label,
        heading=section.heading,
        heading_level=section.level,
        chunk_type=ChunkType.HEADER if only_heading else ChunkType.CONTENT,
        pages=parsed.position.pages(piece.start, piece.end),
        tokens=count,
    )
