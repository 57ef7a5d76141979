"""Links: what may lead from one document to another, by the keys that both sides have.

``labels.document_keys`` makes the keys when a document is written, and when it is asked what leads to one. No more than
``names.MOST`` are answered for each key, those of the same folder first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from pinakes.model import Reference
from pinakes.port.edges import Holder
from pinakes.port.names import Entry


class LinkRow(NamedTuple):
    """A link as it is written."""

    document: int
    kind: str
    target: str
    start: int


class LinkLookup(Protocol):
    """What may lead to other documents."""

    def references(
        self, bounds: Collection[tuple[str, str, str]], own: Entry
    ) -> list[tuple[Entry, Reference]]:
        """Return references of others that may lead to a document, in the order of documents and texts.

        They are asked for by a key and the first and last of the numbers that come with it.
        """
        ...

    def links(self, keys: Collection[str]) -> list[LinkRow]:
        """Return the links that have some keys, in the order of documents and texts."""
        ...

    def count(self, keys: Mapping[int, Collection[str]]) -> dict[int, int]:
        """Return how many links of others may lead to some documents, given with their keys."""
        ...

    def related(self, keys: Collection[str], documents: Collection[int]) -> list[tuple[int, str]]:
        """Return what is called related and has one of some keys, or stands in some documents.

        Each comes as the document that says so and the name it uses.
        """
        ...

    def links_inside(self, holders: Collection[Holder]) -> list[tuple[int, LinkRow]]:
        """Return the links that stand in some chunks, each with its chunk."""
        ...
