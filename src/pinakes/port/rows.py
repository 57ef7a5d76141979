"""Rows: chunks, places and terms as an index holds them, with the document that each belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pinakes.model import Lines, Pages, Place


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


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """A place together with the document it belongs to."""

    document: int
    source_path: str
    document_title: str
    place: Place


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


class Standing(NamedTuple):
    """The innermost place around an offset: its id, label, the heading above it, what it is called, where it begins."""

    section_id: str
    label: str
    heading: str
    name: str
    start: int
    line: int
