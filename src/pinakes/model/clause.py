"""Clauses: the numbered parts below a heading."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.model.document import Lines, Pages


@dataclass(frozen=True, slots=True)
class Clause:
    """A numbered part of a section, such as ``(b)(2)`` of Section 403.

    ``start`` is where its marker stands, ``body`` where its words begin, ``end`` where the clause with everything
    below it ends. ``parent`` is the ordinal of the clause it is a part of. ``label`` names it in full, as one
    would cite it; ``number`` and ``section_id`` are the same normalised.
    """

    ordinal: int
    section: int
    parent: int | None
    depth: int
    marker: str
    label: str
    kind: str
    number: tuple[str, ...]
    section_id: str
    start: int
    body: int
    end: int
    lines: Lines
    pages: Pages | None = None
