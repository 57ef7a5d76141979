"""Quota: how many results one document may have."""

from __future__ import annotations

from collections import Counter


class DocumentQuota:
    """Counts the results of each document; a limit of 0 lets everything pass."""

    name = "doc_limit"

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: Counter[int] = Counter()

    def admit(self, document: int, *, named: bool) -> bool:
        """Whether a result of this document has a place left; what the query names always has, and takes it."""
        if self._limit and not named and self._taken[document] >= self._limit:
            return False
        self._taken[document] += 1
        return True
