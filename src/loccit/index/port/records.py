"""Records: queries for chunks, places, references and documents, and the rows they return."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from loccit.model import Lines, Link, Pages, Place, Reference, SelfCheck


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as stored, with facts about its document and section."""

    id: int
    document: int
    chunk_index: int
    section: int
    content: str
    prefix: int
    start: int
    end: int
    lines: Lines
    pages: Pages | None
    tokens: int
    chunk_type: str
    context: str
    source_path: str
    document_title: str
    language: str
    parent_chain: tuple[str, ...]
    section_id: str
    section_label: str
    heading: str
    heading_level: int
    place_id: str = ""

    @property
    def searched_text(self) -> str:
        """What the chunk can be found by: its text, and the names of its place."""
        return " ".join([self.document_title, *self.parent_chain, self.context, self.content])


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """A place together with its document."""

    document: int
    source_path: str
    document_title: str
    place: Place


class StoredText(NamedTuple):
    """A document with its text; before ``body_start`` is frontmatter."""

    document: int
    source_path: str
    title: str
    body_start: int
    text: str


class NumberedPlace(NamedTuple):
    """A place with a number, by document and ordinal: just enough to choose among many."""

    document: int
    ordinal: int
    source_path: str
    kind: str
    label: str
    is_heading: bool


class PlaceStart(NamedTuple):
    """The start of a place: just enough to lead there."""

    document: int
    kind: str
    section_id: str
    start: int


class GonePlace(NamedTuple):
    """What is remembered of a deleted place: its position, its name, and the beginning of its text."""

    source_path: str
    section_id: str
    label: str
    heading: str
    text: str


class Standing(NamedTuple):
    """The innermost place around an offset: its id, label, heading, name and start."""

    section_id: str
    label: str
    heading: str
    name: str
    start: int
    line: int
    place_id: str = ""


# -- records: what search asks of the documents, chunks, places and references of an index -------------------


class Row(Protocol):
    """A row of values by name."""

    def __getitem__(self, name: str, /) -> Any:
        """Return a value."""
        ...


