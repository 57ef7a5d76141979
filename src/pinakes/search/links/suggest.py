"""Suggest: titles, labels, headings and defined terms, as somebody types."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from pinakes.port.suggestions import SuggestionLookup
from pinakes.text.keys import typed_key


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to search for or to open: ``kind`` is ``title``, ``label`` or ``term``."""

    text: str
    kind: str
    source_path: str
    section_id: str
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON values."""
        return asdict(self)


def suggest(
    lookup: SuggestionLookup, prefix: str, limit: int, paths: Collection[str] | None = None
) -> list[Suggestion]:
    """Return the best suggestions, those of other documents than ``paths`` left out.

    What begins with the prefix comes first, then what has a word that does, then what holds it anywhere.
    """
    key = typed_key(prefix)
    if not key or limit < 1:
        return []
    allowed = None if paths is None else paths.__contains__
    found: dict[tuple[str, str], Suggestion] = {}
    for row in chain(
        lookup.beginning(key, allowed),
        lookup.beginning(key, allowed, later_words=True),
        lookup.holding(key, allowed) if len(key) > 2 else (),
    ):
        # The same words in many documents are one suggestion, unless it is a place that is meant.
        found.setdefault((row.text.casefold(), row.kind), Suggestion(*row))
        if len(found) == limit:
            break
    return list(found.values())
