"""Chunks made by hand, and a reader that keeps them in memory and counts what is asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from loccit.index.port.records import StoredChunk
from loccit.model import Lines
from loccit.models.embedding.protocol import Vectors
from loccit.search.candidates import Candidate
from loccit.search.select.wording import Wording


def make_chunk(
    number: int,
    content: str,
    *,
    document: int = 1,
    prefix: int = 0,
    label: str = "",
    kind: str = "content",
    language: str = "en",
) -> StoredChunk:
    return StoredChunk(
        id=number,
        document=document,
        chunk_index=number,
        section=1,
        content=content,
        prefix=prefix,
        start=0,
        end=len(content) - prefix,
        lines=Lines(1, 1),
        pages=None,
        tokens=len(content.split()),
        chunk_type=kind,
        context="",
        source_path=f"document-{document}.md",
        document_title=f"Document {document}",
        language=language,
        parent_chain=(),
        section_id="",
        section_label=label,
        heading="",
        heading_level=1,
    )


def wording(
    content: str, number: int = 1, *, prefix: int = 0, label: str = "", language: str = "en"
) -> Wording:
    return Wording(make_chunk(number, content, prefix=prefix, label=label, language=language))


class MemoryReader:
    """The chunks of a test."""

    def __init__(self, chunks: Sequence[StoredChunk], vectors: Mapping[int, Sequence[float]] | None = None):
        self._chunks = {chunk.id: chunk for chunk in chunks}
        self._vectors = {number: unit(values) for number, values in (vectors or {}).items()}
        self.read: list[int] = []
        self.vectors_read: list[int] = []

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        self.read += ids
        return {number: self._chunks[number] for number in ids if number in self._chunks}

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        self.vectors_read += ids
        return {number: self._vectors[number] for number in ids if number in self._vectors}


def unit(values: Sequence[float]) -> Vectors:
    vector = np.asarray(values, dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def ranked(*chunks: int, pinned: Collection[int] = (), step: float = 0.01) -> list[Candidate]:
    """Candidates in this order, with scores that fall from 0.9."""
    return [
        Candidate(chunk, score=0.9 - step * rank, pin=0.8 if chunk in pinned else 0.0)
        for rank, chunk in enumerate(chunks)
    ]
