"""Vectors in the double: all are compared, whatever index the service would use."""

from __future__ import annotations

from typing import Any

import numpy as np
from bson.binary import Binary
from numpy.typing import NDArray
from tests.index.providers.mongo_double_table import Document

Floats = NDArray[np.float32]


class VectorTable:
    """The vectors of some documents in one piece, made anew when these changed."""

    def __init__(self) -> None:
        self._version: Any = None
        self._held: list[Document] = []
        self._matrix: Floats = np.zeros((0, 0), np.float32)

    def nearest(
        self, documents: dict[Any, Document], version: Any, query: Floats, path: str
    ) -> list[tuple[Document, float]]:
        """Return all documents with a vector of the query's length and their cosines, best first."""
        if self._version != version:
            read = [(document, vector_of(document.get(path))) for document in documents.values()]
            fit = [(document, one) for document, one in read if one is not None and len(one) == len(query)]
            self._held = [document for document, _ in fit]
            self._matrix = np.stack([one for _, one in fit]) if fit else np.zeros((0, len(query)), np.float32)
            self._matrix /= np.maximum(np.linalg.norm(self._matrix, axis=1, keepdims=True), 1e-12)
            self._version = version
        if not self._held:
            return []
        cosines = self._matrix @ (query / max(float(np.linalg.norm(query)), 1e-12))
        order = np.argsort(-cosines, kind="stable")
        return [(self._held[at], float(cosines[at])) for at in order]


def vector_of(value: Any) -> Floats | None:
    """Return a vector from either form that a document may have it in."""
    if isinstance(value, Binary) and value.subtype == 9 and value[:2] == b"\x27\x00":
        return np.asarray(np.frombuffer(value, "<f4", offset=2), np.float32)
    if isinstance(value, list) and value and all(isinstance(one, int | float) for one in value):
        return np.asarray(value, np.float32)
    return None
