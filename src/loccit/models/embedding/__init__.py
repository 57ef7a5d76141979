"""Embedding models: the protocol, the bundled models, and other local and remote ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loccit.models.embedding.protocol import Embedder, Tokenizer, Vectors

if TYPE_CHECKING:
    from loccit.models.embedding.registry import load_embedder, load_tokenizer

__all__ = ["Embedder", "Tokenizer", "Vectors", "load_embedder", "load_tokenizer"]


def __getattr__(name: str) -> Any:
    """Import what loads models when it is first used: most commands only know their vectors."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from loccit.models.embedding import registry

    return getattr(registry, name)
