"""Reranking: a second, closer look at the best candidates. Off unless a model is configured."""

from loccit.models.rerank.apply import Reranked, apply_reranker
from loccit.models.rerank.registry import PartialScores, Reranker, RerankError, load_reranker

__all__ = ["PartialScores", "RerankError", "Reranked", "Reranker", "apply_reranker", "load_reranker"]
