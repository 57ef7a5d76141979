"""A leg: one retriever of a search, and the retrieval in progress that it is called with.

To add one, write a module with a ``Leg`` and add it to the list in ``legs.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from loccit.config import SearchSettings
from loccit.errors import StoreError
from loccit.grammar.text.analysis import QueryTerm
from loccit.index.port.index import SearchIndex
from loccit.model import Place
from loccit.models.embedding.protocol import Vectors
from loccit.search.candidates import HYBRID, RankedList
from loccit.search.place_evidence import PlaceEvidence
from loccit.search.resolve.numbered_lines import Line
from loccit.search.understand.expansion import Expansion
from loccit.search.understand.query import Query
from loccit.search.understand.scope import Scope
from loccit.search.understand.spelling import Correction

TermIdfs: TypeAlias = list[tuple[QueryTerm, float]]


@dataclass(slots=True)
class ExactHits:
    """Chunks that the query names. ``meant`` maps a chunk to the place that was named.

    ``pins`` are the chunks that go first, with their confidence, and ``grounds`` the evidence for places among them;
    ``total`` counts the chunks with a phrase; ``missing`` are named places that no document has, ``lines`` those found
    only as a line of text, and ``notes`` what to tell the user about both. ``verbatim`` are chunks that contain the
    words of the query literally, although they were not quoted.
    """

    hits: list[tuple[int, float]] = field(default_factory=list)
    pins: dict[int, tuple[float, str]] = field(default_factory=dict)
    grounds: dict[int, PlaceEvidence] = field(default_factory=dict)
    total: int | None = None
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    meant: dict[int, Place] = field(default_factory=dict)
    lines: dict[int, Line] = field(default_factory=dict)
    verbatim: set[int] = field(default_factory=set)
    _known: set[int] = field(default_factory=set)

    def add(self, chunk: int, score: float, pin: float = 0.0, reason: str = "") -> None:
        """Add a chunk unless it is present; the highest confidence wins."""
        if pin > self.pins.get(chunk, (0.0, ""))[0]:
            self.pins[chunk] = (pin, reason)
        if chunk not in self._known:
            self._known.add(chunk)
            self.hits.append((chunk, score))


@dataclass(slots=True)
class Retrieved:
    """What is searched for where, and what the legs found.

    ``text`` is the query with misspellings corrected, ``idf`` the IDF of its terms, and ``vector`` its embedding, once
    a leg needs it. ``exact`` and ``expanded`` are additional output of two legs, and ``trouble`` says why others could
    not run.
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
        """Continue without a database that is unavailable, and note it; raise if nothing else could answer."""
        if self.settings.search_mode != HYBRID:
            raise error
        self.trouble = (
            "Answered from the copy on this machine by keyword and reference only, without search by meaning: "
            f"{error}"
        )


class Leg(ABC):
    """One retriever over an index."""

    name: ClassVar[str]
    by_meaning: ClassVar[bool] = False
    """Whether it needs the vector of the query."""
    replaces: ClassVar[frozenset[str]] = frozenset()
    """Legs that are not run when this one is."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    @abstractmethod
    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return its weight in hybrid search, None if it takes no part; ``before`` has the weights of earlier legs."""

    def active(self, asked: Retrieved) -> bool:
        """Whether to run it."""
        return asked.weights.get(self.name, 0.0) > 0

    @abstractmethod
    def search(self, asked: Retrieved) -> RankedList | None:
        """Return its hits, best first; None if the query gives it nothing to search for."""