class Records(Protocol):
    """Chunks by id, places by number, title or id, references by position."""

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, without those of deleted documents."""
        ...

    def headers(self, ids: Collection[int]) -> set[int]:
        """Return which of these chunks are only a heading."""
        ...

    def chunk_ids_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the chunks that begin inside a span of a document's text, in order."""
        ...

    def chunks_holding(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[int]]:
        """Return the chunks that contain some spans of texts, given as document, start and end, in order."""
        ...

    def chunk_indexes_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the numbers of the chunks that overlap a span of a document's text."""
        ...

    def numbered(
        self, number_key: str, kinds: Collection[str], documents: Collection[int] | None = None
    ) -> list[NumberedPlace]:
        """Return the places of some kinds with a number: headings, then clauses, both in document order.

        Of very many, some of each, one more than ``MOST``.
        """
        ...

    def is_numbered(self, number_key: str) -> bool:
        """Whether any document has a place with a number."""
        ...

    def documents_with_number(self, number_key: str, kinds: Collection[str]) -> int:
        """Return how many documents have a place of some kinds with a number, up to ``MOST`` + 1."""
        ...

    def places_at(self, wanted: Sequence[tuple[int, int]]) -> list[StoredPlace]:
        """Return places by document and number, in the order requested, without deleted ones."""
        ...

    def places_by_title(self, title_key: str, documents: Collection[int] | None = None) -> list[StoredPlace]:
        """Return the headings with exactly this title, ignoring the label."""
        ...

    def places_by_first_words(
        self, title_key: str, documents: Collection[int] | None = None
    ) -> list[StoredPlace]:
        """Return the headings whose title is, or begins with, these words."""
        ...

    def places_by_id(self, section_id: str, documents: Collection[int] | None = None) -> list[StoredPlace]:
        """Return the places with this id, at most one per document: headings, then clauses."""
        ...

    def places_with(self, place_ids: Collection[str]) -> dict[str, StoredPlace]:
        """Return places by their ids in the library, without missing ones."""
        ...

    def place_ids(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the ids of places in the library, by the paths of their documents and their ids within these."""
        ...

    def gone_place(self, place_id: str) -> GonePlace | None:
        """Return what is remembered of a deleted place."""
        ...

    def places_of_document(self, document: int, *, clauses: bool = True) -> list[Place]:
        """Return the places of a document in text order, outer ones first."""
        ...

    def place(self, document: int, ordinal: int) -> StoredPlace | None:
        """Return one place of a document."""
        ...

    def documents_with_kind(self, kind: str, documents: Collection[int]) -> set[int]:
        """Return which of these documents have more than two places of a kind, and so are numbered by it."""
        ...

    def similar_titles(self, words: Sequence[str], limit: int) -> list[StoredPlace]:
        """Return headings whose title contains all the words, for suggestions."""
        ...

    def chunk_at(self, document: int, offset: int) -> tuple[int, int] | None:
        """Return id and number of the chunk at an offset of a document's text."""
        ...

    def starts_by_number(
        self, wanted: Collection[tuple[int, str]]
    ) -> dict[tuple[int, str], list[PlaceStart]]:
        """Return where the places of some documents with some numbers begin, by document and number."""
        ...

    def heading_names(self, document: int) -> list[tuple[str, str, str]]:
        """Return id, heading and title of the headings of a document, in order."""
        ...

    def standing(self, offsets: Collection[tuple[int, int]]) -> dict[tuple[int, int], Standing]:
        """Return the innermost places at some offsets of documents."""
        ...

    def references_between(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[Reference]]:
        """Return the references in some spans of texts, given as document, start and end, in order."""
        ...

    def references_to(self, document: int, section_ids: Sequence[str]) -> list[Reference]:
        """Return the references of a document to some of its own sections, in order."""
        ...

    def references_out(self, document: int) -> list[Reference]:
        """Return what a document refers to outside itself, each wording once and without its position."""
        ...

    def references_outward(self, documents: Collection[int]) -> list[tuple[int, Reference, list[int]]]:
        """Return what documents refer to outside themselves, each wording once, with its positions."""
        ...

    def documents(self) -> Sequence[Row]:
        """Return all documents without their text."""
        ...

    def self_checks(self, documents: Collection[int] | None = None) -> dict[int, SelfCheck]:
        """Return how far each document confirms its own places, if it says anything about them."""
        ...

    def passages(self, chunks: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """Return the spans of chunks' passages in their content, in order."""
        ...

    def page_starts(self, document: int) -> list[tuple[int, int]]:
        """Return where the pages of a document's text begin, with their numbers."""
        ...

    def line_starts(self, document: int) -> list[tuple[int, int]]:
        """Return where the numbering of lines in a document's text restarts, with the numbers."""
        ...

    def document_text(self, document: int, start: int, end: int) -> str:
        """Return a part of a document's text."""
        ...

    def texts(self, documents: Collection[int]) -> list[StoredText]:
        """Return some documents with their texts."""
        ...

    def image_pages(self, documents: Collection[str]) -> dict[str, str]:
        """Return the pages that were read from images, by document path."""
        ...

    def noted(self, documents: Collection[str], name: str) -> dict[str, str]:
        """Return what documents have in their metadata under a name, by path."""
        ...

    def documents_of(self, chunks: Collection[int]) -> dict[int, int]:
        """Return the documents of chunks, by chunk."""
        ...

    def paths(self, documents: Collection[int]) -> dict[int, str]:
        """Return the paths of some documents."""
        ...

    def languages(self) -> dict[str, int]:
        """Return the number of documents in each language, most frequent first."""
        ...

    def file_types(self) -> dict[str, int]:
        """Return the number of documents of each type, most frequent first."""
        ...

    def count(self, kind: str) -> int:
        """Return the number of ``documents``, ``chunks``, ``passages``, or ``scanned`` documents."""
        ...


class Readings(Protocol):
    """One whole document, and what a map of documents needs."""

    def document(self, path: str) -> Row | None:
        """Return a document with its text."""
        ...

    def paths(self) -> dict[int, str]:
        """Return the paths of all documents."""
        ...

    def links(self, document: int) -> list[Link]:
        """Return the links of a document, in order."""
        ...

    def headings(self) -> dict[int, list[Place]]:
        """Return the headings of all documents, by document and in order."""
        ...

    def heading_counts(self) -> dict[int, int]:
        """Return the number of headings of documents."""
        ...

    def chunk_counts(self, document: int) -> dict[int, int]:
        """Return the number of chunks directly in each section of a document, by ordinal."""
        ...

    def labels(self, document: int, section_ids: Collection[str]) -> dict[str, str]:
        """Return the names of places in a document: the label, or else the heading."""
        ...

    def place(self, document: int, start: int, end: int) -> tuple[Lines, Pages | None]:
        """Return the lines and pages of a part of a document."""
        ...
