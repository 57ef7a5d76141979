"""Texts read as the pipeline reads them, and what focus asks about them, without an index around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loccit.config import IndexSettings
from loccit.index.port.records import StoredChunk
from loccit.ingest.prepare import prepare_text
from loccit.model import Chunk, Converted, PageStart
from loccit.models.embedding.protocol import Vectors


@dataclass
class Reading:
    """Documents in memory: their chunks by id, their texts and pages, and the scores of passages, if any."""

    texts: dict[int, str] = field(default_factory=dict)
    pages: dict[int, tuple[PageStart, ...]] = field(default_factory=dict)
    chunks: dict[int, StoredChunk] = field(default_factory=dict)
    scores: dict[int, list[tuple[int, int, float]]] = field(default_factory=dict)

    def add(
        self,
        text: str,
        *,
        name: str = "document.md",
        pages: Sequence[tuple[int, int]] = (),
        max_tokens: int = 800,
        overlap: int = 50,
    ) -> list[StoredChunk]:
        """Read a document and return its chunks."""
        document = len(self.texts) + 1
        starts = tuple(PageStart(*page) for page in pages)
        converted = Converted(text, pages=starts, markdown=name.endswith(".md"))
        settings = IndexSettings(max_chunk_tokens=max_tokens, chunk_overlap=overlap)
        read = prepare_text(f"/{document}/{name}", "markdown", converted, settings, 256)
        self.texts[document], self.pages[document] = read.document.text, starts
        first = len(self.chunks) + 1
        language = read.document.language
        stored = [_stored(first + at, document, language, chunk) for at, chunk in enumerate(read.chunks)]
        self.chunks |= {chunk.id: chunk for chunk in stored}
        return stored

    def document_text(self, document: int, start: int, end: int) -> str:
        return self.texts[document][start:end]

    def page_starts(self, document: int) -> Sequence[tuple[int, int]]:
        return self.pages[document]

    def line_starts(self, document: int) -> Sequence[tuple[int, int]]:
        return ()

    def passage_scores(
        self, ids: Sequence[int], query: Vectors
    ) -> Mapping[int, Sequence[tuple[int, int, float]]]:
        return {chunk: self.scores[chunk] for chunk in ids if chunk in self.scores}


def _stored(number: int, document: int, language: str, chunk: Chunk) -> StoredChunk:
    return StoredChunk(
        id=number,
        document=document,
        chunk_index=chunk.chunk_index,
        section=chunk.section,
        content=chunk.content,
        prefix=chunk.prefix,
        start=chunk.start,
        end=chunk.end,
        lines=chunk.lines,
        pages=chunk.pages,
        tokens=chunk.tokens,
        chunk_type=chunk.chunk_type,
        context=chunk.context,
        source_path=chunk.source_path,
        document_title="",
        language=language,
        parent_chain=chunk.parent_chain,
        section_id=chunk.section_id,
        section_label=chunk.section_label,
        heading=chunk.heading,
        heading_level=chunk.heading_level,
    )
