"""Where the pages of a Word file begin, as the program that saved it last laid them out.

While a file is read, two characters that no text may contain stand where a page begins: one where the file says
that a page was rendered, one for a break that its author set and that no such remark follows. They are taken out
of the finished text, and become page starts only if there are as many as the file says it has pages.
"""

from __future__ import annotations

import re

from pinakes.model.document import PageStart

RENDERED = "\ufdd0"
EXPLICIT = "\ufdd1"
TURNS = RENDERED + EXPLICIT
# So many pages without a word of text are not pages.
_MOST_WAITING = 1000
_TURNS = re.compile(f"[{TURNS}]+")


def turned(waiting: str, turn: str) -> str:
    """Add a page turn to those that wait for text. A break and the remark about it are one."""
    if len(waiting) >= _MOST_WAITING:
        return waiting
    return (waiting[:-1] if turn == RENDERED and waiting.endswith(EXPLICIT) else waiting) + turn


def peel(text: str) -> tuple[str, str]:
    """The page turns before a text, and the text."""
    bare = text.lstrip(TURNS)
    return text[: len(text) - len(bare)], bare


def without(text: str) -> str:
    """A text without its page turns."""
    return _TURNS.sub("", text)


def page_starts(text: str, pages: int) -> tuple[str, tuple[PageStart, ...]]:
    """The text without its page turns, and where its pages begin; nowhere if that does not agree with their number.

    A file that was changed by another program after Word saved it keeps its remarks, and they are wrong.
    """
    for turns in (RENDERED, TURNS):
        if RENDERED in text and sum(map(text.count, turns)) + 1 == pages:
            return without(text), _starts(text, turns)
    return without(text), ()


def _starts(text: str, turns: str) -> tuple[PageStart, ...]:
    starts = {0: 1}
    page, removed = 1, 0
    for found in _TURNS.finditer(text):
        page += sum(map(found[0].count, turns))
        # Pages without text of ours, a table of contents for one, begin and end here.
        starts[found.start() - removed] = page
        removed += len(found[0])
    return tuple(PageStart(offset, page) for offset, page in starts.items())
