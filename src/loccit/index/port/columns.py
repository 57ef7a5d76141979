"""Columns: what ranking needs to know about chunks, as arrays."""

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
        ("check", "<u8"),
    ]
)
"""What is known about a chunk.

``section`` is the number, in the document, of the smallest section around the chunk with another chunk in it: its
relatives, of which there are ``section_chunks``. The document has ``document_chunks``, and a ``date`` in seconds since
1970, NaN if unknown. ``header``: the chunk is only a heading. ``document`` is 0, which no document has, for chunks that
do not exist. ``check`` is for the files that hold such values.
"""

ColumnValues = NDArray[Any]


class ChunkColumns(Protocol):
    """Columns for chunks in the current state of the library."""

    @property
    def total(self) -> int:
        """The number of chunks in the library."""
        ...

    def of(self, chunks: NDArray[np.int64]) -> ColumnValues:
        """Return one value of type ``COLUMNS`` for each chunk, in the order given."""
        ...
