"""Paragraphs: lines joined across columns and pages, and written as Markdown with the offset of every page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from loccit.model.document import PageStart
from loccit.read.pdf.candidates import Body, starts_item
from loccit.read.pdf.layout import write_entry
from loccit.read.pdf.page import HYPHEN, Flow, Heading, Line, Table
from loccit.read.written import cell_text, pipe_table

_ENDS = re.compile(r"[.!?:;][\"'”’)\]]*(?:\[\^\S+\])*$")
_BULLET = re.compile(r"[•●○◦▪■□▫‣⁃∙·➢➤►✓✔❖\uf0b7\uf0a7\uf0d8]\s*|o (?=[A-Z\d\"“])")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TAIL = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u00ad\u2010" + HYPHEN + r"]$")
_MARKS = frozenset("-\u00ad\u2010" + HYPHEN)
_ADDRESS = re.compile(r"(?:https?://|www\.|/)\S*$")
_HEAD = re.compile(r"[^\W\d_]+")
_KEPT = frozenset("self non cross well high low long short co ex anti multi all half mid part full".split())
_DEEPEST = 6
_START = re.compile(r"(?:#{1,6}(?=\s|$)|>|```|~~~|\[[^\]]*\]:|(?:[-=*_+]\s*){3,}$|[+*]\s|=+$|-+$|\|)")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(slots=True)
class Paragraph:
    """Joined text. ``turns`` has the positions at which a page begins: offset and page."""

    text: str
    page: int
    turns: list[tuple[int, int]] = field(default_factory=list)
    item: bool = False


Block = Paragraph | Heading | Table


def make_blocks(flow: Flow, body: Body) -> list[Block]:
    """Headings and tables unchanged, the lines between them as paragraphs."""
    hyphens = Hyphens([item.text for item in flow if isinstance(item, Line)])
    blocks: list[Block] = []
    before: Line | None = None
    current: Paragraph | None = None
    for item in flow:
        if not isinstance(item, Line):
            blocks.append(item)
            before = current = None
            continue
        text = write_entry(item.text) if item.contents else item.text
        if current is not None and before is not None and _goes_on(before, item, body, current):
            joined = hyphens.join(current.text, text)
            if item.page != before.page:
                current.turns.append((len(joined) - len(text), item.page))
            current.text = joined
        else:
            current = Paragraph(text, item.page, item=starts_item(text))
            blocks.append(current)
        before = item
    for block in blocks:
        if isinstance(block, Paragraph):
            _finish(block)
    return blocks


def _goes_on(before: Line, line: Line, body: Body, current: Paragraph) -> bool:
    """Whether a line continues the paragraph of the previous line."""
    if before.contents or line.contents:
        return before.contents and line.contents and not _ends_entry(before.text)
    if starts_item(line.text):
        return False
    if before.text.endswith(HYPHEN):
        return True
    if abs(before.size - line.size) > 1.1 or (
        before.style.bold != line.style.bold and _ENDS.search(before.text)
    ):
        return False
    ended = bool(_ENDS.search(before.text))
    width = max(before.right - before.left, 1.0)
    full = before.x1 > before.right - 0.18 * width
    if before.page != line.page or before.block != line.block:
        # Across a column or a page, only an unfinished sentence continues.
        return not ended and (full or line.text[:1].islower()) and not line.text[:1].isdigit()
    gap = (line.base - before.base) / max(line.size, 1.0)
    if gap > body.pitch * 1.32 or gap < 0:
        return False
    if not full and (ended or (not line.text[:1].islower() and before.x1 < before.right - 0.4 * width)):
        return False
    indent = line.x0 - before.x0
    em = line.size
    if indent > 0.8 * em and not current.item and ended:
        return False
    return not (indent < -0.8 * em and current.item and ended and before.x0 > before.left + em)


def _ends_entry(text: str) -> bool:
    return text[-1:].isdigit() or bool(re.search(r"\s[ivxlc]+$", text))


def _finish(paragraph: Paragraph) -> None:
    text = paragraph.text.replace(HYPHEN, "-").replace("\u00ad", "")
    if bullet := _BULLET.match(text):
        # Both are two characters long in almost every document; turns are shifted by the difference.
        shift = 2 - bullet.end()
        text = "- " + text[bullet.end() :]
        paragraph.turns = [(offset + shift, page) for offset, page in paragraph.turns]
    paragraph.text = text


class Hyphens:
    """Decides whether a hyphen at a line end belongs to the word, by the words of the document."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._known: set[str] | None = None

    def join(self, before: str, after: str) -> str:
        """Join two lines: a broken word is rejoined, otherwise a space is added."""
        if before[-1:] not in _MARKS:
            return f"{before} {after}"
        tail = _TAIL.search(before[-40:])
        if tail is None:
            return before[:-1] + "-" + after if before[-1] == HYPHEN else f"{before} {after}"
        head = _HEAD.match(after)
        if head is None or not head.group()[0].islower():
            return before[:-1] + "-" + after
        if _ADDRESS.search(before[-120:]):
            return before[:-1] + "-" + after
        first, second = tail.group(1).lower(), head.group().lower()
        known = self._vocabulary()
        if f"{first}-{second}" in known or (f"{first}{second}" not in known and first in _KEPT):
            return before[:-1] + "-" + after
        return before[:-1] + after

    def _vocabulary(self) -> set[str]:
        if self._known is None:
            self._known = set()
            for text in self._texts:
                words = _WORDS.findall(text.lower())
                # The first and last words of a line may be halves.
                self._known.update(words[1:-1])
        return self._known


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
            text = pipe_table([[cell_text(escape_inline(cell)) for cell in row] for row in block.rows])
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
    """Keep `<h1>` and the like in text from becoming markup."""
    return _MARKUP.sub(r"\\<", text)


def escape_start(text: str) -> str:
    """Keep the start of a paragraph from becoming a heading, quote, fence, rule or definition."""
    text = text.lstrip()
    return "\\" + text if _START.match(text) else text


def _heading(text: str) -> str:
    text = escape_inline(" ".join(text.split()))
    return text[:-1] + "\\#" if text.endswith("#") else text


def _page_starts(starts: dict[int, int], page_count: int, end: int) -> tuple[PageStart, ...]:
    """A start for every page; an empty one starts where the next one does."""
    result: list[PageStart] = []
    following = end
    for page in range(page_count - 1, -1, -1):
        following = min(starts.get(page, following), following)
        result.append(PageStart(following, page + 1))
    return tuple(reversed(result))
