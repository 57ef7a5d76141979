"""Models: what embeds, reranks and writes, here or through a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loccit.models.embedding import load_embedder
    from loccit.models.llm import load_model
    from loccit.models.rerank import load_reranker

__all__ = ["load_embedder", "load_model", "load_reranker"]

_HOMES = {"load_embedder": "embedding", "load_model": "llm", "load_reranker": "rerank"}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
