"""Places: where a store is tried, and how to take it away and bring it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId, document_key, version_of
from loccit.index.store import Point, Store
from loccit.models.embedding.protocol import Vectors

DIMENSION = 8


class Place(ABC):
    """A database for tests: a real server, the vendor's local mode, or a double that speaks its protocol."""

    # Whether what is stored is still there for a new store of the same settings, and for another process.
    persistent = True
    shared = True
    # Whether it checks who asks, and whether it can be taken away while it is used.
    guarded = True
    stoppable = True

    @abstractmethod
    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        """Return settings that work."""

    def wrong(self) -> DatabaseSettings:
        """Return settings with credentials that the database refuses."""
        raise NotImplementedError

    def stop(self) -> None:
        """Take the database away: connections break, new ones are refused."""
        raise NotImplementedError

    def start(self) -> None:
        """Bring it back with what was in it."""
        raise NotImplementedError

    def settle(self, store: Store) -> None:
        """Wait until what was written can be found, where that takes a while."""
        return

    def store(self, collection: str = "laws", **changes: Any) -> Store:
        """Return a store that works."""
        return load_store(self.settings(collection, **changes))


def unit(*values: float) -> Vectors:
    """Return a vector of length one; what is not given is zero."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(values)] = values
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def random_units(count: int, seed: int = 1) -> Vectors:
    """Return vectors in all directions."""
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def make_point(
    path: str,
    chunk: int,
    vector: Vectors,
    *,
    passage: int = 0,
    terms: str = "",
    text: str = "",
    version: str = "1",
) -> Point:
    """Return a point as publishing a document makes it."""
    document = document_key(path)
    number = PointId(document, version_of([version.encode()]), chunk, passage)
    return Point(
        str(number), document, vector, terms, path, "Part I > Scope", "en", "markdown", text or terms
    )


def same(found: Vectors | None, wanted: Vectors | None) -> bool:
    """Whether two vectors are the same but for rounding."""
    return found is not None and wanted is not None and bool(np.allclose(found, wanted, atol=1e-5))
