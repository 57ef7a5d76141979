"""Edges: connections between chunks and between documents, by references and by links."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from loccit.index.port.names import Entry
from loccit.model import Reference

# A place that is mentioned more often than this is a commonplace, and its mentions say nothing.
MENTIONS = 50


class Holder(NamedTuple):
    """A chunk and its position."""

    id: int
    document: int
    section: int
    start: int
    end: int


class SectionOf(NamedTuple):
    """The section of a chunk, and what others may call it and the clauses in the chunk."""

    start: int
    end: int
    number_key: str
    ids: tuple[str, ...]


class Mention(NamedTuple):
    """A reference from a chunk to a span of the same document."""

    chunk: int
    kind: str
    start: int
    end: int
    mentions: int


class Backward(NamedTuple):
    """A place that refers to a chunk."""

    chunk: int
    kind: str
    document: int
    offset: int
    mentions: int


class Outward(NamedTuple):
    """A reference that its own document cannot resolve: the number it names, and the document if stated."""

    kind: str
    number_kind: str
    number_key: str
    name: str


class EdgeLookup(Protocol):
    """Edges between chunks, queried for several chunks at a time."""

    def holders(self, chunks: Collection[int]) -> dict[int, Holder]:
        """Return the positions of chunks, without deleted ones."""
        ...

    def sections(self, holders: Collection[Holder]) -> dict[int, SectionOf]:
        """Return the sections of some chunks, by chunk."""
        ...

    def first_texts(self, spans: Collection[tuple[int, int, int]]) -> dict[tuple[int, int, int], Holder]:
        """Return the first chunk in each span of a document that is more than a heading, by span."""
        ...

    def mentions_inside(self, holders: Collection[Holder]) -> list[Mention]:
        """Return what chunks refer to in their own documents, without references to their own section."""
        ...

    def mentions_of(self, holders: Collection[Holder], sections: dict[int, SectionOf]) -> list[Backward]:
        """Return the places in the same documents that refer to chunks, from outside their sections."""
        ...

    def references_out(self, holders: Collection[Holder]) -> list[tuple[int, int, int, Outward]]:
        """Return the references of chunks that may lead to another document.

        Each comes as chunk, its document, how often the number is mentioned anywhere, and reference.
        """
        ...

    def references_in(
        self, holders: Collection[Holder], sections: dict[int, SectionOf]
    ) -> list[tuple[Backward, Outward]]:
        """Return references in other documents to the numbers of some sections, or to numbers below them.

        They may mean a third document that has the same number.
        """
        ...

    def spans(self, places: Collection[tuple[int, int, str]]) -> dict[tuple[int, int, str], tuple[int, int]]:
        """Return the spans of section ids, given with document and chunk; of a clause, that of the chunk."""
        ...

    def fan_out(self, holders: Collection[Holder]) -> dict[int, int]:
        """Return the number of places that each chunk refers or links to."""
        ...

    def headings(self, names: Collection[tuple[int, str]]) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the spans of the first sections with some titles, by document and title key."""
        ...

    def marked(self, ids: Collection[tuple[int, str]]) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the spans of the sections with some ids, `{#id}` or `id="id"`, by document and id."""
        ...


# -- links: what may lead from one document to another, by the keys that both sides have ---------------------
#
# ``labels.document_keys`` makes the keys, both when a document is written and when references to it are
# queried. Of links, at most ``names.MOST`` are returned for each key.


class LinkRow(NamedTuple):
    """A link as written."""

    document: int
    kind: str
    target: str
    start: int


class LinkLookup(Protocol):
    """Possible connections to other documents."""

    def references(self, bounds: Collection[tuple[str, str, str]]) -> list[tuple[Entry, Reference]]:
        """Return all references that may lead to a document, also its own that name it, in document and text order.

        They are queried by key and the range of numbers that come with it.
        """
        ...

    def links(self, keys: Collection[str]) -> list[LinkRow]:
        """Return the links with these keys, in document and text order."""
        ...

    def count(self, keys: Mapping[int, Collection[str]]) -> dict[int, int]:
        """Return how many links of others may lead to some documents, given with their keys."""
        ...

    def related(self, keys: Collection[str], documents: Collection[int]) -> list[tuple[int, str]]:
        """Return what is named as related with one of these keys, or by these documents.

        Each comes as the document that says so and the name it uses.
        """
        ...

    def links_inside(self, holders: Collection[Holder]) -> list[tuple[int, LinkRow]]:
        """Return the links in some chunks, each with its chunk."""
        ...
