"""What search asks of a store. Chunks go by the row ids of the record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from pinakes.embedding.protocol import Vectors

# A chunk and how well it fits.
Hit: TypeAlias = tuple[int, float]


class DenseSearch(Protocol):
    """Nearest neighbours by vector."""

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> list[Hit]:
        """Return the chunks nearest to a query vector, best first."""
        ...


class TextSearch(Protocol):
    """Ranked keyword search and exact phrases."""

    def search(
        self,
        query: str,
        *,
        languages: Sequence[str],
        limit: int,
        documents: Collection[int] | None = None,
        boosts: Mapping[str, float] | None = None,
    ) -> list[Hit]:
        """Return the chunks that hold the query's words, best first."""
        ...

    def phrase(
        self, phrase: str, *, limit: int, documents: Collection[int] | None = None
    ) -> tuple[list[Hit], int]:
        """Return the chunks that hold the words in this order, and how many there are."""
        ...
