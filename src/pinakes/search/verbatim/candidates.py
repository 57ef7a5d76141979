"""Candidates: the documents in which a pattern can stand, by the words that the keyword index knows.

Nothing is lost by it. A place has a run of letters and digits within one word, and the index knows every word of every
chunk; documents in which a chunk ends within a word are always looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pinakes.port.index import SearchIndex

# So few chunks are read faster than an index is asked.
SMALL = 3000
# What stands in more of all chunks than this narrows nothing.
_COMMON = 1 / 3
_MOST_ASKED = 3


def candidate_documents(
    index: SearchIndex, needs: Sequence[str], reach: int, *, small: int = SMALL
) -> set[int] | None:
    """Return the documents that may have all of some runs of letters, in ``reach`` chunks; None where it may be any."""
    total = index.columns.total
    if not needs or total <= small or index.keyword.generation < index.stamp:
        return None
    counted = sorted((index.keyword.count_containing(run), run) for run in needs)
    asked = [run for count, run in counted if count <= total * _COMMON][:_MOST_ASKED]
    if not asked:
        return None
    found, *others = (index.keyword.containing(run) for run in asked)
    documents = _owners(index, found)
    for other in others:
        if reach:
            found = _near(found, other, reach)
            documents = _owners(index, found)
        else:
            documents &= _owners(index, other)
    return documents | index.lookup.documents_cut_in_words()


def _owners(index: SearchIndex, chunks: NDArray[np.int64]) -> set[int]:
    return set(np.unique(index.columns.of(chunks)["document"]).tolist()) - {0}


def _near(chunks: NDArray[np.int64], others: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Return the chunks that have one of some others at most so many away: a document has them in order."""
    if not len(chunks) or not len(others):
        return chunks[:0]
    following = np.searchsorted(others, chunks - (reach - 1))
    near = others[np.minimum(following, len(others) - 1)]
    return chunks[(near >= chunks - (reach - 1)) & (near <= chunks + (reach - 1))]
