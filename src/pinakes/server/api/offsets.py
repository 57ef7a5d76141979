"""Offsets: the same places counted in units of UTF-16, as JavaScript counts, where a text has wide characters."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

_FIELDS = ("start", "body", "end", "body_start")


def utf16(text: str) -> Callable[[int], int] | None:
    """Return what turns an offset into one of UTF-16, or None where both are the same."""
    # Most texts have none; to look at every character of a long one takes longer than to encode it.
    if len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return None
    wide = [at for at, character in enumerate(text) if character > "\uffff"]
    return lambda offset: offset + bisect_left(wide, offset)


def convert(items: Iterable[dict[str, Any]], turn: Callable[[int], int]) -> None:
    """Turn the offsets of some items."""
    for item in items:
        for name in _FIELDS:
            if name in item:
                item[name] = turn(item[name])
