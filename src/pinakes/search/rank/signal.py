"""A signal: something besides the lists that speaks for a candidate, and adds a column to the table.

To add one, write a module with a ``Signal`` and put it into the list in ``ranker.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pinakes.config import SearchSettings
from pinakes.port.index import SearchIndex
from pinakes.search.candidates import Candidates, Scores
from pinakes.search.query.scope import Scope


@dataclass(slots=True)
class Ranked:
    """The table of candidates, and the edges along which the graph came upon some of them."""

    table: Candidates
    via: Mapping[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a signal may go by besides the candidates."""

    settings: SearchSettings
    weights: Mapping[str, float]
    scope: Scope


class Signal(ABC):
    """Judges the candidates of one index. It is kept between searches, and may remember what it reads."""

    stage: ClassVar[str]
    """The name by which it is switched off."""
    column: ClassVar[str]
    """The column that it adds."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def weights(self, settings: SearchSettings) -> Mapping[str, float]:
        """Return what counts in it, by the names that a class of queries may multiply."""
        return {}

    @abstractmethod
    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Return a score for each candidate, between 0 and 1; the table may gain candidates on the way."""
