"""An embedder that can be watched and held up."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from loccit.models.embedding import load_embedder
from loccit.models.embedding.protocol import Vectors


class WatchedEmbedder:
    """The bundled model, with a gate before questions and a count of the texts it embeds."""

    def __init__(self, name: str = "") -> None:
        self._inner = load_embedder()
        self.name = name or self._inner.name
        self.dimension = self._inner.dimension
        self.max_tokens = self._inner.max_tokens
        self.languages = self._inner.languages
        self.embedded = 0
        self.used = threading.Event()
        self.asked = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        self.used.set()
        return self._inner.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        self.asked.set()
        assert self.gate.wait(30), "nobody opened the gate: the event loop was blocked"
        return self._inner.embed_query(text)
