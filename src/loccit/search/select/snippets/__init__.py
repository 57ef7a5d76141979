"""Focus: the sentences of a long chunk that answer; neighbours that answer together become one result.

A chunk is ranked as a whole, because its section and all its words say what it is about. What is shown is its best unit
of a sentence or two, with adjacent units that are nearly as good, also beyond the end of the chunk in the same section;
then what these depend on, so that no list lacks its introduction. A chunk whose best unit another result already shows
becomes part of that one. Short chunks, what the query names by itself, and source code, which has no sentences, are
shown as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from loccit.grammar.text.code_languages import language_of_file
from loccit.index.port.records import StoredChunk
from loccit.model import Lines, Pages, chunk_id, line_of
from loccit.search.candidates import Candidate
from loccit.search.select.parents import Expanded
from loccit.search.select.snippets.evidence import (
    Asked,
    Mentions,
    PassageReader,
    Unit,
    cut,
    uncut_blocks,
    weigh_units,
)

__all__ = ["Asked", "Mentions", "focus"]


class Texts(Protocol):
    """What focusing reads from the record."""

    def document_text(self, document: int, start: int, end: int) -> str:
        """Return a part of a document's text."""
        ...

    def page_starts(self, document: int) -> Sequence[tuple[int, int]]:
        """Return where the pages of a document's text begin, with their numbers."""
        ...

    def line_starts(self, document: int) -> Sequence[tuple[int, int]]:
        """Return where the numbering of lines in a document's text restarts, with the numbers."""
        ...


def part(
    found: StoredChunk, members: Sequence[StoredChunk], start: int, end: int, texts: Texts
) -> StoredChunk:
    """Return the chunk that was found with the text from ``start`` to ``end``, which ``members`` contain.

    Nothing is repeated from before, except the header of a table of which it begins with a later row.
    """
    if len(members) == 1 and start <= found.start and end >= found.end:
        return found
    first, last = members[0], members[-1]
    text = (
        found.content[found.prefix :]
        if len(members) == 1
        # White space between chunks is in neither's content.
        else texts.document_text(found.document, first.start, last.end)
    )
    if not text:
        # The document was replaced a moment ago, and its old text with it.
        return found
    head = first.content[: first.prefix] if start == first.start and _begins_in_table(first) else ""
    shown = text[start - first.start : end - first.start].rstrip()
    # Blank lines before it are dropped; the indentation of its first line is kept.
    blank = shown.rfind("\n", 0, len(shown) - len(shown.lstrip())) + 1
    start, shown = start + blank, shown[blank:]
    lead = len(text) - len(text.lstrip())
    line_starts = texts.line_starts(found.document)

    def line(offset: int) -> int:
        # Counted from the first line that is not blank, where a chunk's lines begin.
        return line_of(line_starts, text[lead:], first.start + lead, first.lines.first, offset)

    top = line(start + len(shown) - len(shown.lstrip()))
    share = len(head + shown) / max(1, sum(len(member.content) for member in members))
    return replace(
        found,
        content=head + shown,
        prefix=len(head),
        start=start,
        end=end,
        lines=Lines(top, max(top, line(start + max(0, len(shown) - 1)))),
        pages=_pages(first, last, start + len(shown) - len(shown.lstrip()), start + len(shown), texts),
        tokens=max(1, round(share * sum(member.tokens for member in members))),
    )


def _begins_in_table(chunk: StoredChunk) -> bool:
    blocks = uncut_blocks(chunk.content) if chunk.prefix else []
    return any(low < chunk.prefix < high for low, high in blocks)


def _pages(first: StoredChunk, last: StoredChunk, start: int, end: int, texts: Texts) -> Pages | None:
    if first.pages is None or last.pages is None or first.pages.first == last.pages.last:
        return first.pages or last.pages
    starts = texts.page_starts(first.document) or [(0, first.pages.first)]
    offsets = [offset for offset, _ in starts]

    def page(offset: int) -> int:
        return starts[max(0, bisect_right(offsets, offset) - 1)][1]

    return Pages(page(start), page(max(start, end - 1)))


# -- focus ---------------------------------------------------------------------------------------------------


# The number of weaker units allowed between two good ones, and the maximum length of a result.
_GAP = 6
_LONGEST = 5000
# Characters by which a run may be completed on either side: the rest of a sentence that is cut in two.
_COMPLETED = 1500
_ENDS = re.compile(r"[.?!。？！…][\"'”’»)\]*_]*\s*\Z")
_ITEM = re.compile(r"\s*(?:[-*+•–]\s|[\"'“(\[]?\(?(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]{2,5})[.)]\s)")
_BLOCKS = ("```", "~~~", "|")
_BLANK = re.compile(r"\n[ \t]*\n\s*\Z")


