"""Refine: what fusion found becomes a list worth reading. One module a stage, strung together in ``pipeline``.

threshold > duplicates (exact, near, in meaning), or MMR > limit per document; after reranking, parents
"""

from pinakes.search.select.refine.parents import Expanded, expand_parents
from pinakes.search.select.refine.pipeline import Refined, refine
from pinakes.search.select.refine.reader import IndexReader, Reader

__all__ = ["Expanded", "IndexReader", "Reader", "Refined", "expand_parents", "refine"]
