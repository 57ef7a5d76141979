"""A document with everything that reading it brought out."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.model.chunk import Chunk
from pinakes.model.document import Document
from pinakes.model.knowledge import Definition, Link, Reference
from pinakes.model.place import Place


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What the stages before the store hand over, whole."""

    document: Document
    places: tuple[Place, ...]
    chunks: tuple[Chunk, ...]
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    links: tuple[Link, ...] = ()
