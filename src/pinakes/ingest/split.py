"""Split: a stretch of text that is too long becomes pieces that end where a reader would pause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    opens_block: bool = False
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a split text; ``prefix`` is the span whose text is repeated in front of it."""

    start: int
    end: int
    prefix: tuple[int, int] | None = None


def split(
    text: str,
    start: int,
    end: int,
    blocks: Sequence[Block],
    tokens: TokenIndex,
    max_tokens: int,
    overlap: int,
) -> list[Piece]:
    """Cut ``text[start:end]`` into pieces of at most ``max_tokens``, repeated prefix included.

    Pieces tile the stretch. Cuts fall between blocks where possible, else between sentences, clauses, words.
    """
    total = tokens.count(start, end)
    if total <= max_tokens:
        return [Piece(start, end)]
    overlap = min(overlap, max_tokens // 2)
    budget = max_tokens - overlap
    # Even pieces read better than full ones and a crumb.
    target = total / -(-total // budget)
    pieces: list[Piece] = []
    begin, prefix, previous = start, None, None
    for unit in _units(text, start, end, blocks, tokens, budget):
        room = max_tokens - (tokens.count(*prefix) if prefix else 0)
        full = tokens.count(begin, unit.end) > room
        fair = unit.opens_block and tokens.count(begin, unit.start) >= target
        if unit.start > begin and (full or fair) and not (previous and previous.kind == "heading"):
            pieces.append(Piece(begin, unit.start, prefix))
            begin = unit.start
            prefix = _prefix(text, start, unit, previous, tokens, overlap, max_tokens)
        previous = unit
    pieces.append(Piece(begin, end, prefix))
    return pieces


def _prefix(
    text: str,
    start: int,
    unit: Unit,
    previous: Unit | None,
    tokens: TokenIndex,
    overlap: int,
    max_tokens: int,
) -> tuple[int, int] | None:
    if unit.header:
        return unit.header if tokens.count(*unit.header) <= max_tokens // 4 else None
    if not overlap or previous is None or previous.kind != "text":
        # Half a table or half a program explains nothing.
        return None
    earliest = max(
        previous.start if previous.end - previous.start > 400 else start, tokens.before(unit.start, overlap)
    )
    sentences = sentence_ends(text, earliest, unit.start)
    if sentences:
        earliest = sentences[0]
    elif earliest > start and not text[earliest - 1].isspace():
        blank = next((at for at in range(earliest, unit.start) if text[at].isspace()), unit.start)
        earliest = blank + 1
    return (earliest, unit.start) if earliest < unit.start else None


def _units(
    text: str, start: int, end: int, blocks: Sequence[Block], tokens: TokenIndex, budget: int
) -> Iterator[Unit]:
    for block in blocks:
        low, high = max(start, block.start), min(end, block.end)
        if low >= high:
            continue
        if tokens.count(low, high) <= budget:
            yield Unit(low, high, block.kind, opens_block=True)
        elif block.kind in ("table", "code"):
            yield from _lines(text, low, high, block, tokens, budget)
        else:
            yield from _prose(text, low, high, tokens, budget)


def _lines(text: str, low: int, high: int, block: Block, tokens: TokenIndex, budget: int) -> Iterator[Unit]:
    """Rows of a table, or lines of code: the header of a table goes with every part of it."""
    header = (block.start, block.header_end) if block.kind == "table" and block.header_end > low else None
    position = low
    while position < high:
        line_end = text.find("\n", position, high)
        line_end = high if line_end < 0 else line_end + 1
        repeat = header if header and position >= header[1] else None
        for at, stop in _windows(text, position, line_end, tokens, budget // 2 if repeat else budget):
            yield Unit(at, stop, block.kind, opens_block=at == low, header=repeat)
        position = line_end


def _prose(text: str, low: int, high: int, tokens: TokenIndex, budget: int) -> Iterator[Unit]:
    """Sentences; a sentence that is too long in clauses; a clause that is too long in words."""
    for at, stop in _spans(low, high, sentence_ends(text, low, high)):
        if tokens.count(at, stop) <= budget:
            yield Unit(at, stop, "text", opens_block=at == low)
            continue
        for part, part_end in _spans(at, stop, clause_ends(text, at, stop)):
            for word, word_end in _windows(text, part, part_end, tokens, budget):
                yield Unit(word, word_end, "text", opens_block=word == low)


def _spans(low: int, high: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    edges = [low, *cuts, high]
    return ((a, b) for a, b in pairwise(edges) if a < b)


def _windows(text: str, low: int, high: int, tokens: TokenIndex, budget: int) -> Iterator[tuple[int, int]]:
    """Windows of at most ``budget`` tokens that end after white space where there is any."""
    fits: Callable[[int, int], bool] = lambda a, b: tokens.count(a, b) <= budget  # noqa: E731
    while not fits(low, high):
        cut = tokens.after(low, budget)
        blank = max(text.rfind(" ", low, cut), text.rfind("\n", low, cut))
        cut = blank + 1 if blank > low else cut
        if not low < cut < high:
            break
        yield low, cut
        low = cut
    yield low, high
