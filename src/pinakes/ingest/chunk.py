"""Chunk: the text of a document is divided into the pieces that are found and cited.

Whatever the strategy, the spans of the chunks tile the document: joined, they give back its text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.ingest.parse import Block, Parsed
from pinakes.ingest.split import Piece, split
from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Chunk, ChunkType, Section


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """How to divide: ``structure`` follows the sections, ``token`` cuts windows of equal size."""

    strategy: str = "structure"
    max_tokens: int = 800
    overlap: int = 50


def chunk_document(
    parsed: Parsed,
    sections: Sequence[Section],
    source_path: str,
    tokens: TokenIndex,
    options: ChunkingOptions,
) -> list[Chunk]:
    """Return the chunks of a document, in order."""
    text = parsed.text
    windows = options.strategy == "token"
    regions = [(parsed.body_start, len(text), 0)] if windows else _regions(text, sections)
    block_starts = [block.start for block in parsed.blocks]
    section_starts = [section.start for section in sections]
    chunks: list[Chunk] = []
    for start, end, owner in regions:
        blocks = parsed.blocks[max(0, bisect_right(block_starts, start) - 1) : bisect_left(block_starts, end)]
        if windows:
            blocks = [Block("text", start, end)]
        for piece in _merge_blank(
            text, split(text, start, end, blocks, tokens, options.max_tokens, options.overlap)
        ):
            if windows:
                owner = max(0, bisect_right(section_starts, piece.start) - 1)
            chunks.append(_chunk(parsed, sections[owner], source_path, len(chunks), piece, tokens))
    return chunks


def _regions(text: str, sections: Sequence[Section]) -> list[tuple[int, int, int]]:
    """Return each section's own text, up to the next heading; blank text joins what comes next."""
    regions: list[tuple[int, int, int]] = []
    pending = sections[0].start
    for index, section in enumerate(sections):
        end = sections[index + 1].start if index + 1 < len(sections) else sections[0].end
        if text[section.start : end].strip():
            regions.append((pending, end, section.ordinal))
            pending = end
    if regions and pending < sections[0].end:
        start, _, owner = regions[-1]
        regions[-1] = (start, sections[0].end, owner)
    return regions


def _merge_blank(text: str, pieces: list[Piece]) -> list[Piece]:
    """Join pieces of nothing but white space to the one before, or after."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and not text[piece.start : piece.end].strip():
            merged[-1] = Piece(merged[-1].start, piece.end, merged[-1].prefix)
        elif merged and not text[merged[-1].start : merged[-1].end].strip():
            merged[-1] = Piece(merged[-1].start, piece.end, None)
        else:
            merged.append(piece)
    return merged


def _chunk(
    parsed: Parsed, section: Section, source_path: str, index: int, piece: Piece, tokens: TokenIndex
) -> Chunk:
    text = parsed.text
    prefix = text[slice(*piece.prefix)] if piece.prefix else ""
    own = text[piece.start : piece.end]
    only_heading = section.level > 0 and not text[section.body : piece.end].strip()
    count = tokens.count(piece.start, piece.end) + (tokens.count(*piece.prefix) if piece.prefix else 0)
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
