"""Labelled lines: the headings of documents that were typed without any heading style.

Contracts often reach people as plain paragraphs: ``ARTICLE II — RENT`` on a line of its own, in bold or in capitals.
Where a text has no real headings at all, such lines are taken for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pinakes.ingest.parse import Block, Heading, Parsed, tile
from pinakes.text.labels import parse_heading

# From the outermost kind of part to the innermost; a bare number comes last.
_ORDER = (
    "title",
    "book",
    "part",
    "chapter",
    "division",
    "subpart",
    "subchapter",
    "article",
    "section",
    "clause",
    "",
)
_OUTERMOST = frozenset({"annex", "appendix", "schedule", "exhibit"})
_MAX_LENGTH = 120
_FEWEST = 2
_EMPHASIS = re.compile(r"^\s*(\*\*|__)(.+?)\1\s*\.?\s*$")


def add_labelled_headings(parsed: Parsed) -> Parsed:
    """Give a text without headings those that its labelled lines make."""
    headings = [] if parsed.headings else labelled_headings(parsed.text, parsed.blocks)
    if not headings:
        return parsed
    starts = [(block.start, block.kind, block.header_end) for block in parsed.blocks]
    starts += [(heading.start, "heading", 0) for heading in headings]
    starts += [(heading.body, "text", 0) for heading in headings]
    return replace(parsed, headings=headings, blocks=tile(starts, parsed.body_start, len(parsed.text)))


def labelled_headings(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Return the headings that labelled lines make, with levels by kind; none when there are fewer than two."""
    found: list[tuple[str, int, str, int, int]] = []
    for block in blocks:
        if block.kind != "text":
            continue
        line_end = text.find("\n", block.start, block.end)
        line_end = block.end if line_end < 0 else line_end
        read = _read(text[block.start : line_end])
        if read:
            found.append((*read, block.start, min(line_end + 1, block.end)))
    if len(found) < _FEWEST:
        return []
    ranks = sorted({(_rank(kind), depth) for kind, depth, *_ in found})
    levels = {rank: min(level, 6) for level, rank in enumerate(ranks, 1)}
    return [
        Heading(levels[_rank(kind), depth], words, start, body) for kind, depth, words, start, body in found
    ]


def _rank(kind: str) -> int:
    return 0 if kind in _OUTERMOST else _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _read(line: str) -> tuple[str, int, str] | None:
    """Return kind, depth of the number, and words of a line that can only be a heading."""
    emphasis = _EMPHASIS.match(line)
    words = (emphasis[2] if emphasis else line).strip()
    if not words or len(words) > _MAX_LENGTH:
        return None
    label, title = parse_heading(words)
    if label is None or (not label.kind and not title):
        return None
    set_off = bool(emphasis) or words.isupper() or (label.kind != "" and not title)
    capitalised = bool(title) and title[0].isupper() and not title.rstrip().endswith((".", ";", ",", ":"))
    if not set_off and not (label.kind and capitalised and len(title.split()) <= 12):
        return None
    return label.kind, len(label.number), words.rstrip(".") if emphasis else words
