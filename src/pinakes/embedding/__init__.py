"""Embedding models: the protocol, the bundled models, and other local and remote ones."""

from pinakes.embedding.protocol import Embedder, Tokenizer, Vectors
from pinakes.embedding.registry import load_embedder, load_tokenizer

__all__ = ["Embedder", "Tokenizer", "Vectors", "load_embedder", "load_tokenizer"]
