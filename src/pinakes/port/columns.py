"""Columns: what ranking has to know about chunks, as arrays, for those it asks about."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

COLUMNS = np.dtype(
    [
        ("document", "<i8"),
        ("date", "<f8"),
        ("section", "<i4"),
        ("section_chunks", "<i4"),
        ("document_chunks", "<i4"),
        ("header", "?"),
        ("reserved", "V3"),
    ]
)
"""What is known of a chunk.

``section`` is the number, in the document, of the smallest section around the chunk that holds another chunk too: its
relatives, of which there are ``section_chunks``. The document has ``document_chunks``, and a ``date`` in seconds since
1970, no number where none is known. ``header`` says that the chunk is nothing but a heading. ``document`` is 0, which
no document has, for chunks that do not exist.
"""

ColumnValues = NDArray[Any]


class ChunkColumns(Protocol):
    """Answers for chunks of the present state of the library."""

    @property
    def total(self) -> int:
        """How many chunks the library has."""
        ...

    def of(self, chunks: NDArray[np.int64]) -> ColumnValues:
        """Return one value of type ``COLUMNS`` for each chunk, in the order given."""
        ...
