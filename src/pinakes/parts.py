"""Parts of a library that are made when they are first needed, once, however many threads ask."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from pinakes.errors import PinakesError, UsageError

if TYPE_CHECKING:
    from pinakes.config import SearchSettings
    from pinakes.embedding import Embedder, Tokenizer
    from pinakes.rerank import Reranker
    from pinakes.search.engine import SearchEngine
    from pinakes.search.links.map import LibraryMaps
    from pinakes.stores.embedded.index import EmbeddedIndex


class Models:
    """The models that a library works with: those that were given, or else by their names in the settings."""

    def __init__(self, embedder: Embedder | None, reranker: Reranker | None) -> None:
        self.given_embedder = embedder
        self._embedder = embedder
        self._tokenizer: Tokenizer | None = None
        self._given_reranker = reranker
        self._rerankers: dict[tuple[str, float], Reranker] = {}
        self._guard = threading.RLock()
        # A lock of its own: whoever needs no reranker does not wait for one that takes long to make.
        self._making_reranker = threading.Lock()

    def embedder(self, name: str) -> Embedder:
        """Return the embedding model; an empty name means the bundled one."""
        with self._guard:
            if self._embedder is None:
                from pinakes.embedding import load_embedder

                self._embedder = load_embedder(name or None)
            return self._embedder

    def tokenizer(self, name: str) -> Tokenizer:
        """Return the tokenizer of the embedding model."""
        with self._guard:
            if self._tokenizer is None:
                from pinakes.embedding import load_tokenizer

                self._tokenizer = load_tokenizer(name or None)
            return self._tokenizer

    def reranker(self, settings: SearchSettings) -> tuple[Reranker | None, str]:
        """Return the reranker that the settings ask for, or why there is none: that costs a note, not the search."""
        if not settings.rerank_enabled or not settings.uses("rerank"):
            return None, ""
        if self._given_reranker is not None:
            return self._given_reranker, ""
        if not settings.rerank_model:
            raise UsageError(
                "No reranker is configured: set rerank_model, or name one with --reranker (see docs/reranking.md)."
            )
        from pinakes.rerank import load_reranker

        key = (settings.rerank_model, settings.rerank_timeout)
        with self._making_reranker:
            try:
                if key not in self._rerankers:
                    self._rerankers[key] = load_reranker(
                        settings.rerank_model, timeout=settings.rerank_timeout
                    )
                return self._rerankers[key], ""
            except UsageError:
                raise
            except PinakesError as error:
                return None, f"Results are not reranked: {error}"


class Views:
    """What is derived from one index while it is open; each part follows the index's generations itself."""

    def __init__(
        self, index: EmbeddedIndex, embedder: Callable[[], Embedder], tokenizer: Callable[[], Tokenizer]
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._guard = threading.RLock()

    def maps(self) -> LibraryMaps:
        """Return which documents refer to which."""
        with self._guard:
            return self._maps

    def engine(self) -> SearchEngine:
        """Return what searches."""
        with self._guard:
            return self._engine

    # The lock is the callers': before Python 3.12 these had one of their own for all objects together.

    @cached_property
    def _maps(self) -> LibraryMaps:
        from pinakes.search.links.map import LibraryMaps

        return LibraryMaps(self._index)

    @cached_property
    def _engine(self) -> SearchEngine:
        from pinakes.search.engine import SearchEngine

        return SearchEngine(self._index, self._embedder, self._tokenizer)
