"""Matching: how an index finds chunks: by words, by vectors, or by a database's own search."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from loccit.config.bounds import DEEPEST
from loccit.grammar.text.analysis import QueryTerm
from loccit.models.embedding.protocol import Vectors

# A chunk and its score.
Hit: TypeAlias = tuple[int, float]


# How many chunks a leg is asked for: more than are shown, since sections and documents are scored by their
# chunks.
DEPTH = DEEPEST


class Nearest(NamedTuple):
    """Chunks with their cosines, best first; ``floor`` is the lowest cosine of the chunks searched."""

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]
    floor: float


class PassageVectors(NamedTuple):
    """Chunks in ascending order, the number of passages of each, and their vectors, concatenated."""

    chunks: NDArray[np.int64]
    counts: NDArray[np.int64]
    vectors: Vectors


class DenseSearch(Protocol):
    """Nearest neighbours by vector. Vectors are of length one."""

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model of these vectors."""
        ...

    @property
    def generation(self) -> int:
        """The record's generation that has been seen."""
        ...

    @property
    def depth(self) -> int:
        """How many chunks to ask for, if more would cost more than they are worth."""
        ...

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search."""
        ...

    def reload(self) -> None:
        """Notice what another process wrote."""
        ...

    def search(self, query: Vectors, limit: int, documents: Collection[int] | None = None) -> Nearest:
        """Return the chunks nearest to a query, by the cosine of their best passage, best first."""
        ...

    def passages(self, chunks: NDArray[np.int64]) -> PassageVectors:
        """Return the vectors of some chunks, without those that have none."""
        ...


class NativeSearch(Protocol):
    """What a database does itself beyond vectors, if requested."""

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
        """Estimate the lowest cosine of chunks to a query: that of unrelated ones."""
        ...


class TextSearch(Protocol):
    """Ranked keyword search, exact phrases, code, and statistics of single words."""

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
        """Return the chunks that contain the query's words, best first."""
        ...

    def idf(self, query: str, languages: Sequence[str]) -> list[tuple[QueryTerm, float]]:
        """Return the terms of a query with their IDF; the sum is the score of a full match."""
        ...

    def phrase(
        self, phrase: str, *, limit: int, documents: Collection[int] | None = None
    ) -> tuple[list[Hit], int]:
        """Return the chunks that contain the words in this order, and their number."""
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
        """Return the chunks whose code contains the identifiers in a question, best first; none if it has none."""
        ...

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """Return how many chunks contain a word, in any of its forms."""
        ...

    def similar(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return words with similar spelling, closest first, with the number of chunks that contain them."""
        ...

    def holding(
        self, words: Sequence[str], languages: Sequence[str], documents: Collection[int] | None = None
    ) -> set[int]:
        """Return the chunks, of some documents or of all, that contain any of some words or phrases."""
        ...

    def suggest(self, prefix: str, limit: int = 10) -> list[str]:
        """Return words of the texts with a prefix, most frequent first."""
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
