"""Embedding models: the protocol, the bundled one, local and remote others."""

from pinakes.embedding.protocol import Embedder, Tokenizer, Vectors
from pinakes.embedding.registry import load_embedder, load_tokenizer

__all__ = ["Embedder", "Tokenizer", "Vectors", "load_embedder", "load_tokenizer"]
