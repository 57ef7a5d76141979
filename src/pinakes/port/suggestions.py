"""Suggestions: titles, defined terms, labels and headings, by what somebody types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol


class SuggestionRow(NamedTuple):
    """Something to search for or to open: ``kind`` is ``title``, ``term`` or ``label``."""

    text: str
    kind: str
    source_path: str
    section_id: str
    detail: str


class SuggestionLookup(Protocol):
    """The part of an index that knows what can be typed. Keys are those of ``text.keys.typed_key``."""

    def beginning(
        self, key: str, allowed: Callable[[str], bool] | None = None, *, later_words: bool = False
    ) -> Iterator[SuggestionRow]:
        """Go through what begins so, or has a later word that does; ``allowed`` says which paths may be shown."""
        ...

    def holding(self, key: str, allowed: Callable[[str], bool] | None = None) -> Iterator[SuggestionRow]:
        """Go through what holds this anywhere, as far as that can be looked for."""
        ...
