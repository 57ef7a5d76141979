"""Token counts of any stretch of a text, after tokenizing it once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from pinakes.embedding.protocol import Tokenizer

# A model may take a word of a megabyte, or a megabyte of blanks, for one token or none. For dividing text, this
# many characters count as a token at least.
LONGEST_TOKEN = 64


class TokenIndex:
    """The tokens of one text; counts and cuts between two offsets are look-ups."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._starts = _starts(tokenizer.offsets(text), len(text))
        self._length = len(text)

    def __len__(self) -> int:
        return len(self._starts)

    def of(self, text: str) -> TokenIndex:
        """Return the tokens of another text."""
        return TokenIndex(text, self._tokenizer)

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


def _starts(spans: Sequence[tuple[int, int]], length: int) -> list[int]:
    starts = [start for start, _ in spans]
    edges = np.array([0, *starts, length])
    long_gaps = np.flatnonzero(np.diff(edges) > LONGEST_TOKEN).tolist()
    if not long_gaps:
        return starts
    for gap in long_gaps:
        low, high = int(edges[gap]), int(edges[gap + 1])
        starts.extend(range(low + LONGEST_TOKEN if gap else low, high, LONGEST_TOKEN))
    return sorted(starts)
