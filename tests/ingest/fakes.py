"""Stand-ins that make a run quick: a model that counts words, and a worker pool without processes.

Also what a library holds, as plain values that two libraries can be compared by.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from loccit import Library
from loccit.errors import LoccitError
from loccit.index.folder.index import EmbeddedIndex
from loccit.ingest import pipeline
from loccit.ingest.prepare import prepare
from loccit.model import ParsedDocument
from loccit.workers.sandbox import Outcome, decoder_of

MODES = ("hybrid", "semantic", "keyword", "exact")


class WordEmbedder:
    """Counts words into 32 boxes. ``texts`` is everything it was given; ``before`` is called ahead of each batch."""

    max_tokens = 256
    languages = None

    def __init__(
        self, name: str = "words", dimension: int = 32, before: Callable[[], None] | None = None
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.texts: list[str] = []
        self._before = before

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._before:
            self._before()
        self.texts += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = np.full(self.dimension, 0.01, dtype=np.float32)
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % self.dimension] += 1
        unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


def _sent(parsed: ParsedDocument) -> ParsedDocument:
    """What the parent gets of what a worker read."""
    sent: ParsedDocument = decoder_of(ParsedDocument).decode(msgspec.json.encode(parsed))
    return sent


class InlineSandbox:
    """Does what ``Sandbox`` does, in this process."""

    def __init__(self, function: str, *, initializer_payload: dict[str, Any], **options: Any) -> None:
        self._setup = initializer_payload

    def __enter__(self) -> InlineSandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def run(self, payloads: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Outcome]]:
        return ((payload, self._outcome(payload)) for payload in payloads)

    def _outcome(self, payload: dict[str, Any]) -> Outcome:
        try:
            return Outcome(_sent(prepare(payload, self._setup)), None, "ok")
        except LoccitError as error:
            return Outcome(None, str(error), "failed")


def read_here() -> None:
    """Let this process read files itself from now on; a test in a process that goes on has ``quick`` for it."""
    pipeline.Sandbox = InlineSandbox  # type: ignore[attr-defined, assignment]


def found(library: Library, query: str, mode: str = "keyword") -> list[str]:
    """The paths of what a search finds, with those where the same text stands as well."""
    results = library.search(query, mode=mode, top_k=50).results
    return [
        path
        for result in results
        for path in (result.source_path, *(place.source_path for place in result.also_in))
    ]


def texts_found(library: Library, query: str) -> str:
    """Everything that any mode finds, as one text."""
    return "\n".join(
        result.content for mode in MODES for result in library.search(query, mode=mode, top_k=100).results
    )


def _without_ids(value: Any) -> Any:
    """Ids of places are kept when a file is renamed, so they tell of the past."""
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items() if key != "place_id"}
    return [_without_ids(item) for item in value] if isinstance(value, list) else value


def holdings(library: Library, words: Sequence[str] = ()) -> dict[str, Any]:
    """All that can be found in a library, without the numbers that differ from one index to the next."""
    library.search("anything")
    index = library._index
    names: dict[int, tuple[str, int]] = {}
    chunks = []
    for document in index.record.document_ids():
        for chunk in index.lookup.chunks_of_document(document):
            names[chunk.id] = (chunk.source_path, chunk.chunk_index)
            chunks.append((chunk.source_path, chunk.chunk_index, chunk.content, chunk.parent_chain))
    assert isinstance(index, EmbeddedIndex)
    snapshot = index.vectors.snapshot
    rows = [
        (names[int(chunk)], snapshot.matrix[row].tobytes())
        for row, chunk in enumerate(snapshot.owners())
        if chunk >= 0
    ]
    return {
        "chunks": sorted(chunks),
        "vectors": sorted(rows),
        "hits": {
            word: sorted(
                (result.source_path, result.content)
                for result in library.search(word, mode="keyword", top_k=100).results
            )
            for word in words
        },
        "keyword": index.keyword.chunk_count(),
        "outline": [_without_ids(outline.to_dict()) for outline in library.outline()],
        "stored_vectors": index.database.value("SELECT COUNT(*) FROM vectors"),
    }
