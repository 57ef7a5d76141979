"""What search asks of a store. Chunks go by the row ids of the record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.text.query_terms import QueryTerm

# A chunk and how well it fits.
Hit: TypeAlias = tuple[int, float]


class DenseSearch(Protocol):
    """Nearest neighbours by vector."""

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> list[Hit]:
        """Return the chunks nearest to a query vector, best first."""
        ...


class TextSearch(Protocol):
    """Ranked keyword search, exact phrases, code, and what there is to know about single words."""

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

    def worth(self, query: str, languages: Sequence[str]) -> list[tuple[QueryTerm, float]]:
        """Return the terms of a query, with what finding each is worth; together, what a full match scores."""
        ...

    def phrase(
        self, phrase: str, *, limit: int, documents: Collection[int] | None = None
    ) -> tuple[list[Hit], int]:
        """Return the chunks that hold the words in this order, and how many there are."""
        ...

    def search_arrays(
        self,
        query: str,
        *,
        languages: Sequence[str],
        limit: int,
        documents: Collection[int] | None = None,
        boosts: Mapping[str, float] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the same as ``search``, as an array of chunks and one of scores."""
        ...

    def search_code(
        self, query: str, *, limit: int, documents: Collection[int] | None = None, language: str | None = None
    ) -> list[Hit]:
        """Return the chunks whose code holds the names in a question, best first; none when it has no names."""
        ...

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """Return how many chunks hold a word, in any of its forms."""
        ...

    def similar(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return words that are spelled nearly so, nearest first, with how many chunks hold them."""
        ...

    def holding(self, words: Sequence[str], languages: Sequence[str]) -> set[int]:
        """Return the chunks that hold any of some words or phrases."""
        ...
