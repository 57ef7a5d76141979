"""From the vectors of tokens to the vector of a text."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pinakes.embedding.protocol import Vectors

Pooling: TypeAlias = Literal["mean", "cls", "max"]


def pool(hidden: NDArray[Any], mask: NDArray[np.int64], mode: Pooling) -> NDArray[np.float32]:
    """Reduce (batch, token, channel) to (batch, channel), leaving padding out."""
    values = hidden.astype(np.float32, copy=False)
    present = mask[:, :, None].astype(bool)
    if mode == "cls":
        return np.asarray(values[np.arange(len(values)), mask.argmax(axis=1)])
    if mode == "max":
        return np.asarray(np.where(present, values, -np.inf).max(axis=1), np.float32)
    total = np.where(present, values, 0.0).sum(axis=1, dtype=np.float32)
    return np.asarray(total / np.maximum(present.sum(axis=1), 1), np.float32)


def normalise(vectors: NDArray[Any]) -> Vectors:
    """Scale each row to length 1; a row of zeros stays as it is."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)
