"""Candidates: what the legs of a search hand to fusion."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Leg:
    """The ranked answer of one way of searching; scores are comparable within the leg only."""

    name: str
    hits: list[tuple[int, float]]


@dataclass(slots=True)
class Candidate:
    """A chunk on its way to becoming a result."""

    chunk: int
    score: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    pin: float = 0.0
    reason: str = ""
