"""Records: questions about chunks, places, references and documents, and the rows that answer them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pinakes.model import Lines, Link, Pages, Place, Reference, SelfCheck


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as it lies in the record, with what its document and section say about it."""

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
        """What the chunk can be found by: its text, and the names of where it stands."""
        return " ".join([self.document_title, *self.parent_chain, self.context, self.content])


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """A place together with the document it belongs to."""

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
    """A place with a number, by its document and its own number in it: just enough to choose among many."""

    document: int
    ordinal: int
    source_path: str
    kind: str
    label: str
    is_heading: bool


class PlaceStart(NamedTuple):
    """Where a place begins: just enough to lead there."""

    document: int
    kind: str
    section_id: str
    start: int


class GonePlace(NamedTuple):
    """What is remembered of a place that is gone: where it stood, what it was called, and how its words began."""

    source_path: str
    section_id: str
    label: str
    heading: str
    text: str


class Standing(NamedTuple):
    """The innermost place around an offset: its id, label, the heading above it, what it is called, where it begins."""

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
    """Chunks by id, places by number, title or id, references by where they stand."""

    def chunks(self, ids: Collection[int]) -> dict[int, StoredChunk]:
        """Return chunks by id. Ids of documents that are gone are left out."""
        ...

    def headers(self, ids: Collection[int]) -> set[int]:
        """Return which of some chunks are nothing but a heading."""
        ...

    def chunk_ids_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the chunks that begin inside a span of a document's text, in order."""
        ...

    def chunks_holding(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[int]]:
        """Return the chunks that hold some spans of texts, given as document, start and end: from the first on."""
        ...

    def chunk_indexes_between(self, document: int, start: int, end: int) -> list[int]:
        """Return the numbers of the chunks that overlap a span of a document's text."""
        ...

    def numbered(
        self, number_key: str, kinds: Collection[str], documents: Collection[int] | None = None
    ) -> list[NumberedPlace]:
        """Return the places of some kinds with a number: headings, then clauses, both in the order of documents.

        Of very many, these are some of each, one more than ``MOST``.
        """
        ...

    def is_numbered(self, number_key: str) -> bool:
        """Return whether any document has a place with a number."""
        ...

    def documents_with_number(self, number_key: str, kinds: Collection[str]) -> int:
        """Return how many documents have a place of some kinds with a number, up to ``MOST`` and one."""
        ...

    def places_at(self, wanted: Sequence[tuple[int, int]]) -> list[StoredPlace]:
        """Return places by document and number, in the order that they are asked for; those that are gone are not."""
        ...

    def places_by_title(self, title_key: str, documents: Collection[int] | None = None) -> list[StoredPlace]:
        """Return the headings whose title is exactly this, label left aside."""
        ...

    def places_by_first_words(
        self, title_key: str, documents: Collection[int] | None = None
    ) -> list[StoredPlace]:
        """Return the headings whose title is, or begins with, these words."""
        ...

    def places_by_id(self, section_id: str, documents: Collection[int] | None = None) -> list[StoredPlace]:
        """Return the places with this id, one a document at most: headings, then clauses."""
        ...

    def places_with(self, place_ids: Collection[str]) -> dict[str, StoredPlace]:
        """Return places by their ids in the library; those that there are not are left out."""
        ...

    def place_ids(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the ids of places in the library, by the paths of their documents and their ids within these."""
        ...

    def gone_place(self, place_id: str) -> GonePlace | None:
        """Return what is remembered of a place that is gone."""
        ...

    def places_of_document(self, document: int, *, clauses: bool = True) -> list[Place]:
        """Return the places of a document in the order of its text, the outer ones first."""
        ...

    def place(self, document: int, ordinal: int) -> StoredPlace | None:
        """Return one place of a document."""
        ...

    def documents_with_kind(self, kind: str, documents: Collection[int]) -> set[int]:
        """Return those of some documents that have more than two places of a kind, so that they count by it."""
        ...

    def similar_titles(self, words: Sequence[str], limit: int) -> list[StoredPlace]:
        """Return headings whose title holds all the words, for "did you mean"."""
        ...

    def chunk_at(self, document: int, offset: int) -> tuple[int, int] | None:
        """Return id and number of the chunk that holds an offset of a document's text."""
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
        """Return the innermost places that hold some offsets of documents."""
        ...

    def references_between(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[Reference]]:
        """Return the references that stand in some spans of texts, given as document, start and end, in order."""
        ...

    def references_to(self, document: int, section_ids: Sequence[str]) -> list[Reference]:
        """Return the references of a document to some of its own sections, in order."""
        ...

    def references_out(self, document: int) -> list[Reference]:
        """Return what a document refers to outside itself, each way to say so once and without its place."""
        ...

    def references_outward(self, documents: Collection[int]) -> list[tuple[int, Reference, int]]:
        """Return what some documents refer to outside themselves, each way to say so once, and how often it comes."""
        ...

    def documents(self) -> Sequence[Row]:
        """Return all documents without their text."""
        ...

    def self_checks(self, documents: Collection[int] | None = None) -> dict[int, SelfCheck]:
        """Return how much of itself each document bears out, where it says anything about its places."""
        ...

    def passages(self, chunks: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """Return where the passages of chunks begin and end in their contents, in order."""
        ...

    def page_starts(self, document: int) -> list[tuple[int, int]]:
        """Return where in a document's text its pages begin, with their numbers."""
        ...

    def line_starts(self, document: int) -> list[tuple[int, int]]:
        """Return from where in a document's text lines of its file are counted anew, with their numbers."""
        ...

    def document_text(self, document: int, start: int, end: int) -> str:
        """Return a stretch of a document's text."""
        ...

    def texts(self, documents: Collection[int]) -> list[StoredText]:
        """Return some documents with their texts."""
        ...

    def image_pages(self, documents: Collection[str]) -> dict[str, str]:
        """Return the pages that were read from images, by the path of their document."""
        ...

    def noted(self, documents: Collection[str], name: str) -> dict[str, str]:
        """Return what the metadata of documents have under a name, by their paths; those that have it."""
        ...

    def documents_of(self, chunks: Collection[int]) -> dict[int, int]:
        """Return the documents of some chunks, by chunk."""
        ...

    def paths(self, documents: Collection[int]) -> dict[int, str]:
        """Return the paths of some documents."""
        ...

    def languages(self) -> dict[str, int]:
        """Return how many documents there are in each language, most first."""
        ...

    def file_types(self) -> dict[str, int]:
        """Return how many documents there are of each type, most first."""
        ...

    def count(self, kind: str) -> int:
        """Return the number of ``documents``, ``chunks``, ``passages``, or of documents that were ``scanned``."""
        ...


class Readings(Protocol):
    """One document whole, and what a map of documents needs."""

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

    def headings_of(self, document: int) -> list[Place]:
        """Return the headings of a document, in order."""
        ...

    def heading_counts(self) -> dict[int, int]:
        """Return how many headings documents have."""
        ...

    def chunk_counts(self, document: int) -> dict[int, int]:
        """Return how many chunks stand in each section of a document itself, by ordinal."""
        ...

    def labels(self, document: int, section_ids: Collection[str]) -> dict[str, str]:
        """Return what some places of a document are called: the label, or else the heading."""
        ...

    def place(self, document: int, start: int, end: int) -> tuple[Lines, Pages | None]:
        """Return the lines and pages of a part of a document."""
        ...
