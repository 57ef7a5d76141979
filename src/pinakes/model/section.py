"""Sections: the tree that headings make of a document."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.model.document import Lines, Pages


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and everything below it, up to the next heading of its level.

    Section 0 is the document itself: level 0, no heading. ``start`` to ``end`` spans the whole subtree in the
    document's text; ``body`` is where the text after the heading begins.
    """

    ordinal: int
    parent: int | None
    level: int
    heading: str
    start: int
    body: int
    end: int
    lines: Lines
    label: str = ""
    title: str = ""
    kind: str = ""
    number: tuple[str, ...] = ()
    section_id: str = ""
    path: tuple[str, ...] = ()
    pages: Pages | None = None
