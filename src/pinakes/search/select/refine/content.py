"""Exact duplicates: the same text in two places is shown once."""

from __future__ import annotations

from pinakes.search.select.refine.wording import Wording


class ExactDuplicates:
    """Finds what has been kept already, word for word."""

    name = "content_dedup"

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    def find(self, wording: Wording) -> int | None:
        """Return the kept chunk with the same text."""
        # A text of nothing but marks is no text that two chunks could share.
        return self._kept.get(wording.key) if wording.key else None

    def keep(self, wording: Wording) -> None:
        """Remember a chunk; the first of several duplicates stands for them."""
        self._kept.setdefault(wording.key, wording.id)
