"""Names: documents by name, definitions by term, and suggestions.

Documents are looked up by keys, which ``labels.document_keys`` makes both when a document is written and when one is
looked up. If very many documents have a key, an index returns some of them, one more than ``MOST``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, Protocol

from loccit.model import Definition

MOST = 1000
"""The maximum number of documents that a name may identify."""
BEGINNING = 5
"""The number of common initial letters with which one word can stand for another."""


class Entry(NamedTuple):
    """A document as others may refer to it."""

    id: int
    source_path: str
    title: str


class CalledEntry(NamedTuple):
    """A document with a name, whether that is its full name, and the confidence that a text means it."""

    entry: Entry
    full: bool
    sure: float


class Work(NamedTuple):
    """A work in numbered files: its folder, and the kinds of its parts."""

    folder: int
    kinds: frozenset[str]


class NameLookup(Protocol):
    """Documents by name."""

    def entries(self, documents: Collection[int]) -> dict[int, Entry]:
        """Return documents by id, without deleted ones."""
        ...

    def at(self, paths: Collection[str]) -> dict[str, Entry]:
        """Return documents by their paths."""
        ...

    def first(self, limit: int | None = None) -> list[Entry]:
        """Return the first documents ordered by path, or all."""
        ...

    def called(self, keys: Collection[str], folder: int | None = None) -> dict[str, list[CalledEntry]]:
        """Return the documents with these names, by name; with ``folder``, those in it."""
        ...

    def names(self, documents: Collection[int]) -> dict[int, list[str]]:
        """Return the full and short names of some documents."""
        ...

    def ending(self, path_keys: Collection[str], *, whole: bool) -> dict[str, list[Entry]]:
        """Return the documents whose paths are, or end with, these, by path key."""
        ...

    def having(self, word: str, documents: Collection[int] | None = None) -> set[int]:
        """Return the documents with a word in their names, or its letters in their initials.

        If there are none, those with a longer word that begins with it, or a shorter one that it begins with: this is
        how file names contain companies (`MOVADOGROUPINC`), and names of acts contain countries. Without ``documents``,
        slightly more than ``MOST``.
        """
        ...

    def short_words(self, letter: str) -> dict[str, list[int]]:
        """Return the one-word short names that begin with a letter, with their documents."""
        ...

    def beginning(self, beginnings: Collection[str]) -> set[int]:
        """Return the documents with words in their names that have some prefixes, a few for each."""
        ...

    def words(self, documents: Collection[int]) -> dict[int, list[str]]:
        """Return the words in the names of some documents."""
        ...

    def having_all(self, words: Collection[str]) -> set[int]:
        """Return the documents with all of these words (at least one) in their names, up to ``MOST`` + 1."""
        ...

    def abbreviated(self, initials: str) -> set[int]:
        """Return the documents whose titles have exactly these initials, up to ``MOST`` + 1."""
        ...

    def titled(self, title_key: str) -> list[Entry]:
        """Return the documents with a title, or else those whose titles contain it, ordered by path."""
        ...

    def works(self, name: str) -> list[Work]:
        """Return the works in numbered files whose folder, or its parent, has a name; the first few."""
        ...

    def work(self, folder: int) -> Work | None:
        """Return the work whose files are in a folder, if they form one."""
        ...

    def members(self, folder: int, kind: str, number: str) -> list[Entry]:
        """Return the files of a work with a number, two at most."""
        ...


# -- terms: definitions looked up by the words of what they define -------------------------------------------


MOST_DEFINITIONS = 1000
"""A term defined in more documents than this is read from this many of them, and from those requested."""


class DefinedIn(NamedTuple):
    """A definition with the path and title of its document."""

    source_path: str
    document_title: str
    definition: Definition


class TermLookup(Protocol):
    """The part of an index that knows defined terms. Keys are those of ``text.terms``, joined by spaces."""

    def known(self, keys: Collection[str]) -> set[str]:
        """Return which of these keys belong to defined terms."""
        ...

    def by_keys(
        self,
        keys: Collection[str],
        documents: Collection[int] = (),
        paths: Collection[str] = (),
        *,
        limit: int = MOST_DEFINITIONS,
    ) -> list[DefinedIn]:
        """Return definitions of terms, by path and position: the first of each key, and those of some documents."""
        ...

    def in_documents(self, paths: Collection[str]) -> list[DefinedIn]:
        """Return the definitions of some documents, by path and position."""
        ...

    def like(self, words: Collection[str], limit: int = MOST_DEFINITIONS) -> list[DefinedIn]:
        """Return definitions of terms that share words, or a word's prefix, with some words; all, if few."""
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
    """The part of an index that knows suggestions. Keys are those of ``text.keys.typed_key``."""

    def beginning(
        self, key: str, allowed: Callable[[str], bool] | None = None, *, later_words: bool = False
    ) -> Iterator[SuggestionRow]:
        """Yield what has this prefix, or a later word with it; ``allowed`` says which paths may be shown."""
        ...

    def holding(self, key: str, allowed: Callable[[str], bool] | None = None) -> Iterator[SuggestionRow]:
        """Yield what contains this anywhere, as far as that can be searched."""
        ...
