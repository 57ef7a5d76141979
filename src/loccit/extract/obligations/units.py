"""Units: the sentences of a document, each as one line and with its position in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from loccit.grammar.text.sentences import sentence_ends
from loccit.model import Place

# A longer sentence is a list or a table without markup, and is read in pieces of this size.
_LONGEST = 4000
_SHORTEST = 8
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}[ \t]")
_ITEM = re.compile(r"[ \t]*(?:[-*+•][ \t]|\|)")
# A link's address is not part of the sentence.
_ADDRESS = re.compile(r"\]\([^()\s]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,300}){0,4}\)")
# Line breaks, and raised numbers of paragraphs.
_TAG = re.compile(
    r"<br\s?/?>|<sup>[\s\w.]{0,6}</sup>|</?(?:p|div|td|li|span|b|i|em|strong)(?:\s[^<>]{0,200})?>",
    re.IGNORECASE,
)
_MARKS = str.maketrans({"*": " ", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "|": " "})


def sentences(text: str, body_start: int, places: Sequence[Place]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and words of each sentence below the headings of a text, without code."""
    for start, end in _blocks(text, body_start, places):
        for first, last in pairwise([start, *sentence_ends(text, start, end), end]):
            for begin in range(first, last, _LONGEST):
                stop = min(begin + _LONGEST, last)
                words = plain(text[begin:stop])
                if len(words) >= _SHORTEST:
                    lead = len(text[begin:stop]) - len(text[begin:stop].lstrip())
                    yield begin + lead, begin + len(text[begin:stop].rstrip()), words


def plain(piece: str) -> str:
    """Return a part of a text as one line, without Markdown."""
    if "](" in piece:
        piece = _ADDRESS.sub("]", piece).replace("[", " ").replace("]", " ")
    if "<" in piece:
        piece = _TAG.sub(" ", piece)
    return " ".join(piece.translate(_MARKS).split())


def _blocks(text: str, body_start: int, places: Sequence[Place]) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs of a text, split where places, list items and table rows begin, and at blank lines."""
    edges = sorted({place.start for place in places if place.start > body_start})
    headings = {place.start: place.body for place in places if place.is_heading and place.ordinal}
    edge = 0
    start, position, fence = body_start, body_start, ""
    while position < len(text):
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop + 1
        while edge < len(edges) and edges[edge] <= position:
            edge += 1
        mark = _FENCE.match(text, position)
        code = bool(fence) or mark is not None
        if mark:
            fence = "" if fence else mark.group().strip()
        heading = not code and (_HEADING.match(text, position) is not None or position in headings)
        blank = not text[position:stop].strip()
        begins = edge > 0 and edges[edge - 1] == position
        if code or heading or blank or begins or _ITEM.match(text, position):
            if start < position:
                yield start, position
            start = stop if code or blank or heading else position
            if heading:
                # Text after a heading on the same line: `4.2 Fees. The Customer shall pay`.
                start = min(stop, max(position, headings.get(position, stop)))
        while edge < len(edges) and edges[edge] < stop:
            # A place that begins within a line: `1. (a) The operator shall`.
            if start < edges[edge]:
                yield start, edges[edge]
            start = max(start, edges[edge])
            edge += 1
        position = stop
    if start < len(text):
        yield start, len(text)
