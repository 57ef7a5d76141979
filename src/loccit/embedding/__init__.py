"""Embedding models: the protocol, the bundled models, and other local and remote ones."""

from loccit.embedding.protocol import Embedder, Tokenizer, Vectors
from loccit.embedding.registry import load_embedder, load_tokenizer

__all__ = ["Embedder", "Tokenizer", "Vectors", "load_embedder", "load_tokenizer"]
