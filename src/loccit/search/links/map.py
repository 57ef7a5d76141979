"""Map: which places refer to which, for one document or for the whole library, which is read once per state."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from loccit.errors import NotFoundError
from loccit.model import Place
from loccit.port.index import SearchIndex
from loccit.search.links.reference_graph import ReferenceGraph

# If building it takes more seconds than this, a map may be this many times as old while the index changes.
_SLOW = 0.3
_KEPT = 20
# Documents whose references are resolved together.
_TOGETHER = 200


@dataclass(frozen=True, slots=True)
class DocumentMap:
    """The sections of a document, the number of chunks directly in each, and what they refer to.

    ``links`` counts the references from a section to a place; sections are ids, empty for the whole document.
    """

    sections: list[Place]
    chunks: dict[int, int]
    links: Counter[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class LibraryMap:
    """The number of sections in each document, and of references from one document to another."""

    generation: int
    sections: dict[str, int]
    links: Counter[tuple[str, str]]


def map_document(index: SearchIndex, path: str) -> DocumentMap:
    """Return the map of the document at a path."""
    entry = index.names.at([path]).get(path)
    if entry is None:
        raise NotFoundError("This document was removed from the library.")
    sections = index.reading.headings_of(entry.id)
    starts = [section.start for section in sections]
    links: Counter[tuple[str, str, str]] = Counter()
    for reference in ReferenceGraph(index).in_span(entry.id, 0, 1 << 62):
        if reference.target_path:
            at = bisect_right(starts, reference.start) - 1
            section_id = sections[at].section_id if at >= 0 else ""
            links[section_id, reference.target_path, reference.target_section] += 1
    return DocumentMap(sections, index.reading.chunk_counts(entry.id), links)


def map_library(index: SearchIndex) -> LibraryMap:
    """Resolve every reference that may lead to another document."""
    generation = index.stamp
    paths = index.reading.paths()
    counts = index.reading.heading_counts()
    links: Counter[tuple[str, str]] = Counter()
    documents = list(paths)
    for first in range(0, len(documents), _TOGETHER):
        outward = index.lookup.references_outward(documents[first : first + _TOGETHER])
        targets = ReferenceGraph(index).paths_of(
            [(document, reference) for document, reference, _ in outward]
        )
        for (document, _, count), path in zip(outward, targets, strict=True):
            if path not in ("", paths[document]):
                links[paths[document], path] += count
    return LibraryMap(generation, {path: counts.get(number, 0) for number, path in paths.items()}, links)


class LibraryMaps:
    """Caches the map of the current state of the library."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._guard = threading.Lock()
        self._map: LibraryMap | None = None
        self._good_until = 0.0

    def get(self) -> LibraryMap:
        """Return the current map; during heavy indexing, a slightly older one."""
        found = self._fresh()
        if found is None:
            with self._guard:
                found = self._fresh()
                if found is None:
                    began = time.monotonic()
                    found = self._map = map_library(self._index)
                    ended = time.monotonic()
                    self._good_until = ended + (_KEPT * (ended - began) if ended - began > _SLOW else 0.0)
        return found

    def _fresh(self) -> LibraryMap | None:
        found = self._map
        if found is None:
            return None
        current = found.generation == self._index.stamp
        return found if current or time.monotonic() < self._good_until else None
