"""The index as search sees it: one object that answers every question, wherever its answers come from."""

from __future__ import annotations

from typing import Protocol

from pinakes.port.columns import ChunkColumns
from pinakes.port.edges import EdgeLookup, LinkLookup
from pinakes.port.filters import DocumentFilter
from pinakes.port.matching import DenseSearch, NativeSearch, TextSearch, Vocabulary
from pinakes.port.names import NameLookup, TermLookup
from pinakes.port.obligations import ObligationLookup
from pinakes.port.records import Readings, Records
from pinakes.port.texts import TextLookup


class SearchIndex(Protocol):
    """What search asks of an index."""

    @property
    def stamp(self) -> int:
        """A number that grows with every change of what would be answered."""
        ...

    @property
    def pending(self) -> int:
        """How many passages cannot be found by meaning yet."""
        ...

    @property
    def trouble(self) -> str:
        """What an answer has to say about where it comes from; an empty string when all is well."""
        ...

    @property
    def keyword(self) -> TextSearch:
        """Search by words, phrases and names of code."""
        ...

    @property
    def vectors(self) -> DenseSearch:
        """Search by meaning."""
        ...

    @property
    def native_keyword(self) -> NativeSearch | None:
        """Keyword search of a database, where it takes the place of ours."""
        ...

    @property
    def native_hybrid(self) -> NativeSearch | None:
        """The fusion of a database, where it takes the place of ours."""
        ...

    @property
    def concepts(self) -> Vocabulary:
        """Terms by their vectors; empty unless it was asked for."""
        ...

    @property
    def columns(self) -> ChunkColumns:
        """What ranking has to know about chunks."""
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
        """What leads from chunk to chunk."""
        ...

    @property
    def links(self) -> LinkLookup:
        """Links and references by what they name."""
        ...

    @property
    def names(self) -> NameLookup:
        """Documents by what they are called."""
        ...

    @property
    def fields(self) -> DocumentFilter:
        """Documents by what filters ask for."""
        ...

    @property
    def terms(self) -> TermLookup:
        """Definitions by the terms that they define."""
        ...

    @property
    def obligations(self) -> ObligationLookup:
        """Duties, deadlines and amounts."""
        ...

    @property
    def texts(self) -> TextLookup:
        """The texts of all documents in one piece."""
        ...
