"""A signal: evidence besides the lists, which adds a column to the table of candidates.

To add one, write a module with a ``Signal`` and add it to the list in ``ranker.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from loccit.config import SearchSettings
from loccit.index.port.index import SearchIndex
from loccit.search.candidates import Candidates, Scores
from loccit.search.understand.scope import Scope


@dataclass(slots=True)
class Ranked:
    """The table of candidates, and the edges by which the graph found some of them."""

    table: Candidates
    via: Mapping[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a signal may use besides the candidates."""

    settings: SearchSettings
    weights: Mapping[str, float]
    scope: Scope


class Signal(ABC):
    """Scores the candidates of one index. It is kept between searches, and may cache what it reads."""

    stage: ClassVar[str]
    """The name by which it is switched off."""
    column: ClassVar[str]
    """The column that it adds."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def weights(self, settings: SearchSettings) -> Mapping[str, float]:
        """Return its weights by name."""
        return {}

    @abstractmethod
    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Return a score between 0 and 1 for each candidate; the table may gain candidates."""
