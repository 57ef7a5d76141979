"""Pages written from right to left, as Arabic and Hebrew are.

Their words are mirrored, so that a line goes on where x grows and the right column comes first, and all later
stages need not know. Only what is written rightwards within a line, a name or a number, keeps its own order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

from .page import Rule, Style

FIRST_LEFTWARD = "\u0590"
_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


class _Set(Protocol):
    """How a word is set."""

    @property
    def style(self) -> Style: ...


_Run = TypeVar("_Run", bound=_Set)


def has_leftward(text: str) -> bool:
    """Whether a text has letters of scripts written leftwards."""
    return not text.isascii() and _LETTER.search(text) is not None


def is_leftward(text: str) -> bool:
    """Whether most letters of a text are of scripts written leftwards."""
    return has_leftward(text) and 2 * len(_LETTER.findall(text)) > sum(map(str.isalpha, text))


def mirror_words(
    words: Sequence[tuple[str, float, float, float, _Run]], width: float
) -> list[tuple[str, float, float, float, _Run]]:
    """Words of a page, mirrored; words beside each other that are written rightwards are taken as one."""
    result: list[tuple[str, float, float, float, _Run]] = []
    rightward = False
    for word in words:
        text, x0, x1, base, run = word
        before = rightward
        rightward = not _LETTER.search(text)
        if before and rightward and result:
            last, start, end, last_base, last_run = result[-1]
            # In mirrored coordinates the word before ends where its left edge is.
            gap = x0 - (width - start)
            size = run.style.size
            if abs(last_base - base) < 0.3 * size and -0.1 * size < gap < size:
                result[-1] = (f"{last} {text}", width - x1, end, last_base, last_run)
                continue
        result.append((text, width - x1, width - x0, base, run))
    return result


def mirror_rules(rules: Sequence[Rule], width: float) -> list[Rule]:
    """Rules of a page, mirrored."""
    return [Rule(width - r.x1, r.y0, width - r.x0, r.y1) for r in rules]
