"""Obligations: what search asks of the table of duties, deadlines and amounts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from pinakes.model.obligation import ObligationRow


@dataclass(frozen=True, slots=True)
class ObligationQuery:
    """Which rows are wanted: all that pass everything that is given.

    ``kind`` is one of ``KINDS`` or ``PARTS``, ``gap`` one of ``GAPS``; ``bearer`` and ``words`` are words that the
    bearer and the sentence hold, whatever the case; ``unit`` is that of a deadline or an amount, where ``day`` means
    working days too.
    """

    kind: str = ""
    bearer: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unit: str = ""
    gap: str = ""


@dataclass(frozen=True, slots=True)
class ObligationCounts:
    """How many rows pass; by kind and part as if no kind had been asked for, and by gap."""

    total: int
    kinds: dict[str, int] = field(default_factory=dict)
    gaps: dict[str, int] = field(default_factory=dict)


class ObligationLookup(Protocol):
    """The part of an index that knows obligations. ``documents`` are those to look in; None is all."""

    def rows(
        self, query: ObligationQuery, documents: Collection[int] | None, limit: int, offset: int
    ) -> list[ObligationRow]:
        """Return rows in the order of paths and of texts."""
        ...

    def counts(self, query: ObligationQuery, documents: Collection[int] | None) -> ObligationCounts:
        """Return how many rows there are."""
        ...

    def looked_at(self, documents: Collection[int] | None, languages: Collection[str]) -> tuple[int, int]:
        """Return how many documents there are, and how many of them are in other languages than some."""
        ...
