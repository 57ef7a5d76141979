"""The protocol of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]


@runtime_checkable
class Tokenizer(Protocol):
    """Splits text into the model's tokens."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, in order, without special tokens."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def name(self) -> str:
        """Identity of the model, recorded in the index: vectors of different models are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """The maximum number of tokens that the model reads."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """Languages (ISO 639-1) that the model covers, or None if it covers all or is unknown."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length ``dimension`` for each text, normalised to length 1."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, normalised to length 1."""
        ...
