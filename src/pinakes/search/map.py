"""Map: which places of the library refer to which, all at once.

References between documents are resolved when they are asked for, because documents come and go. For a single section
that is quick; for a whole library it is done once per state of the index.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pinakes.model import Place, Reference
from pinakes.search.citations import Citations
from pinakes.search.corpus import Corpus, CorpusCache
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.text.keys import title_key

# Past this many seconds for one reading, a map may be this many times as old while the index changes.
_SLOW = 0.3
_KEPT = 20


@dataclass(frozen=True, slots=True)
class MappedLink:
    """A reference from one place to another; sections are ids, empty for a document as a whole."""

    from_path: str
    from_section: str
    from_label: str
    to_path: str
    to_section: str
    text: str
    kind: str
    start: int


class LinkMap:
    """The documents and sections of one state of a library, and the references between them."""

    def __init__(
        self,
        generation: int,
        paths: dict[int, str],
        sections: dict[int, list[Place]],
        chunks: dict[tuple[int, int], int],
        links: Iterable[MappedLink],
    ) -> None:
        self.generation = generation
        self._documents = {path: number for number, path in paths.items()}
        self._sections = sections
        self._chunks = chunks
        self.links = list(links)
        self._outward: dict[str, list[MappedLink]] = {}
        self._inward: dict[str, list[MappedLink]] = {}
        for link in self.links:
            self._outward.setdefault(link.from_path, []).append(link)
            self._inward.setdefault(link.to_path, []).append(link)

    def sections(self, path: str) -> list[Place]:
        """Return the sections of a document, in order."""
        return self._sections.get(self._documents.get(path, -1), [])

    def chunks(self, path: str, section: Place) -> int:
        """Return how many chunks stand in a section itself, not counting those of its sub-sections."""
        return self._chunks.get((self._documents.get(path, -1), section.ordinal), 0)

    def outward(self, path: str) -> list[MappedLink]:
        """Return the references that stand in a document."""
        return self._outward.get(path, [])

    def inward(self, path: str) -> list[MappedLink]:
        """Return the references that lead to a document, its own among them."""
        return self._inward.get(path, [])

    def between_documents(self) -> Counter[tuple[str, str]]:
        """Return how many references lead from one document to another."""
        return Counter(
            (link.from_path, link.to_path) for link in self.links if link.from_path != link.to_path
        )

    def between_sections(self, path: str) -> Counter[tuple[str, str, str]]:
        """Return how many references of a document lead from a section of it to a place, its own places among them."""
        return Counter((link.from_section, link.to_path, link.to_section) for link in self.outward(path))


class LinkMaps:
    """Keeps the map of the present state of the library."""

    def __init__(self, index: EmbeddedIndex, corpora: CorpusCache) -> None:
        self._index = index
        self._corpora = corpora
        self._guard = threading.Lock()
        self._map: LinkMap | None = None
        self._good_until = 0.0

    def get(self) -> LinkMap:
        """Return the map as it is now; while much is being indexed, as it was a little before."""
        found = self._fresh()
        if found is None:
            with self._guard:
                found = self._fresh()
                if found is None:
                    began = time.monotonic()
                    found = self._map = read_map(self._index, self._corpora.get())
                    ended = time.monotonic()
                    self._good_until = ended + (_KEPT * (ended - began) if ended - began > _SLOW else 0.0)
        return found

    def _fresh(self) -> LinkMap | None:
        found = self._map
        if found is None:
            return None
        current = found.generation == self._index.record.generation()
        return found if current or time.monotonic() < self._good_until else None


def read_map(index: EmbeddedIndex, corpus: Corpus) -> LinkMap:
    """Resolve every reference of the library."""
    lookup = index.reading
    paths = {entry.id: entry.source_path for entry in corpus.entries}
    sections = lookup.headings()
    starts = {document: [row.start for row in rows] for document, rows in sections.items()}
    found = [item for item in lookup.references() if item[0] in paths]
    citations = WholeLibrary(index, corpus, sections)
    citations.preload(reference for _, reference in found)
    links = []
    for document, reference in found:
        resolved = citations.meaning(document, paths[document], reference)
        if not resolved.target_path:
            continue
        at = bisect_right(starts.get(document, []), reference.start) - 1
        holder = sections[document][at] if at >= 0 else None
        links.append(
            MappedLink(
                paths[document],
                holder.section_id if holder else "",
                holder.name if holder else "",
                resolved.target_path,
                resolved.target_section,
                reference.text,
                reference.kind,
                reference.start,
            )
        )
    return LinkMap(corpus.generation, paths, sections, lookup.chunk_counts(), links)


class WholeLibrary(Citations):
    """Resolves many references: what is written alike in one document is resolved once."""

    def __init__(
        self, index: EmbeddedIndex, corpus: Corpus, sections: dict[int, list[Place]] | None = None
    ) -> None:
        super().__init__(index.lookup, corpus)
        self._known: dict[tuple[object, ...], Reference] = {}
        self._sections_read = sections
        self._headings: dict[int, dict[str, str]] = {}

    def meaning(self, document: int, source_path: str, reference: Reference) -> Reference:
        """Return a reference of the same meaning with the place it leads to; its words may stand elsewhere."""
        if reference.target_chunk:
            return reference
        key = (
            document,
            reference.kind,
            reference.document,
            reference.number_kind,
            reference.number_key,
            reference.target_section,
        )
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self.resolve(document, source_path, reference)
        return known

    def _heading(self, document: int, anchor: str) -> str:
        if self._sections_read is None:
            return super()._heading(document, anchor)
        if document not in self._headings:
            names: dict[str, str] = {}
            for row in self._sections_read.get(document, []):
                for name in (row.heading, row.title):
                    names.setdefault(title_key(name), row.section_id)
            self._headings[document] = names
        return self._headings[document].get(title_key(anchor.replace("-", " ")), "")
