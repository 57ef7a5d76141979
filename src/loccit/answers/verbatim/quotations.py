"""Quotations: what an answer quotes and what it cites beside that, and the ways in which a quotation can be read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from loccit.answers.verbatim.beside import Beside
from loccit.answers.verbatim.words import words_of

FEWEST_WORDS = 3
"""Fewer words in quotation marks, with no place cited beside them, are a term rather than a quotation."""

LONGEST = 1_000_000
"""The maximum length of a quotation in a text."""

# One that is longer may have begun with a stray mark.
_LONG = 5000

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
# What may follow the mark at the end of a quotation.
_PARAGRAPH_END = re.compile(r"[.,;:]?[ \t]*(?:[(\[]|\n|\Z)")
_SINGLE = str.maketrans("“”", "‘’")
# Within quotation marks, a line that begins so would be read as code or as a block quote.
_LINE_MARK = re.compile(r"\n(?=[ \t]*(?:>|```|~~~))")
_ATTRIBUTION = re.compile(r"\n[ \t]*(?:—|–|--)[^\n]*\s*\Z")
_ELLIPSIS = re.compile(r"[\[(]\s*(?:…|\.\s?\.\s?\.)\s*[\])]|…|\.\s?\.\s?\.(?:\s?\.)?")
# `[2]` cites, `[sic]` comments; `[t]he` is a changed letter, `[the Company]` are inserted words.
_REMARK = re.compile(
    r"\[(?:\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*|sic!?|emphasis (?:added|mine|in original))\]", re.IGNORECASE
)
_INSERTED = re.compile(r"(?<!\w)\[[^\[\]]*\](?!\w)")
# Words that may lead to a citation: `in`, `see`, `(emphasis added)`. Others say more than where something stands.
_LEADING = 3


class Quoted(NamedTuple):
    """A quotation, and what is cited beside it."""

    text: str
    cited: str = ""


class _Found(NamedTuple):
    """A quotation as it is found: its span with the marks, and what a block quote itself names as its source."""

    start: int
    end: int
    text: str
    source: str = ""


def quotations_in(text: str) -> tuple[list[Quoted], int]:
    """Return what a text quotes, in order: in quotation marks and block quotes; and how many were too short.

    >>> quotations_in('He “pays a fine” (act.md, § 2).\\n\\n> A vessel shows\\n> two lights.\\n\\nA "term".')
    ([Quoted(text='pays a fine', cited='act.md, § 2'), Quoted(text='A vessel shows two lights.', cited='')], 1)
    """
    # Of the same length, so that the results are in order.
    hidden = _CODE.sub(lambda found: " " * len(found[0]), text)
    rest = _BLOCK.sub(lambda block: "\n" * len(block[0]), hidden)
    found = _outside_citations(text, sorted([*_blocks(hidden), *_marked(rest)]))
    beside = Beside(text, [(one.start, one.end) for one in found])
    quoted = [
        Quoted(" ".join(one.text.split()), beside.cited(one.start, one.end, one.source)) for one in found
    ]
    kept = [one for one in quoted if len(words_of(one.text)) >= (1 if one.cited else FEWEST_WORDS)]
    return kept, len(quoted) - len(kept)


def _outside_citations(text: str, found: list[_Found]) -> list[_Found]:
    """Return quotations without what is quoted in the citation below another one, such as in a title."""
    beside, kept, end = Beside(text, []), [], 0
    for one in found:
        if one.start >= end:
            kept.append(one)
            end = beside.below(one.start, one.end)
    return kept


def quotation_of(entry: str) -> Quoted:
    """Return an entry of a list of quotations: as it is, unless a citation follows its quotation marks and ends it.

    >>> quotation_of("“pays a fine” (act.md, § 2)"), quotation_of("pays a fine (see § 2)").cited
    (Quoted(text='pays a fine', cited='act.md, § 2'), '')
    """
    text = entry.strip()
    one = _first(text)
    if one is None:
        return Quoted(entry)
    cited = Beside(text, [(one.start, one.end)]).cited(one.start, one.end, one.source)
    said, rest = ([word.key for word in words_of(part)] for part in (cited, one.source + text[one.end :]))
    ends = said and rest[-len(said) :] == said and len(rest) - len(said) <= _LEADING
    return Quoted(" ".join(one.text.split()), cited) if ends else Quoted(entry)


def _first(text: str) -> _Found | None:
    """Return the quotation with which a text begins: up to the mark that closes the first one, or a block quote."""
    if block := _BLOCK.match(text):
        parts = [part for part in _blocks(text) if part.end == block.end()]
        return parts[0]._replace(text=" ".join(part.text for part in parts)) if parts else None
    if (mark := _OPENING.match(text)) is None:
        return None
    openings = [found.start() for found in _OPENING.finditer(text) if found[0] == mark[0]]
    for number, closing in enumerate(_CLOSING[mark[0]].finditer(text, mark.end() + 1), 1):
        if bisect_left(openings, closing.start()) == number:
            return _Found(0, closing.end(), text[mark.end() : closing.start()])
    return None


def as_quotation(text: str) -> str:
    """Return a text in quotation marks, as :func:`quotations_in` finds it again; marks inside become single ones.

    >>> as_quotation("“Personal data” means:\\n(a) names;\\n(b) numbers.")
    '“‘Personal data’ means:\\n(a) names;\\n(b) numbers.”'
    """
    inside = _LINE_MARK.sub(" ", text.translate(_SINGLE))
    keys = [word.key for word in words_of(" ".join(text.split()))]
    for written in (f"“{inside}”", f"“{' '.join(text.split()).translate(_SINGLE)}”"):
        found = list(_marked(written))
        if len(found) == 1 and not _CODE.search(written) and not _BLOCK.search(written):
            read = " ".join(found[0].text.split())
            if [word.key for word in words_of(read)] == keys:
                return written
    return "> " + " ".join(text.split())


def _marked(text: str) -> Iterator[_Found]:
    """Yield quoted text: up to the first closing mark in its paragraph, or in a later one that closes it at its end."""
    start = 0
    for gap in (*_PARAGRAPH.finditer(text), None):
        end = len(text) if gap is None else gap.start()
        if start <= end:
            reached = end
            for found in _marked_within(text, start, end):
                yield found
                reached = found.end
            start = max(reached, end) if gap is None else max(reached, gap.end())


def _marked_within(text: str, at: int, end: int) -> Iterator[_Found]:
    closings: dict[str, re.Match[str] | None] = {}
    first = at + len(text[at:end]) - len(text[at:end].lstrip())
    while (mark := _OPENING.search(text, at, end)) is not None:
        at = mark.end()
        closing = closings.get(mark[0])
        if mark[0] not in closings or (closing is not None and closing.start() <= at):
            closing = closings[mark[0]] = _CLOSING[mark[0]].search(text, at + 1, end)
        if closing is None:
            if mark.start() == first and (closing := _closed_later(text, mark[0], at, end)):
                yield _Found(mark.start(), closing.end(), text[at : closing.start()])
                return
            continue
        if closing.start() - at <= _LONG or mark[0] == '"' or text.find(mark[0], at, closing.start()) < 0:
            yield _Found(mark.start(), closing.end(), text[at : closing.start()])
            at = closing.end()


def _closed_later(text: str, mark: str, at: int, end: int) -> re.Match[str] | None:
    """Return the mark that closes a quotation of several paragraphs: the first one, if it ends its paragraph."""
    if mark == '"':
        return None
    closing = _CLOSING[mark].search(text, end, end + LONGEST)
    if closing is None or text.find(mark, at, closing.start()) >= 0:
        return None
    return closing if _PARAGRAPH_END.match(text, closing.end()) else None


def _blocks(text: str) -> Iterator[_Found]:
    for block in _BLOCK.finditer(text):
        parts = _PARAGRAPH.split(_BLOCK_MARK.sub("", block[0]))
        source = next((said[0] for said in map(_ATTRIBUTION.search, parts) if said), "")
        for number, part in enumerate(parts):
            # Quotation marks around a whole block quote are redundant.
            quoted = _ATTRIBUTION.sub("", part).strip().strip('“”„«»"').strip()
            if quoted:
                yield _Found(block.start() + number, block.end(), quoted, source)


def readings(quotation: str) -> list[list[list[str]]]:
    """Return the readings of a quotation, the most literal first: runs of words, with gaps between them.

    >>> readings("[T]he vessel [of Anna] … shows two [2]")[-1]
    [['the', 'vessel'], ['shows', 'two']]
    """
    without = _REMARK.sub(" ", quotation)
    texts = [quotation, _joined(quotation), _joined(without), _joined(_INSERTED.sub("…", without))]
    found = []
    for text in dict.fromkeys(texts):
        pieces = [[word.key for word in words_of(piece)] for piece in _ELLIPSIS.split(text)]
        found.append([piece for piece in pieces if piece])
    return [reading for number, reading in enumerate(found) if reading and reading not in found[:number]]


def plain(quotation: str) -> str:
    """Return the words of a quotation without ellipses, remarks and brackets."""
    return _joined(_ELLIPSIS.sub(" ", _REMARK.sub(" ", quotation)))


def _joined(text: str) -> str:
    return text.replace("[", "").replace("]", "")
