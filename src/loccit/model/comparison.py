"""What differs between two documents, place by place."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from loccit.model.quotes import TextPlace, WordChange

ADDED, REMOVED, MOVED, RENUMBERED, CHANGED = "added", "removed", "moved", "renumbered", "changed"
KINDS = (ADDED, REMOVED, MOVED, RENUMBERED, CHANGED)


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: a place that only one document has, stands or counts elsewhere, or has other words.

    ``old`` and ``new`` are the two places; ``changes`` are the words of a changed one, same and different in turn.
    """

    kind: str
    old: TextPlace | None = None
    new: TextPlace | None = None
    changes: list[WordChange] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents compared: ``same`` of their places have the same words, ``differences`` come in their order."""

    old_path: str
    new_path: str
    old_title: str
    new_title: str
    differences: list[Difference] = field(default_factory=list)
    same: int = 0

    def count(self, kind: str) -> int:
        """Return how many differences are of a kind."""
        return sum(item.kind == kind for item in self.differences)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        return {**asdict(self), **{kind: self.count(kind) for kind in KINDS}}
