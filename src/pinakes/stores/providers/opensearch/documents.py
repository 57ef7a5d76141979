"""Points as documents of OpenSearch, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError
from pinakes.stores.store import Point

_TEXTS = ("terms", "source_path", "heading", "language", "file_type", "text")


def numbers_of(vector: Vectors) -> list[float]:
    """Return a vector as JSON has it."""
    # Nine decimals hold all that a float32 of a unit vector has, in half the text.
    numbers: list[float] = np.round(np.asarray(vector, np.float64), 9).tolist()
    return numbers


def document_of(point: Point) -> dict[str, Any]:
    """Return the document that keeps a point; what is empty is left out."""
    if point.vector is None:
        raise StoreError("opensearch: a point without a vector cannot be stored.")
    shown = {name: _text(getattr(point, name)) for name in _TEXTS if getattr(point, name)}
    return {"id": point.id, "document": point.document, "vector": numbers_of(point.vector), **shown}


def _text(text: str) -> str:
    # Half a surrogate pair, as in the names of some files, is no UTF-8.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def point_of(source: dict[str, Any]) -> Point:
    """Return the point that a document, or a part of it, keeps."""
    vector = source.pop("vector", None)
    return Point(vector=None if vector is None else np.asarray(vector, np.float32), **source)
