"""Windows: what the model is shown of a document that is too long to be shown whole.

A window is a run of sections with some of what comes before and after it, headed by the opening of the document and
by the headings that it stands under. The chunks of a run share one window, so that the service caches it for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Chunk

# Parts of the limit: the beginning of the document, its headings down to the window, and each neighbour.
_OPENING = 20
_HEADINGS = 20
_NEIGHBOUR = 10
_GAP = "\n\n[…]\n\n"
_NO_HEADING = 99


@dataclass(frozen=True, slots=True)
class Window:
    """A text to show, and the positions of the chunks it is shown for."""

    text: str
    chunks: range


def windows(text: str, chunks: Sequence[Chunk], tokens: TokenIndex, limit: int) -> list[Window]:
    """Divide a document's chunks into runs, each with a text of about ``limit`` tokens at most."""
    if len(tokens) <= limit:
        return [Window(text, range(len(chunks)))]
    sizes = [tokens.count(chunk.start, chunk.end) for chunk in chunks]
    own = limit - limit // _OPENING - limit // _HEADINGS - 2 * (limit // _NEIGHBOUR)
    found, start = [], 0
    while start < len(chunks):
        end = _run_end(chunks, sizes, start, own)
        found.append(Window(_shown(text, chunks, sizes, (start, end), tokens, limit), range(start, end)))
        start = end
    return found


def _run_end(chunks: Sequence[Chunk], sizes: Sequence[int], start: int, room: int) -> int:
    """Return where to end a run: when it is full, or in its second half, before the highest heading there."""
    end, used = start + 1, sizes[start]
    while end < len(chunks) and used + sizes[end] <= room:
        used += sizes[end]
        end += 1
    if end == len(chunks):
        return end
    half = start + max(1, (end - start + 1) // 2)
    return min(range(end, half - 1, -1), key=lambda at: _level(chunks, at))


def _level(chunks: Sequence[Chunk], at: int) -> int:
    begins = chunks[at].section != chunks[at - 1].section
    return chunks[at].heading_level if begins else _NO_HEADING


def _shown(
    text: str,
    chunks: Sequence[Chunk],
    sizes: Sequence[int],
    run: tuple[int, int],
    tokens: TokenIndex,
    limit: int,
) -> str:
    first, end = run
    room = limit // _NEIGHBOUR
    while first > 0 and sizes[first - 1] <= room:
        first -= 1
        room -= sizes[first]
    room = limit // _NEIGHBOUR
    while end < len(chunks) and sizes[end] <= room:
        room -= sizes[end]
        end += 1
    low = chunks[first].start if first else 0
    high = chunks[end - 1].end if end < len(chunks) else len(text)
    parts = []
    opening = min(tokens.after(0, limit // _OPENING), low)
    if opening:
        parts.append(text[:opening].strip())
        parts.append(_place(chunks[first], tokens, limit // _HEADINGS))
    parts.append(text[low:high].strip())
    shown = _GAP.join(part for part in parts if part)
    return shown if high == len(text) else f"{shown}{_GAP}".rstrip("\n")


def _place(chunk: Chunk, tokens: TokenIndex, room: int) -> str:
    """Return the headings that a chunk stands under, as many of the last ones as there is room for."""
    place = " > ".join(chunk.parent_chain)
    measured = tokens.of(place)
    return place[measured.before(len(place), room) :]
