"""Matching: the ways in which an index finds chunks, by their words, their vectors, or what a database does itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors
from pinakes.text.analysis import QueryTerm

# A chunk and how well it fits.
Hit: TypeAlias = tuple[int, float]


# How many chunks a leg is asked for: sections and documents are judged by their chunks, so more than will be shown.
DEPTH = 1000


class Nearest(NamedTuple):
    """Chunks with their cosines, best first; ``floor`` is the lowest cosine of those that were asked for."""

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]
    floor: float


class PassageVectors(NamedTuple):
    """Chunks in ascending order, how many passages each has, and the vectors of these, one after the other."""

    chunks: NDArray[np.int64]
    counts: NDArray[np.int64]
    vectors: Vectors


class DenseSearch(Protocol):
    """Nearest neighbours by vector. Vectors are of length one."""

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model whose vectors these are."""
        ...

    @property
    def generation(self) -> int:
        """The record's generation that has been seen."""
        ...

    @property
    def depth(self) -> int:
        """How many chunks to ask for, where more would cost more than they tell."""
        ...

    @property
    def empty(self) -> bool:
        """Whether there is nothing to be found."""
        ...

    def reload(self) -> None:
        """See what another process wrote."""
        ...

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> Nearest:
        """Return the chunks nearest to a query, by the cosine of the best of their passages, best first."""
        ...

    def passages(self, chunks: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of some chunks, without those that have none."""
        ...


class NativeSearch(Protocol):
    """What a database does itself beyond vectors, where it is asked to."""

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the chunks that its own keyword search finds, best first."""
        ...

    def hybrid(
        self,
        query: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[int] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the chunks that its own fusion of vectors and words finds, best first."""
        ...

    def floor(self, query: Vectors, documents: Collection[int] | None = None) -> float:
        """Return about the lowest cosine that chunks have to a query: that of what has nothing to do with it."""
        ...


class TextSearch(Protocol):
    """Ranked keyword search, exact phrases, code, and what there is to know about single words."""

    @property
    def generation(self) -> int:
        """The record's generation that has been seen."""
        ...

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

    def idf(self, query: str, languages: Sequence[str]) -> list[tuple[QueryTerm, float]]:
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

    def holding(
        self, words: Sequence[str], languages: Sequence[str], documents: Collection[int] | None = None
    ) -> set[int]:
        """Return the chunks, of some documents or of all, that hold any of some words or phrases."""
        ...

    def suggest(self, prefix: str, limit: int = 10) -> list[str]:
        """Return words of the texts that begin so, most frequent first."""
        ...

    def code_languages(self) -> dict[str, int]:
        """Return the languages that code is in, with the number of chunks, most frequent first."""
        ...

    def documents_with_code(self, languages: Sequence[str]) -> set[int]:
        """Return the documents that have code in any of some languages."""
        ...

    def with_code(self, languages: Sequence[str], documents: Collection[int]) -> set[int]:
        """Return the chunks of some documents that have code in any of some languages."""
        ...


class Vocabulary(Protocol):
    """Terms with vectors."""

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Return the terms nearest to a vector with their cosine, the nearest first."""
        ...
