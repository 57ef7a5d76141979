"""Map: which places refer to which, for one document or for the whole library, which is read once per state."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from loccit.answers.citations import Citations
from loccit.errors import NotFoundError
from loccit.index.port.index import SearchIndex
from loccit.model import Place
from loccit.search.resolve.reference_graph import ReferenceGraph

# If building it takes more seconds than this, a map may be this many times as old while the index changes.
_SLOW = 0.3
_KEPT = 20
# Documents whose references are resolved together.
_TOGETHER = 200


@dataclass(frozen=True, slots=True)
class DocumentMap:
    """The sections of a document, the number of chunks directly in each, and what they refer to.

    By the ordinal of a section, ``cites`` counts what it refers to, and ``cited_by`` its citations; ``whole`` counts
    those of the document as a whole. ``links`` counts the references from a section to a place; sections are ids,
    empty for the whole document, and the section around a clause of this one stands for it.
    """

    sections: list[Place]
    chunks: dict[int, int]
    cites: dict[int, int]
    cited_by: Counter[int]
    whole: int
    links: Counter[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class LibraryMap:
    """The number of sections in each document, and of citations of one document, or its places, in another."""

    generation: int
    sections: dict[str, int]
    links: Counter[tuple[str, str]]


def map_document(index: SearchIndex, path: str, *, within: Collection[int] | None = None) -> DocumentMap:
    """Return the map of the document at a path; only citations ``within`` some documents are counted, if given."""
    entry = index.names.at([path]).get(path)
    if entry is None:
        raise NotFoundError("This document was removed from the library.")
    places = index.lookup.places_of_document(entry.id)
    sections = [place for place in places if place.is_heading and place.ordinal]
    headings = {place.ordinal: place.section_id for place in places if place.is_heading}
    held = {place.section_id: headings[place.section] for place in places}
    graph = ReferenceGraph(index)
    inside = graph.in_span(entry.id, 0, 1 << 62)
    citations = Citations(graph, entry.id, places, within=within, inside=inside)
    section_starts = [section.start for section in sections]
    links: Counter[tuple[str, str, str]] = Counter()
    for reference in inside:
        if reference.target_path:
            at = bisect_right(section_starts, reference.start) - 1
            section_id = sections[at].section_id if at >= 0 else ""
            target = reference.target_section
            if reference.target_path == path:
                target = held.get(target, target)
            links[section_id, reference.target_path, target] += 1
    starts = [reference.start for reference in inside]
    cites = {one.ordinal: bisect_left(starts, one.end) - bisect_left(starts, one.start) for one in sections}
    return DocumentMap(
        sections,
        index.reading.chunk_counts(entry.id),
        cites,
        citations.counts(),
        len(citations.of_document),
        links,
    )


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
        # A list or range that names several places of a document is one citation of it.
        spots = {
            (document, path, start)
            for (document, _, starts), path in zip(outward, targets, strict=True)
            if path not in ("", paths[document])
            for start in starts
        }
        links.update((paths[document], path) for document, path, _ in spots)
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
