"""Text search of the double: BM25 as Lucene reckons it, over words that are cut at spaces."""

from __future__ import annotations

import math
from collections import Counter

from tests.index.providers.mongo_double_table import Document

_K1, _B = 1.2, 0.75


def bm25(
    documents: list[Document], path: str, definition: Document, query: str
) -> list[tuple[Document, float]]:
    """Return the documents that hold any of the words, best first."""
    if path not in definition["mappings"].get("fields", {}):
        return []
    held = [
        (document, document[path].split()) for document in documents if isinstance(document.get(path), str)
    ]
    if not held:
        return []
    average = sum(len(words) for _, words in held) / len(held)
    wanted = set(query.split())
    frequent = Counter(word for _, words in held for word in wanted & set(words))
    scored = []
    for document, words in held:
        score = 0.0
        for word, times in Counter(words).items():
            if word in wanted:
                rarity = math.log(1 + (len(held) - frequent[word] + 0.5) / (frequent[word] + 0.5))
                score += rarity * times / (times + _K1 * (1 - _B + _B * len(words) / average))
        if score:
            scored.append((document, score))
    return sorted(scored, key=lambda row: -row[1])
