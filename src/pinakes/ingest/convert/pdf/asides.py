"""What stands on a page beside its text: running heads and feet, and words that run in another direction.

They are words of the page and so are kept, but never where they would cut a sentence in two: a page's asides make
one paragraph in brackets before the first block that begins on it, which is after whatever runs over from the page
before. On the first page they come last, since a document begins with its title.
"""

from __future__ import annotations

from collections.abc import Sequence

from .page import HYPHEN, PageText
from .paragraphs import Block, Paragraph


def add_asides(blocks: Sequence[Block], pages: Sequence[PageText]) -> list[Block]:
    """The blocks with those of the asides among them."""
    result: list[Block] = []
    waiting = [page for page in pages if page.aside]
    waiting.reverse()
    for block in blocks:
        while waiting and block.page >= max(waiting[-1].number, 1):
            result.append(_paragraph(waiting.pop()))
        result.append(block)
    result.extend(_paragraph(page) for page in reversed(waiting))
    return result


def _paragraph(page: PageText) -> Paragraph:
    text = " · ".join(" ".join(part.split()) for part in page.aside)
    return Paragraph(f"[{text.replace(HYPHEN, '-')}]", page.number)
