"""Blocks written as Markdown, with the offset of every page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pinakes.model.document import PageStart

from .page import Heading
from .paragraphs import Block, Paragraph
from .tables import Table

_DEEPEST = 6
_START = re.compile(r"(?:#{1,6}(?=\s|$)|>|```|~~~|\[[^\]]*\]:|(?:[-=*_+]\s*){3,}$|[+*]\s|=+$|-+$|\|)")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")


def render(blocks: Sequence[Block], page_count: int) -> tuple[str, tuple[PageStart, ...]]:
    """The Markdown text, and where each page starts in it."""
    parts: list[str] = []
    starts: dict[int, int] = {}
    length = 0
    for block in blocks:
        starts.setdefault(block.page, length)
        if isinstance(block, Heading):
            text = f"{'#' * min(block.level, _DEEPEST)} {_heading(block.text)}"
        elif isinstance(block, Table):
            text = _table(block)
        else:
            text = _paragraph(block, starts, length)
        parts.append(text)
        length += len(text) + 2
    text = "\n\n".join(parts) + ("\n" if parts else "")
    return text, _page_starts(starts, page_count, len(text))


def _paragraph(block: Paragraph, starts: dict[int, int], length: int) -> str:
    text = block.text
    pieces: list[str] = []
    done = 0
    size = 0
    for offset, page in [*block.turns, (len(text), -1)]:
        piece = escape_inline(text[done:offset])
        if not pieces:
            piece = escape_start(piece)
        pieces.append(piece)
        size += len(piece)
        done = offset
        if page >= 0:
            starts.setdefault(page, length + size)
    return "".join(pieces)


def escape_inline(text: str) -> str:
    """Keep `<h1>` and the like in running text from being markup."""
    return _MARKUP.sub(r"\\<", text)


def escape_start(text: str) -> str:
    """Keep the start of a paragraph from being a heading, quote, fence, rule or definition."""
    text = text.lstrip()
    return "\\" + text if _START.match(text) else text


def _heading(text: str) -> str:
    text = escape_inline(" ".join(text.split()))
    return text[:-1] + "\\#" if text.endswith("#") else text


def _table(table: Table) -> str:
    width = max(len(row) for row in table.rows)
    lines = []
    for n, row in enumerate(table.rows):
        cells = [_cell(c) for c in row] + [""] * (width - len(row))
        lines.append("| " + " | ".join(cells) + " |")
        if n == 0:
            lines.append("|" + " --- |" * width)
    return "\n".join(lines)


def _cell(text: str) -> str:
    return escape_inline(" ".join(text.split())).replace("|", "\\|")


def _page_starts(starts: dict[int, int], page_count: int, end: int) -> tuple[PageStart, ...]:
    """A start for every page; one without text starts where the next one does."""
    result: list[PageStart] = []
    following = end
    for page in range(page_count - 1, -1, -1):
        following = min(starts.get(page, following), following)
        result.append(PageStart(following, page + 1))
    return tuple(reversed(result))
