"""What an indexing run did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be indexed, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class IndexReport:
    """Counts of one run of ``Library.index``; lists hold paths."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    chunks: int = 0
    embedded: int = 0
    seconds: float = 0.0
    stage_seconds: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a running job, for a progress bar: ``stage`` is ``scan``, ``read`` or ``embed``."""

    stage: str
    done: int
    total: int
    item: str = ""
