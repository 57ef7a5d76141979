"""Layout: which section and which document each chunk belongs to, for the whole library, as arrays.

Read once for each generation. The section of a chunk, here, is the smallest one around it that holds other chunks
too: its relatives. A chunk whose only relatives are the whole document has the document as its section.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinakes.search.candidates import Ids
from pinakes.stores.embedded.lookup import Lookup

Counts = NDArray[np.float64]
Groups = NDArray[np.intp]

_MOST_SECTIONS = 1 << 32


@dataclass(frozen=True, slots=True)
class Grouping:
    """A division of chunks: the group of each, and how many chunks each group has."""

    groups: Groups
    sizes: Counts

    def of(self, places: NDArray[np.intp]) -> Grouping:
        """Return the same for some chunks only, with groups numbered anew; sizes stay those of the library."""
        known, groups = np.unique(self.groups[places], return_inverse=True)
        return Grouping(groups, self.sizes[known])


@dataclass(frozen=True, slots=True)
class Layout:
    """The chunks of the library in order of their ids."""

    chunks: Ids
    sections: Grouping
    documents: Grouping

    def __len__(self) -> int:
        return len(self.chunks)

    def places(self, chunks: Ids) -> NDArray[np.intp]:
        """Return where chunks stand in the layout; -1 for those that it does not know."""
        if not len(self.chunks):
            return np.full(len(chunks), -1)
        at = np.minimum(np.searchsorted(self.chunks, chunks), len(self.chunks) - 1)
        return np.where(self.chunks[at] == chunks, at, -1)


def read_layout(lookup: Lookup) -> Layout:
    """Read the layout of the library as it is now."""
    places = lookup.chunk_places()
    chunks, owners, sections = places[np.argsort(places[:, 0], kind="stable")].T
    documents, ordinals, parents = lookup.section_parents().T
    relatives = _relatives(_keys(owners, sections), _keys(documents, ordinals), parents)
    return Layout(np.ascontiguousarray(chunks), _grouping(relatives), _grouping(owners))


def _keys(documents: Ids, sections: Ids) -> Ids:
    """Make one number of a document and the number of a section in it, in the same order."""
    return np.asarray(documents * _MOST_SECTIONS + sections)


def _grouping(labels: Ids) -> Grouping:
    _, groups, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return Grouping(groups, sizes.astype(np.float64))


def _relatives(chunks: Ids, sections: Ids, parents: Ids) -> NDArray[np.intp]:
    """Number, for each chunk, the smallest section around it that holds another chunk too.

    ``chunks`` are the keys of the sections that chunks stand in, ``sections`` those of all sections, and ``parents``
    the numbers of their parents, below 0 for none.
    """
    # A document that came or went while this was read may have chunks and no sections.
    known, place = np.unique(np.concatenate([chunks, sections]), return_inverse=True)
    inside, listed = np.split(place, [len(chunks)])
    above = np.where(parents < 0, -1, sections - sections % _MOST_SECTIONS + parents)
    at = np.searchsorted(known, above)
    up = np.full(len(known), -1)
    # Parents come first in a document; what says otherwise is damaged, and must not lead in circles.
    sound = (at < listed) & (known[np.minimum(at, listed)] == above)
    up[listed[sound]] = at[sound]
    own = np.bincount(inside, minlength=len(known)).astype(np.float64)
    counts, current = own.copy(), up
    while (inner := current >= 0).any():
        counts += np.bincount(current[inner], own[inner], len(known))
        current = np.where(inner, up[current], -1)
    while (alone := (counts[inside] < 2) & (up[inside] >= 0)).any():
        inside = np.where(alone, up[inside], inside)
    return np.asarray(inside)