def focus(
    candidates: Sequence[Candidate],
    chunks: Mapping[int, StoredChunk],
    asked: Asked,
    passages: PassageReader,
    texts: Texts,
    *,
    threshold: float,
    limit: int,
) -> list[Expanded]:
    """Return the results made from candidates, best first, at most ``limit``.

    ``threshold`` is the share of the best unit's score that another unit needs to be shown too.
    """
    whole = {candidate.chunk for candidate in candidates if candidate.pin > 0}
    rows = _rows([chunks[candidate.chunk] for candidate in candidates], whole)
    weigh_units(rows, {candidate.chunk: candidate.score for candidate in candidates}, chunks, asked, passages)
    best = _best(rows)
    shown = [best[candidate.chunk] for candidate in candidates[:limit]]
    enough = threshold * max((row[at].score for row, at in shown), default=0.0)
    results: list[Expanded] = []
    for candidate in candidates:
        if len(results) == limit:
            break
        row, seed = best[candidate.chunk]
        if not row[seed].taken:
            low, high = _completed(row, *_grow(row, seed, enough), chunks)
            results.append(_result(candidate, row[low:high], chunks, texts, best))
    return results


def _rows(chunks: Sequence[StoredChunk], whole: Collection[int]) -> list[list[Unit]]:
    """Cut chunks into units; those of consecutive chunks in a section form one row."""
    rows: list[list[Unit]] = []
    end: tuple[int, int, int] | None = None
    for chunk in sorted(chunks, key=lambda one: (one.document, one.start, one.id)):
        uncut = chunk.id in whole or bool(language_of_file(chunk.source_path))
        units = cut(chunk, whole=uncut)
        if end == (chunk.document, chunk.section, chunk.start) and not uncut:
            rows[-1] += units
        else:
            rows.append(units)
        end = None if uncut else (chunk.document, chunk.section, chunk.end)
    return rows


def _best(rows: Sequence[list[Unit]]) -> dict[int, tuple[list[Unit], int]]:
    """Return the row of each chunk, and the position of its best unit in it."""
    best: dict[int, tuple[list[Unit], int]] = {}
    for row in rows:
        for at, unit in enumerate(row):
            if unit.chunk not in best or unit.score > row[best[unit.chunk][1]].score:
                best[unit.chunk] = (row, at)
    return best


def _grow(row: Sequence[Unit], seed: int, enough: float) -> tuple[int, int]:
    """Return the units around a seed that are good enough, with a few weaker ones between them."""
    low = high = seed
    grown = True
    while grown:
        grown = False
        for step in (1, -1):
            edge = high if step > 0 else low
            for at in range(edge + step, edge + step * (_GAP + 2), step):
                if not 0 <= at < len(row) or row[at].taken:
                    break
                if row[at].score >= enough:
                    first, last = min(low, at), max(high, at)
                    if row[last].end - row[first].start <= _LONGEST:
                        low, high, grown = first, last, True
                    break
    for unit in row[low : high + 1]:
        unit.taken = True
    return low, high + 1


def _completed(
    row: Sequence[Unit], low: int, high: int, chunks: Mapping[int, StoredChunk]
) -> tuple[int, int]:
    """Add what a run depends on: the list that it introduces, the words that its first item continues."""
    start, end = row[low].start, row[high - 1].end
    while high < len(row) and not row[high].taken and row[high].end - end <= _COMPLETED:
        if not _announces(_text(row[high - 1], chunks), _text(row[high], chunks)):
            break
        row[high].taken = True
        high += 1
    while low > 0 and not row[low - 1].taken and start - row[low - 1].start <= _COMPLETED:
        if not _announces(_text(row[low - 1], chunks), _text(row[low], chunks)):
            break
        low -= 1
        row[low].taken = True
    return low, high


def _announces(text: str, following: str) -> bool:
    """Whether a text breaks off before what follows: in mid-sentence, or before a list item, a table or code."""
    if _ENDS.search(text):
        return False
    begins = following.lstrip()
    goes_on = begins[:1].islower() or begins.startswith(_BLOCKS) or _ITEM.match(begins) is not None
    # A heading, or a paragraph without a final full stop, introduces nothing.
    return goes_on and (not _BLANK.search(text) or text.rstrip()[-1:] in ":;,—–")


def _text(unit: Unit, chunks: Mapping[int, StoredChunk]) -> str:
    chunk = chunks[unit.chunk]
    offset = chunk.prefix - chunk.start
    return chunk.content[unit.start + offset : unit.end + offset]


def _result(
    candidate: Candidate,
    run: Sequence[Unit],
    chunks: Mapping[int, StoredChunk],
    texts: Texts,
    best: Mapping[int, tuple[list[Unit], int]],
) -> Expanded:
    members = [chunks[chunk] for chunk in dict.fromkeys(unit.chunk for unit in run)]
    # A chunk that contributes only a sentence or two becomes a result of its own.
    merged = [unit.chunk for unit in run if unit is best[unit.chunk][0][best[unit.chunk][1]]]
    return Expanded(
        candidate,
        part(chunks[candidate.chunk], members, run[0].start, run[-1].end, texts),
        tuple(member.id for member in members),
        tuple(chunk_id(member.source_path, member.chunk_index) for member in members),
        tuple(chunk for chunk in merged if chunk != candidate.chunk),
    )
