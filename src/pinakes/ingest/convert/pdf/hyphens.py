"""Words broken at line ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .page import HYPHEN

_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TAIL = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u00ad\u2010" + HYPHEN + r"]$")
_MARKS = frozenset("-\u00ad\u2010" + HYPHEN)
_ADDRESS = re.compile(r"(?:https?://|www\.|/)\S*$")
_HEAD = re.compile(r"[^\W\d_]+")
_KEPT = frozenset("self non cross well high low long short co ex anti multi all half mid part full".split())


class Hyphens:
    """Decides whether a hyphen at a line end belongs to the word, by the words of the document."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._known: set[str] | None = None

    def join(self, before: str, after: str) -> str:
        """Two lines as one, the broken word mended; a space where no word is broken."""
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
