"""Token counts of any stretch of a text, after tokenizing it once."""

from __future__ import annotations

from bisect import bisect_left

from pinakes.embedding.protocol import Tokenizer


class TokenIndex:
    """The tokens of one text; counts and cuts between two offsets are look-ups."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._starts = [start for start, _ in tokenizer.offsets(text)]
        self._length = len(text)

    def __len__(self) -> int:
        return len(self._starts)

    def count(self, start: int, end: int) -> int:
        """Return how many tokens begin in ``[start, end)``."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def starts(self, start: int, end: int) -> list[int]:
        """Return where the tokens of ``[start, end)`` begin."""
        return self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def after(self, start: int, tokens: int) -> int:
        """Return the offset where ``tokens`` tokens from ``start`` on are over."""
        index = bisect_left(self._starts, start) + tokens
        return self._starts[index] if index < len(self._starts) else self._length

    def before(self, end: int, tokens: int) -> int:
        """Return the offset where the last ``tokens`` tokens before ``end`` begin."""
        index = bisect_left(self._starts, end) - tokens
        return self._starts[index] if index > 0 else 0
