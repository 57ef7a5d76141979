"""Lines joined into paragraphs, over columns and pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .candidates import Body
from .contents import squeeze_leaders
from .flow import Flow
from .hyphens import Hyphens
from .labels import starts_item
from .page import HYPHEN, Heading, Line
from .tables import Table

_ENDS = re.compile(r"[.!?:;][\"'”’)\]]*(?:\[\^\S+\])*$")
_BULLET = re.compile(r"[•●○◦▪■□▫‣⁃∙·➢➤►✓✔❖\uf0b7\uf0a7\uf0d8]\s*|o (?=[A-Z\d\"“])")


@dataclass(slots=True)
class Paragraph:
    """Joined text. ``turns`` holds where in it a new page begins: offset and page."""

    text: str
    page: int
    turns: list[tuple[int, int]] = field(default_factory=list)
    item: bool = False


Block = Paragraph | Heading | Table


def make_blocks(flow: Flow, body: Body) -> list[Block]:
    """Headings and tables as they are, the lines between them as paragraphs."""
    hyphens = Hyphens([item.text for item in flow if isinstance(item, Line)])
    blocks: list[Block] = []
    before: Line | None = None
    current: Paragraph | None = None
    for item in flow:
        if not isinstance(item, Line):
            blocks.append(item)
            before = current = None
            continue
        text = squeeze_leaders(item.text) if item.contents else item.text
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
    """Whether a line continues the paragraph of the line before it."""
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
        # Over a column or a page only an unfinished sentence goes on.
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
    bullet = _BULLET.match(text)
    if bullet:
        # Both are two characters long in almost every document; turns are moved by the difference.
        shift = 2 - bullet.end()
        text = "- " + text[bullet.end() :]
        paragraph.turns = [(offset + shift, page) for offset, page in paragraph.turns]
    paragraph.text = text
