"""Obligations: what search asks of the table of duties, deadlines and amounts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from loccit.model.obligation import ObligationRow


@dataclass(frozen=True, slots=True)
class ObligationQuery:
    """Which rows are wanted: those that meet all conditions given.

    ``kind`` is one of ``KINDS`` or ``PARTS``, ``gap`` one of ``GAPS``; ``bearer`` and ``words`` are words in the bearer
    and the sentence, ignoring case; ``unit`` is that of a deadline or an amount, where ``day`` includes working days.
    """

    kind: str = ""
    bearer: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unit: str = ""
    gap: str = ""


@dataclass(frozen=True, slots=True)
class ObligationCounts:
    """The number of matching rows; by kind and part regardless of the requested kind, and by gap."""

    total: int
    kinds: dict[str, int] = field(default_factory=dict)
    gaps: dict[str, int] = field(default_factory=dict)


class ObligationLookup(Protocol):
    """The part of an index that knows obligations. ``documents`` are those to search; None means all."""

    def rows(
        self, query: ObligationQuery, documents: Collection[int] | None, limit: int, offset: int
    ) -> list[ObligationRow]:
        """Return rows in path and text order."""
        ...

    def counts(self, query: ObligationQuery, documents: Collection[int] | None) -> ObligationCounts:
        """Return the number of rows."""
        ...

    def looked_at(self, documents: Collection[int] | None, languages: Collection[str]) -> tuple[int, int]:
        """Return the number of documents, and of those in other languages than these."""
        ...
