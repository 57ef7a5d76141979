"""Show: a run of units as the part of a chunk, or of chunks that follow one another, that a result gives back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from pinakes.model import Lines, Pages, line_of
from pinakes.port.rows import StoredChunk
from pinakes.search.present.snippets.units import uncut_blocks


class Texts(Protocol):
    """What this asks of the record."""

    def document_text(self, document: int, start: int, end: int) -> str:
        """Return a stretch of a document's text."""
        ...

    def page_starts(self, document: int) -> Sequence[tuple[int, int]]:
        """Return where in a document's text its pages begin, with their numbers."""
        ...

    def line_starts(self, document: int) -> Sequence[tuple[int, int]]:
        """Return from where in a document's text lines of its file are counted anew, with their numbers."""
        ...


def part(
    found: StoredChunk, members: Sequence[StoredChunk], start: int, end: int, texts: Texts
) -> StoredChunk:
    """Return the chunk that was found with the text from ``start`` to ``end``, which ``members`` hold.

    It repeats nothing from before, except the head of a table that it begins with a later row of.
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
    # Blank lines before it are no part of it; the indentation of its first line is.
    blank = shown.rfind("\n", 0, len(shown) - len(shown.lstrip())) + 1
    start, shown = start + blank, shown[blank:]
    lead = len(text) - len(text.lstrip())
    line_starts = texts.line_starts(found.document)

    def line(offset: int) -> int:
        # Counted from the first line that is not blank, which is where a chunk's lines begin.
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
