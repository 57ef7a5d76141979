"""Reranking: a second, closer look at the best candidates. Off unless a model is configured."""

from pinakes.rerank.apply import Reranked, apply_reranker
from pinakes.rerank.protocol import PartialScores, Reranker, RerankError
from pinakes.rerank.registry import load_reranker

__all__ = ["PartialScores", "RerankError", "Reranked", "Reranker", "apply_reranker", "load_reranker"]
