"""Refine: what fusion found becomes a list worth reading. One module a stage, strung together in ``pipeline``.

threshold > exact twins > near twins > twins in meaning, or MMR > limit per document; after reranking, parents
"""

from pinakes.search.refine.parents import Expanded, expand_parents
from pinakes.search.refine.pipeline import Refined, refine
from pinakes.search.refine.reader import IndexReader, Reader

__all__ = ["Expanded", "IndexReader", "Reader", "Refined", "expand_parents", "refine"]
