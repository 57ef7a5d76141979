"""Chunk: divides the text of a document into the pieces that are found and cited.

Whatever the strategy, the chunks tile the document: joined, they give back its text. A section that is too long is
split at natural breaks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from loccit.grammar.text.sentences import clause_ends, sentence_ends
from loccit.model import Chunk, ChunkType, Place
from loccit.models.embedding.protocol import Tokenizer
from loccit.structure import Block, Parsed, Positions

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

    Before the first heading, blank text and stray markup (a rule, an opening ``<div>``) join what follows.
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
    content = (prefix + own).rstrip()
    chunk = chunk_of(
        section, parsed.position, source_path, index, content, (piece.start, piece.end), len(prefix), count
    )
    return replace(chunk, chunk_type=ChunkType.HEADER) if only_heading else chunk


def chunk_of(
    section: Place,
    position: Positions,
    source_path: str,
    index: int,
    content: str,
    span: tuple[int, int],
    prefix: int,
    tokens: int,
) -> Chunk:
    """Return a chunk of a section; the first ``prefix`` characters of its content are repeated from elsewhere."""
    return Chunk(
        source_path=source_path,
        chunk_index=index,
        content=content,
        start=span[0],
        end=span[1],
        lines=position.lines(*span),
        section=section.ordinal,
        prefix=prefix,
        parent_chain=section.path,
        section_id=section.section_id,
        section_label=section.label,
        heading=section.heading,
        heading_level=section.level,
        pages=position.pages(*span),
        tokens=tokens,
    )


# -- splitting long sections ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """A part that is not split further. ``header`` is the span to repeat if a piece begins here."""

    start: int
    end: int
    kind: str
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a split text; ``prefix`` is the span whose text is repeated before it."""

    start: int
    end: int
    prefix: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What to split: a part of a text, its blocks, and the end of the heading it begins with."""

    start: int
    end: int
    blocks: Sequence[Block]
    heading_end: int = 0


def split(text: str, stretch: Stretch, tokens: TokenIndex, max_tokens: int, overlap: int) -> list[Piece]:
    """Split a stretch into pieces of at most ``max_tokens``, including the repeated prefix.

    Pieces tile the stretch. Cuts fall between blocks if possible, or else between sentences, clauses or words. A
    heading stays with what follows it.
    """
    start, end = stretch.start, stretch.end
    total = tokens.count(start, end)
    if total <= max_tokens:
        return [Piece(start, end)]
    overlap = min(overlap, max_tokens // 2)
    heading = tokens.count(start, stretch.heading_end)
    if heading > max_tokens // 4:
        # Too long for a heading: treat it as text.
        heading = 0
    body = _skip_space(text, stretch.heading_end if heading else start, end)
    # What a unit may contain so that it still fits after an overlap or a heading.
    budget = max_tokens - max(overlap, heading)
    # Even pieces read better than full ones and a remnant.
    target = total / -(-total // (max_tokens - overlap))
    pieces: list[Piece] = []
    begin, prefix, previous, text_from = start, None, "", start
    for unit in _units(text, stretch, tokens, budget, max_tokens):
        if unit.start > begin:
            room = max_tokens - (tokens.count(*prefix) if prefix else 0)
            full = tokens.count(begin, unit.end) > room
            fair = unit.start > body and tokens.count(begin, unit.start) >= target
            if full or fair:
                pieces.append(Piece(begin, unit.start, prefix))
                begin = unit.start
                prefix = unit.header
                if not prefix and previous == "text":
                    # Only prose is repeated: half a table or half a program explains nothing.
                    prefix = _overlap(text, text_from, unit.start, tokens, overlap)
                if prefix and tokens.count(*prefix) + tokens.count(unit.start, unit.end) > max_tokens:
                    prefix = None
        if unit.kind == "text" and previous != "text":
            text_from = unit.start
        previous = unit.kind
    pieces.append(Piece(begin, end, prefix))
    return _join_crumbs(text, pieces, tokens, max_tokens)


def _overlap(text: str, earliest: int, end: int, tokens: TokenIndex, overlap: int) -> tuple[int, int] | None:
    """Return the last sentences before ``end`` that fit, or the last words if no sentence does."""
    start = tokens.before(end, overlap)
    if not overlap or start >= end:
        return None
    if start <= earliest:
        start = earliest
    elif sentences := sentence_ends(text, start, end):
        start = sentences[0]
    elif not text[start - 1].isspace():
        start = next((at for at in range(start, end) if text[at].isspace()), end)
    start = _skip_space(text, start, end)
    return (start, end) if start < end else None


def _join_crumbs(text: str, pieces: list[Piece], tokens: TokenIndex, max_tokens: int) -> list[Piece]:
    """Join small pieces to a neighbour if both fit, and blank ones in any case."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined:
            last = joined[-1]
            both = Piece(last.start, piece.end, last.prefix)
            sizes = [tokens.count(part.start, part.end) for part in (last, piece, both)]
            fits = sizes[2] + (tokens.count(*both.prefix) if both.prefix else 0) <= max_tokens
            if (
                (fits and min(sizes) < max_tokens // 10)
                or not text[piece.start : piece.end].strip()
                or not text[last.start : last.end].strip()
            ):
                joined[-1] = both
                continue
        joined.append(piece)
    return joined


def _units(text: str, stretch: Stretch, tokens: TokenIndex, budget: int, max_tokens: int) -> Iterator[Unit]:
    for block in stretch.blocks:
        low, high = max(stretch.start, block.start), min(stretch.end, block.end)
        if low >= high:
            continue
        size = tokens.count(low, high)
        if size <= budget or (block.kind in ("code", "table") and size <= max_tokens):
            yield Unit(low, high, block.kind)
        elif block.kind == "table":
            yield from _rows(text, low, high, block.header_end, tokens, budget, max_tokens)
        elif block.kind == "code":
            yield from _lines(text, low, high, "code", tokens, budget)
        else:
            yield from _prose(text, low, high, tokens, budget)


def _rows(
    text: str, low: int, high: int, first_row: int, tokens: TokenIndex, budget: int, max_tokens: int
) -> Iterator[Unit]:
    """Rows of a table: its header is repeated with every part, unless it would take most of the budget."""
    size = tokens.count(low, first_row)
    if not low < first_row < high or size > max_tokens // 4:
        yield from _lines(text, low, high, "table", tokens, budget)
        return
    rows = _lines(text, first_row, high, "table", tokens, min(budget, max_tokens - size))
    # The header stays with the first row if that fits.
    first = next(rows)
    if tokens.count(low, first.end) <= budget:
        yield Unit(low, first.end, "table")
    else:
        yield Unit(low, first.start, "table")
        yield Unit(first.start, first.end, "table", (low, first_row))
    for row in rows:
        yield Unit(row.start, row.end, "table", (low, first_row))


def _lines(text: str, low: int, high: int, kind: str, tokens: TokenIndex, budget: int) -> Iterator[Unit]:
    while low < high:
        line_end = text.find("\n", low, high)
        line_end = high if line_end < 0 else line_end + 1
        for at, stop in _windows(text, low, line_end, tokens, budget):
            yield Unit(at, stop, kind)
        low = line_end


def _prose(text: str, low: int, high: int, tokens: TokenIndex, budget: int) -> Iterator[Unit]:
    """Sentences; clauses of sentences that are too long; words of clauses that are too long."""
    for at, stop in pairwise([low, *sentence_ends(text, low, high), high]):
        if tokens.count(at, stop) <= budget:
            yield Unit(at, stop, "text")
            continue
        for part, part_end in pairwise([at, *clause_ends(text, at, stop), stop]):
            for word, word_end in _windows(text, part, part_end, tokens, budget):
                yield Unit(word, word_end, "text")


def _windows(text: str, low: int, high: int, tokens: TokenIndex, budget: int) -> Iterator[tuple[int, int]]:
    """Windows of at most ``budget`` tokens that end after white space, if there is any in their second half."""
    while tokens.count(low, high) > budget:
        cut = max(tokens.after(low, budget), low + 1)
        cut = next((at for at in range(cut, (low + cut) // 2, -1) if text[at - 1].isspace()), cut)
        yield low, cut
        low = cut
    if low < high:
        yield low, high


def _skip_space(text: str, position: int, end: int) -> int:
    while position < end and text[position].isspace():
        position += 1
    return position


# -- counting tokens --------------------------------------------------------------------------------------------


# A model may treat a word of a megabyte, or a megabyte of blanks, as one token or none. For splitting, this
# many characters count as at least one token.
LONGEST_TOKEN = 64


class TokenIndex:
    """The tokens of one text; counting and cutting between two offsets are lookups."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._starts = _starts(tokenizer.offsets(text), len(text))
        self._length = len(text)
        reads_whole = getattr(tokenizer, "reads_whole", None)
        # Whether the model has no limit for a text like this one.
        self.unlimited: bool = reads_whole is not None and reads_whole(text)

    def __len__(self) -> int:
        return len(self._starts)

    def of(self, text: str) -> TokenIndex:
        """Return the tokens of another text."""
        return TokenIndex(text, self._tokenizer)

    def count(self, start: int, end: int) -> int:
        """Return the number of tokens that begin in ``[start, end)``."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def starts(self, start: int, end: int) -> list[int]:
        """Return the starts of the tokens in ``[start, end)``."""
        return self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def after(self, start: int, tokens: int) -> int:
        """Return the offset after ``tokens`` tokens from ``start``."""
        index = bisect_left(self._starts, start) + tokens
        return self._starts[index] if index < len(self._starts) else self._length

    def before(self, end: int, tokens: int) -> int:
        """Return the offset of the last ``tokens`` tokens before ``end``."""
        index = bisect_left(self._starts, end) - tokens
        return self._starts[index] if index > 0 else 0


def _starts(spans: Sequence[tuple[int, int]], length: int) -> list[int]:
    starts = [start for start, _ in spans]
    edges = np.array([0, *starts, length])
    long_gaps = np.flatnonzero(np.diff(edges) > LONGEST_TOKEN).tolist()
    if not long_gaps:
        return starts
    for gap in long_gaps:
        low, high = int(edges[gap]), int(edges[gap + 1])
        starts.extend(range(low + LONGEST_TOKEN if gap else low, high, LONGEST_TOKEN))
    return sorted(starts)
