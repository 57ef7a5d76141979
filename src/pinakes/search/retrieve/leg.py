"""A leg: one way of searching, and a retrieval under way, which is all that a leg is asked with.

To add one, write a module with a ``Leg`` and put it into the list in ``legs.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from pinakes.config import SearchSettings
from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError
from pinakes.model import Place
from pinakes.port.index import SearchIndex
from pinakes.search.candidates import HYBRID, RankedList
from pinakes.search.query.expansion import Expansion
from pinakes.search.query.scope import Scope
from pinakes.search.query.spelling import Correction
from pinakes.search.query.understand import Query
from pinakes.search.retrieve.bearing import Line
from pinakes.search.select.calibrate import Grounds
from pinakes.text.analysis import QueryTerm

TermIdfs: TypeAlias = list[tuple[QueryTerm, float]]


@dataclass(slots=True)
class ExactHits:
    """Chunks that the query names. ``meant`` says which place of a chunk that is.

    ``pins`` are those that go first, with how surely they are meant, and ``grounds`` what speaks for places among
    them; ``total`` counts the chunks that hold a phrase; ``missing`` are places that the query names and no document
    has, ``lines`` those that only a line bears witness to, and ``notes`` what there is to say about either.
    ``verbatim`` are chunks that hold the words of the query as they stand, though they were not quoted.
    """

    hits: list[tuple[int, float]] = field(default_factory=list)
    pins: dict[int, tuple[float, str]] = field(default_factory=dict)
    grounds: dict[int, Grounds] = field(default_factory=dict)
    total: int | None = None
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    meant: dict[int, Place] = field(default_factory=dict)
    lines: dict[int, Line] = field(default_factory=dict)
    verbatim: set[int] = field(default_factory=set)
    _known: set[int] = field(default_factory=set)

    def add(self, chunk: int, score: float, pin: float = 0.0, reason: str = "") -> None:
        """Take a chunk in unless it is there already; the surest reason counts."""
        if pin > self.pins.get(chunk, (0.0, ""))[0]:
            self.pins[chunk] = (pin, reason)
        if chunk not in self._known:
            self._known.add(chunk)
            self.hits.append((chunk, score))


@dataclass(slots=True)
class Retrieved:
    """What is searched for where, and what the legs found.

    ``text`` is the query with slips mended, ``idf`` its terms with what each is worth, and ``vector`` what it means,
    once a leg needs that. ``exact`` and ``expanded`` are what two of the legs have to say besides their lists, and
    ``trouble`` why others could not be asked.
    """

    query: Query
    scope: Scope
    settings: SearchSettings
    weights: Mapping[str, float]
    is_word: Callable[[str], bool]
    text: str = ""
    corrections: tuple[Correction, ...] = ()
    idf: TermIdfs = field(default_factory=list)
    vector: Vectors | None = None
    legs: list[RankedList] = field(default_factory=list)
    exact: ExactHits = field(default_factory=ExactHits)
    expanded: list[Expansion] = field(default_factory=list)
    trouble: str = ""

    def do_without(self, error: StoreError) -> None:
        """Go on without a database that cannot be asked, and say so; where nothing else would answer, give up."""
        if self.settings.search_mode != HYBRID:
            raise error
        self.trouble = (
            "This answer is from the words and references of the copy on this machine, without search by meaning: "
            f"{error}"
        )


class Leg(ABC):
    """One way of searching an index."""

    name: ClassVar[str]
    by_meaning: ClassVar[bool] = False
    """Whether it needs the vector of the query."""
    replaces: ClassVar[frozenset[str]] = frozenset()
    """The legs that are not asked where this one is."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    @abstractmethod
    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return what it counts in hybrid search, None for no leg of it; ``before`` are the weights of those before."""

    def active(self, asked: Retrieved) -> bool:
        """Whether to ask it."""
        return asked.weights.get(self.name, 0.0) > 0

    @abstractmethod
    def search(self, asked: Retrieved) -> RankedList | None:
        """Return what it finds, best first; None where there was nothing to ask for."""
