"""Markdown: how it is parsed, wherever that is done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyromark

OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_WIKILINKS
)


def char_offsets(body: str) -> Callable[[int], int]:
    """Return a function from the parser's UTF-8 byte offsets to character offsets."""
    if body.isascii():
        return lambda offset: offset
    data = np.frombuffer(body.encode(), dtype=np.uint8)
    starts = np.concatenate(([0], np.cumsum((data & 0xC0) != 0x80, dtype=np.int32)))
    return lambda offset: int(starts[offset])
