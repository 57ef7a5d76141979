"""Terms: definitions looked up by the words of what they define."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from pinakes.model import Definition

MOST_DEFINITIONS = 1000
"""A term that more documents define than this is looked at in so many of them, and in those that are at hand."""


class DefinedIn(NamedTuple):
    """A definition with the path and title of its document."""

    source_path: str
    document_title: str
    definition: Definition


class TermLookup(Protocol):
    """The part of an index that knows defined terms. Keys are those of ``text.terms``, joined by spaces."""

    def known(self, keys: Collection[str]) -> set[str]:
        """Return which of some keys are those of defined terms."""
        ...

    def by_keys(
        self,
        keys: Collection[str],
        documents: Collection[int] = (),
        paths: Collection[str] = (),
        *,
        limit: int = MOST_DEFINITIONS,
    ) -> list[DefinedIn]:
        """Return definitions of terms, by path and place: the first of each key, and those of some documents."""
        ...

    def in_documents(self, paths: Collection[str]) -> list[DefinedIn]:
        """Return the definitions of some documents, by path and place."""
        ...

    def like(self, words: Collection[str], limit: int = MOST_DEFINITIONS) -> list[DefinedIn]:
        """Return definitions of terms that share words, or the beginning of one, with some words; all, if few."""
        ...
