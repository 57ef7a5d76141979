"""What a reranker must offer to be used by Pinakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pinakes.errors import PinakesError


class RerankError(PinakesError):
    """A reranker gave no usable answer: it is down, too slow, or answers nonsense. The search goes on without it."""


@runtime_checkable
class Reranker(Protocol):
    """Judges how well each text answers a query. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Identity of the model, as it is shown."""
        ...

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one finite score for each text, higher is better, on any scale.

        The texts come in their present order, the best first, so that a reranker with little time can begin
        there. It then returns `PartialScores`. Raise `RerankError` when there is no usable answer.
        """
        ...


@runtime_checkable
class Preparable(Protocol):
    """A reranker that takes a while before its first answer: the first search may go on without it, later ones not."""

    def prepare(self) -> None:
        """Load what is needed; do nothing the second time."""
        ...


class PartialScores(list[float]):
    """Scores of which only those at ``known`` were computed; the others are below them, in their present order."""

    def __init__(self, scores: Sequence[float | None]) -> None:
        self.known = frozenset(index for index, score in enumerate(scores) if score is not None)
        below = min((score for score in scores if score is not None), default=0.0)
        filled = []
        for score in scores:
            if score is None:
                below -= 1.0
            filled.append(below if score is None else score)
        super().__init__(filled)
