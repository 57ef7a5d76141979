"""Names: documents by what they are called, definitions by their terms, and what somebody may type.

Documents are asked for by keys, which ``labels.document_keys`` makes when a document is written and when one is asked
for. Where very many documents have a key, an index answers with some of them, one more than ``MOST``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, Protocol

from pinakes.model import Definition

MOST = 1000
"""Documents that share a name, before it names none of them."""
BEGINNING = 5
"""Letters that two words begin with, where one stands for the other."""


class Entry(NamedTuple):
    """A document as others may refer to it."""

    id: int
    source_path: str
    title: str


class CalledEntry(NamedTuple):
    """A document that goes by a name, whether that is its whole name, and how surely a text means it by that."""

    entry: Entry
    full: bool
    sure: float


class Work(NamedTuple):
    """A work in numbered files: its folder, and the kinds of its parts."""

    folder: int
    kinds: frozenset[str]


class NameLookup(Protocol):
    """Documents by what they are called."""

    def entries(self, documents: Collection[int]) -> dict[int, Entry]:
        """Return documents by their ids; those that are gone are left out."""
        ...

    def at(self, paths: Collection[str]) -> dict[str, Entry]:
        """Return documents by their paths."""
        ...

    def first(self, limit: int | None = None) -> list[Entry]:
        """Return the first documents in the order of their paths, or all."""
        ...

    def called(self, keys: Collection[str], folder: int | None = None) -> dict[str, list[CalledEntry]]:
        """Return the documents that go by some names, by name; with ``folder``, those that lie in it."""
        ...

    def names(self, documents: Collection[int]) -> dict[int, list[str]]:
        """Return what some documents are called, in full and for short."""
        ...

    def ending(self, path_keys: Collection[str], *, whole: bool) -> dict[str, list[Entry]]:
        """Return the documents whose paths end so, or are so as a whole, by the key of the path."""
        ...

    def having(self, word: str, documents: Collection[int] | None = None) -> set[int]:
        """Return the documents that have a word in their names, or its letters in their initials.

        Where none has it, one that it begins, or that begins it: that is how companies are called in the names of
        files (`MOVADOGROUPINC`), and countries in those of acts. Without ``documents``, a little more than ``MOST``.
        """
        ...

    def short_words(self, letter: str) -> dict[str, list[int]]:
        """Return the short names of one word that begin with a letter, with the documents that have them."""
        ...

    def beginning(self, beginnings: Collection[str]) -> set[int]:
        """Return the documents that have words in their names with some beginnings, a few for each."""
        ...

    def words(self, documents: Collection[int]) -> dict[int, list[str]]:
        """Return the words in the names of some documents."""
        ...

    def having_all(self, words: Collection[str]) -> set[int]:
        """Return the documents that have all of some words, one at least, in their names; ``MOST`` and one at most."""
        ...

    def abbreviated(self, initials: str) -> set[int]:
        """Return the documents whose titles have exactly these initials, no more than ``MOST`` and one."""
        ...

    def titled(self, title_key: str) -> list[Entry]:
        """Return the documents of a title, or else those whose titles hold it, in the order of their paths."""
        ...

    def works(self, name: str) -> list[Work]:
        """Return the works in numbered files whose folder, or the one above it, has a name; the first few."""
        ...

    def work(self, folder: int) -> Work | None:
        """Return the work whose files lie in a folder, if they are one."""
        ...

    def members(self, folder: int, kind: str, number: str) -> list[Entry]:
        """Return the files of a work that bear a number, two at most."""
        ...


# -- terms: definitions looked up by the words of what they define -------------------------------------------


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


# -- suggestions: titles, defined terms, labels and headings, by what somebody types -------------------------


class SuggestionRow(NamedTuple):
    """Something to search for or to open: ``kind`` is ``title``, ``term`` or ``label``."""

    text: str
    kind: str
    source_path: str
    section_id: str
    detail: str


class SuggestionLookup(Protocol):
    """The part of an index that knows what can be typed. Keys are those of ``text.keys.typed_key``."""

    def beginning(
        self, key: str, allowed: Callable[[str], bool] | None = None, *, later_words: bool = False
    ) -> Iterator[SuggestionRow]:
        """Go through what begins so, or has a later word that does; ``allowed`` says which paths may be shown."""
        ...

    def holding(self, key: str, allowed: Callable[[str], bool] | None = None) -> Iterator[SuggestionRow]:
        """Go through what holds this anywhere, as far as that can be looked for."""
        ...
