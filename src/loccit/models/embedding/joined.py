"""Two models side by side in one vector, whose products are weighted sums of the similarities of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from loccit.models.embedding.folder import LocalModel
from loccit.models.embedding.onnx import OnnxEmbedder, normalise
from loccit.models.embedding.protocol import Vectors


class JoinedEmbedder(LocalModel, ABC):
    """A bundled model, and what another says of the same text beside it."""

    suffix: ClassVar[str]
    """What the name of the bundled model is followed by."""

    def __init__(self, base: OnnxEmbedder) -> None:
        super().__init__(base.folder)
        self.base = base

    @property
    def name(self) -> str:
        """Identity of the model."""
        return self.base.name + self.suffix

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.base.dimension + self.added

    @property
    @abstractmethod
    def added(self) -> int:
        """How many numbers the other adds."""

    @property
    def context_share(self) -> float:
        """Not measured: no vector is made from another's."""
        return 0.0

    @property
    def provider(self) -> str:
        """Where the model runs."""
        return self.base.provider

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, in the order given."""


def side_by_side(own: Vectors, other: Vectors, share: float) -> Vectors:
    """Join unit vectors; ``share`` is how much of a similarity is that of the others."""
    return normalise(np.concatenate([np.sqrt(1 - share) * own, np.sqrt(share) * other], axis=-1))


class TwoModels(JoinedEmbedder):
    """Two bundled models, each of which is right where the other is wrong: better than either, and twice the work.

    docs/decisions/0034-two-models.md has the figures.
    """

    suffix = "+granite-embedding-30m-english-int8"
    _SHARE = 0.5

    def __init__(self, base: OnnxEmbedder, other: OnnxEmbedder) -> None:
        super().__init__(base)
        self._other = other

    @property
    def added(self) -> int:
        """How many numbers the second model adds."""
        return self._other.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, in the order given."""
        return side_by_side(self.base.embed(texts), self._other.embed(texts), self._SHARE)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        return side_by_side(self.base.embed_query(text), self._other.embed_query(text), self._SHARE)
