"""The index as search sees it: one object for every question, wherever the answers come from."""

from __future__ import annotations

from typing import Protocol

from loccit.index.port.columns import ChunkColumns
from loccit.index.port.edges import EdgeLookup, LinkLookup
from loccit.index.port.filters import DocumentFilter
from loccit.index.port.matching import DenseSearch, NativeSearch, TextSearch, Vocabulary
from loccit.index.port.names import NameLookup, TermLookup
from loccit.index.port.obligations import ObligationLookup
from loccit.index.port.records import Readings, Records
from loccit.index.port.texts import TextLookup


class SearchIndex(Protocol):
    """What search asks of an index."""

    @property
    def stamp(self) -> int:
        """A number that grows with every change to the answers."""
        ...

    @property
    def pending(self) -> int:
        """The number of passages that cannot be found by meaning yet."""
        ...

    @property
    def trouble(self) -> str:
        """What an answer should say about its source; "" if nothing is wrong."""
        ...

    @property
    def missing(self) -> str:
        """What the library has lost or taken out, so that nothing can be said not to be there; "" if nothing."""
        ...

    @property
    def keyword(self) -> TextSearch:
        """Search by words, phrases and identifiers in code."""
        ...

    @property
    def vectors(self) -> DenseSearch:
        """Search by meaning."""
        ...

    @property
    def native_keyword(self) -> NativeSearch | None:
        """A database's keyword search, if it replaces ours."""
        ...

    @property
    def native_hybrid(self) -> NativeSearch | None:
        """A database's fusion, if it replaces ours."""
        ...

    @property
    def concepts(self) -> Vocabulary:
        """Terms by their vectors; empty unless it was requested."""
        ...

    @property
    def columns(self) -> ChunkColumns:
        """What ranking needs to know about chunks."""
        ...

    @property
    def lookup(self) -> Records:
        """Chunks, places and references."""
        ...

    @property
    def reading(self) -> Readings:
        """Documents whole."""
        ...

    @property
    def graph(self) -> EdgeLookup:
        """Edges between chunks."""
        ...

    @property
    def links(self) -> LinkLookup:
        """Links and references by what they name."""
        ...

    @property
    def names(self) -> NameLookup:
        """Documents by name."""
        ...

    @property
    def fields(self) -> DocumentFilter:
        """Documents by the fields that filters use."""
        ...

    @property
    def terms(self) -> TermLookup:
        """Definitions by term."""
        ...

    @property
    def obligations(self) -> ObligationLookup:
        """Duties, deadlines and amounts."""
        ...

    @property
    def texts(self) -> TextLookup:
        """The concatenated texts of all documents."""
        ...
