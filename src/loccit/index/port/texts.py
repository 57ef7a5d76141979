"""Texts: the concatenated texts of all documents, to be scanned from end to end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# If this small a part is wanted, it is copied first; of a larger one, unwanted texts are scanned too.
_SMALL_PART = 1 / 4


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Texts of documents in UTF-8, concatenated in the order of their numbers.

    The text of ``documents[n]`` is ``data[starts[n]:ends[n]]``. A separator byte precedes and follows each.
    """

    data: NDArray[np.uint8]
    documents: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def only(self, documents: Collection[int]) -> TextBlock:
        """Return a block of some of the documents; others may be between them."""
        kept = np.isin(self.documents, np.fromiter(documents, np.int64, len(documents)))
        ids, starts, ends = self.documents[kept], self.starts[kept], self.ends[kept]
        lengths = ends - starts + 1
        if not len(ids) or lengths.sum() > _SMALL_PART * len(self.data):
            return TextBlock(self.data, ids, starts, ends)
        pieces = [self.data[start : end + 1] for start, end in zip(starts, ends, strict=True)]
        begins = np.cumsum(lengths) - lengths + 1
        return TextBlock(
            np.concatenate([self.data[starts[0] - 1 : starts[0]], *pieces]),
            ids,
            begins,
            begins + ends - starts,
        )

    def text(self, number: int) -> str:
        """Return the text of the document with a number in the block."""
        return bytes(self.data[self.starts[number] : self.ends[number]]).decode("utf-8")


class TextLookup(Protocol):
    """The texts of all documents, without their frontmatter."""

    @property
    def generation(self) -> int:
        """The record's generation that has been seen."""
        ...

    @property
    def written(self) -> TextBlock:
        """The texts as written, with line ends between them."""
        ...

    @property
    def folded(self) -> TextBlock:
        """The verbatim forms of the texts (``text.verbatim``), with its ``END`` between them."""
        ...
