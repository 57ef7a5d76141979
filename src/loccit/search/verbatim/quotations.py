"""Quotations: what an answer quotes, and the ways in which a quotation can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loccit.config.bounds import LONGEST_QUOTATION
from loccit.search.verbatim.words import words_of

FEWEST_WORDS = 3
"""Fewer words in quotation marks are a term rather than a quotation."""

_CODE = re.compile(r"^(```|~~~).*?(?:^\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_OPENING = re.compile(r"[„“«»‘‚]|(?<![\w\"])\"(?=\S)")
# Closing marks, by opening mark.
_CLOSING = {
    opening: re.compile(closing)
    for opening, closing in {
        "„": "[“”]",
        "“": "”",
        "«": "»",
        "»": "«",
        "‘": r"’(?!\w)",
        "‚": r"[‘’](?!\w)",
        '"': r"(?<=\S)\"(?![\w\"])",
    }.items()
}
_BLOCK = re.compile(r"(?:^[ \t]{0,3}>.*(?:\n|\Z))+", re.MULTILINE)
_BLOCK_MARK = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_ATTRIBUTION = re.compile(r"\n[ \t]*(?:—|–|--)[^\n]*\s*\Z")
_ELLIPSIS = re.compile(r"[\[(]\s*(?:…|\.\s?\.\s?\.)\s*[\])]|…|\.\s?\.\s?\.(?:\s?\.)?")
# `[2]` cites, `[sic]` comments; `[t]he` is a changed letter, `[the Company]` are inserted words.
_REMARK = re.compile(
    r"\[(?:\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*|sic!?|emphasis (?:added|mine|in original))\]", re.IGNORECASE
)
_INSERTED = re.compile(r"(?<!\w)\[[^\[\]]*\](?!\w)")


def quotations_in(text: str) -> tuple[list[str], int]:
    """Return what a text quotes, in order: in quotation marks and block quotes; and how many were too short.

    >>> quotations_in('He “pays a fine of 500 euro”.\\n\\n> A vessel shows\\n> two lights.\\n\\nA "term".')
    (['pays a fine of 500 euro', 'A vessel shows two lights.'], 1)
    """
    # Of the same length, so that the results are in order.
    text = _CODE.sub(lambda found: " " * len(found[0]), text)
    rest = _BLOCK.sub(lambda block: "\n" * len(block[0]), text)
    found = [*_blocks(text), *_marked(rest)]
    quoted = [" ".join(quotation.split()) for _, quotation in sorted(found)]
    kept = [quotation for quotation in quoted if len(words_of(quotation)) >= FEWEST_WORDS]
    return kept, len(quoted) - len(kept)


def _marked(text: str) -> Iterator[tuple[int, str]]:
    """Yield quoted text with its position: up to the first closing mark in its paragraph."""
    start = 0
    for gap in (*_PARAGRAPH.finditer(text), None):
        end = len(text) if gap is None else gap.start()
        yield from _marked_within(text, start, end)
        start = end if gap is None else gap.end()


def _marked_within(text: str, at: int, end: int) -> Iterator[tuple[int, str]]:
    ends: dict[str, re.Match[str] | None] = {}
    long: dict[int, int] = {}
    while (mark := _OPENING.search(text, at, end)) is not None:
        at = mark.end()
        closing = ends.get(mark[0])
        if mark[0] not in ends or (closing is not None and closing.start() <= at):
            closing = ends[mark[0]] = _CLOSING[mark[0]].search(text, at + 1, end)
        if closing is None:
            continue
        # A very long one may have begun with a stray mark, if another opens before it is closed.
        long[closing.start()] = at
        if closing.start() - at <= LONGEST_QUOTATION:
            del long[closing.start()]
            yield mark.start(), text[at : closing.start()]
            at = closing.end()
    for stop, first in long.items():
        yield first - 1, text[first:stop]


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    for block in _BLOCK.finditer(text):
        for number, part in enumerate(_PARAGRAPH.split(_BLOCK_MARK.sub("", block[0]))):
            # Quotation marks around a whole block quote are redundant.
            quoted = _ATTRIBUTION.sub("", part).strip().strip('“”„«»"').strip()
            if quoted:
                yield block.start() + number, quoted


def readings(quotation: str) -> list[list[list[str]]]:
    """Return the readings of a quotation, the most literal first: runs of words, with gaps between them.

    >>> readings("[T]he vessel [of Anna] … shows two [2]")[-1]
    [['the', 'vessel'], ['shows', 'two']]
    """
    without = _REMARK.sub(" ", quotation)
    texts = [quotation, without, _INSERTED.sub("…", without)]
    found = []
    for text in dict.fromkeys(texts):
        pieces = [[word.key for word in words_of(_joined(piece))] for piece in _ELLIPSIS.split(text)]
        found.append([piece for piece in pieces if piece])
    return [reading for number, reading in enumerate(found) if reading and reading not in found[:number]]


def plain(quotation: str) -> str:
    """Return the words of a quotation without ellipses, remarks and brackets."""
    return _joined(_ELLIPSIS.sub(" ", _REMARK.sub(" ", quotation)))


def _joined(text: str) -> str:
    return text.replace("[", "").replace("]", "")
