"""Places: the positions of results in the text of their documents, and of the sections that answers name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loccit.evaluation.metrics import Span
from loccit.index.folder.index import EmbeddedIndex
from loccit.model import SearchResult, chunk_number


@dataclass(frozen=True, slots=True)
class _Document:
    text: str
    chunks: dict[int, tuple[str, Span]]
    places: dict[str, Span]


class Places:
    """Reads from an index, document by document, on demand."""

    def __init__(self, folder: Path) -> None:
        self._index = EmbeddedIndex(folder, create=False)
        self._ids = {row["source_path"]: int(row["id"]) for row in self._index.lookup.documents()}
        self._read: dict[str, _Document] = {}

    def __contains__(self, source_path: str) -> bool:
        return source_path in self._ids

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def text(self, source_path: str) -> str:
        """Return the whole text of a document."""
        return self._document(source_path).text

    def place(self, source_path: str, section_id: str) -> Span | None:
        """Return the span of a place, with everything below it."""
        return self._document(source_path).places.get(section_id)

    def of_result(self, result: SearchResult) -> Span:
        """Return the characters that a result returns.

        That is a chunk's own part of the text, without what it repeats; if a search narrowed or widened what it shows,
        that text is looked up around the chunk.
        """
        document = self._document(result.source_path)
        content, own = document.chunks[chunk_number(result.chunk_id) or 0]
        shown = result.content.strip()
        if not shown or shown == content.strip():
            return own
        low, high = max(0, own[0] - len(shown)), own[1] + len(shown)
        found = [(at, at + len(shown)) for at in _occurrences(document.text, shown, low, high)]
        # The same words may occur nearby twice: the occurrence that overlaps the chunk most is meant.
        return max(found, key=lambda span: min(span[1], own[1]) - max(span[0], own[0]), default=own)

    def _document(self, source_path: str) -> _Document:
        if source_path not in self._read:
            self._read[source_path] = self._load(self._ids[source_path])
        return self._read[source_path]

    def _load(self, document: int) -> _Document:
        lookup = self._index.lookup
        places = lookup.places_of_document(document)
        end = max((place.end for place in places), default=0)
        return _Document(
            text=lookup.document_text(document, 0, end),
            chunks={
                chunk.chunk_index: (chunk.content, (chunk.start, chunk.end))
                for chunk in lookup.chunks_of_document(document)
            },
            places={place.section_id: (place.start, place.end) for place in places},
        )


def _occurrences(text: str, words: str, low: int, high: int) -> Iterator[int]:
    at = text.find(words, low, high)
    while at >= 0:
        yield at
        at = text.find(words, at + 1, high)
