"""A document with everything that reading it brought out."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.model.chunk import Chunk
from pinakes.model.clause import Clause
from pinakes.model.document import Document
from pinakes.model.knowledge import Definition, Link, Reference
from pinakes.model.section import Section


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What the stages before the store hand over, whole."""

    document: Document
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    clauses: tuple[Clause, ...] = ()
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    links: tuple[Link, ...] = ()
