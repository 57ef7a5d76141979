"""Focus: of a long chunk, the sentences that answer; neighbours that answer together become one result.

A chunk is ranked as a whole, because its section and its words together say what it is about. What is shown of it
is its best unit of a sentence or two, and as many units around it as are nearly as good, also beyond the chunk's end in
the same section; then what these depend on, so that no list is without what announces it. A chunk whose best unit
another result shows already is part of that one. Short chunks, and what the query names by itself, are shown as they
are; so is source code, which has no sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from pinakes.model import chunk_id
from pinakes.port.rows import StoredChunk
from pinakes.search.candidates import Candidate
from pinakes.search.present.snippets.evidence import Asked, PassageReader, Unit, cut, weigh_units
from pinakes.search.present.snippets.mentions import Mentions
from pinakes.search.present.snippets.show import Texts, part
from pinakes.search.select.refine.parents import Expanded
from pinakes.text.code_languages import language_of_file

__all__ = ["Asked", "Mentions", "focus"]

# How many weaker units two good ones may have between them, and how many characters a result may have.
_GAP = 6
_LONGEST = 5000
# Characters by which a run is completed at either side: what a sentence begins or ends with that is cut in two.
_COMPLETED = 1500
_ENDS = re.compile(r"[.?!。？！…][\"'”’»)\]*_]*\s*\Z")
_ITEM = re.compile(r"\s*(?:[-*+•–]\s|[\"'“(\[]?\(?(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]{2,5})[.)]\s)")
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
    """Return the results that candidates become, best first, at most ``limit``.

    ``threshold`` is what share of the best unit's score makes a unit good enough to be shown besides the best of
    its chunk.
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
    """Cut chunks into units; those of chunks that follow one another in a section make one row."""
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
    """Return for each chunk the row that it is in, and where its best unit stands there."""
    best: dict[int, tuple[list[Unit], int]] = {}
    for row in rows:
        for at, unit in enumerate(row):
            if unit.chunk not in best or unit.score > row[best[unit.chunk][1]].score:
                best[unit.chunk] = (row, at)
    return best


def _grow(row: Sequence[Unit], seed: int, enough: float) -> tuple[int, int]:
    """Take the units around a seed that are good enough, with a few weaker ones between; return which."""
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
    """Add what a run depends on: the list that it announces, the words that its first item goes on from."""
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
    """Whether a text breaks off before what follows: in the middle of a sentence, or before an item of a list."""
    if _ENDS.search(text):
        return False
    begins = following.lstrip()
    goes_on = begins[:1].islower() or _ITEM.match(begins) is not None
    # A heading, and a paragraph that ends without a full stop, announce nothing.
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
    # A chunk that only lends a sentence or two becomes a result of its own.
    merged = [unit.chunk for unit in run if unit is best[unit.chunk][0][best[unit.chunk][1]]]
    return Expanded(
        candidate,
        part(chunks[candidate.chunk], members, run[0].start, run[-1].end, texts),
        tuple(member.id for member in members),
        tuple(chunk_id(member.source_path, member.chunk_index) for member in members),
        tuple(chunk for chunk in merged if chunk != candidate.chunk),
    )
