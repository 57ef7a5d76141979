"""Split: a stretch of text that is too long becomes pieces that end where a reader would pause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pinakes.ingest.parse import Block
from pinakes.ingest.tokens import TokenIndex
from pinakes.text.sentences import clause_ends, sentence_ends


@dataclass(frozen=True, slots=True)
class Unit:
    """What is not cut any further. ``header`` is the span to repeat when a piece begins here."""

    start: int
    end: int
    kind: str
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a split text; ``prefix`` is the span whose text is repeated in front of it."""

    start: int
    end: int
    prefix: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What to split: a part of a text, the blocks it is made of, and where the heading it opens with ends."""

    start: int
    end: int
    blocks: Sequence[Block]
    heading_end: int = 0


def split(text: str, stretch: Stretch, tokens: TokenIndex, max_tokens: int, overlap: int) -> list[Piece]:
    """Cut a stretch into pieces of at most ``max_tokens``, repeated prefix included.

    Pieces tile the stretch. Cuts fall between blocks where possible, else between sentences, clauses, words. A
    heading stays with what follows it.
    """
    start, end = stretch.start, stretch.end
    total = tokens.count(start, end)
    if total <= max_tokens:
        return [Piece(start, end)]
    overlap = min(overlap, max_tokens // 2)
    heading = tokens.count(start, stretch.heading_end)
    if heading > max_tokens // 4:
        # Nobody writes such a heading: it is text like any other.
        heading = 0
    body = _skip_space(text, stretch.heading_end if heading else start, end)
    # What a unit may hold so that it still fits behind an overlap or a heading.
    budget = max_tokens - max(overlap, heading)
    # Even pieces read better than full ones and a crumb.
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
                    # Only running text is repeated: half a table or half a program explains nothing.
                    prefix = _overlap(text, text_from, unit.start, tokens, overlap)
                if prefix and tokens.count(*prefix) + tokens.count(unit.start, unit.end) > max_tokens:
                    prefix = None
        if unit.kind == "text" and previous != "text":
            text_from = unit.start
        previous = unit.kind
    pieces.append(Piece(begin, end, prefix))
    return _join_crumbs(text, pieces, tokens, max_tokens)


def _overlap(text: str, earliest: int, end: int, tokens: TokenIndex, overlap: int) -> tuple[int, int] | None:
    """Return the last sentences before ``end`` that fit, or the last words when no sentence does."""
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
    """Join small pieces to the one before or after them where both fit, and blank ones in any case."""
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
    """Rows of a table: its header goes with every part of it, unless it would take most of the room."""
    size = tokens.count(low, first_row)
    if not low < first_row < high or size > max_tokens // 4:
        yield from _lines(text, low, high, "table", tokens, budget)
        return
    rows = _lines(text, first_row, high, "table", tokens, min(budget, max_tokens - size))
    # The header stays with the first row when that fits.
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
    """Sentences; a sentence that is too long in clauses; a clause that is too long in words."""
    for at, stop in pairwise([low, *sentence_ends(text, low, high), high]):
        if tokens.count(at, stop) <= budget:
            yield Unit(at, stop, "text")
            continue
        for part, part_end in pairwise([at, *clause_ends(text, at, stop), stop]):
            for word, word_end in _windows(text, part, part_end, tokens, budget):
                yield Unit(word, word_end, "text")


def _windows(text: str, low: int, high: int, tokens: TokenIndex, budget: int) -> Iterator[tuple[int, int]]:
    """Windows of at most ``budget`` tokens that end after white space where there is any in their second half."""
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
