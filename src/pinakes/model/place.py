"""Places: the one tree that headings and numbered parts make of a document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.model.document import Lines, Pages

# So many clauses before an offset are looked at for one that still goes on there.
_LOOK_BACK = 500


@dataclass(frozen=True, slots=True)
class Place:
    """A heading or a clause, with everything below it.

    Place 0 is the document itself: level 0, no heading. A heading begins a section, up to the next heading of its
    level; chunks are cut along them. A clause is a numbered part below a heading, such as ``(b)(2)`` of Section 403.
    The parent of a heading is a heading, that of a clause a heading or a clause. Headings are numbered first, in the
    order of the text, and then clauses, so that what goes by headings alone need not count clauses.

    ``section`` is the heading that a place stands under; a heading's is itself. ``start`` to ``end`` spans the whole
    subtree in the document's text; ``body`` is where the words after the heading or marker begin. ``label`` is what one
    would cite: as printed in a heading, in full for a clause; ``number`` and ``section_id`` are the same normalised.
    A heading has a ``heading``, ``title`` and ``path``, a clause a ``marker``.
    """

    ordinal: int
    parent: int | None
    section: int
    level: int
    start: int
    body: int
    end: int
    lines: Lines
    heading: str = ""
    marker: str = ""
    label: str = ""
    title: str = ""
    kind: str = ""
    number: tuple[str, ...] = ()
    section_id: str = ""
    path: tuple[str, ...] = ()
    pages: Pages | None = None

    @property
    def is_heading(self) -> bool:
        """Whether it begins a section, as the document itself does; else it is a clause."""
        return self.section == self.ordinal

    @property
    def name(self) -> str:
        """What it is called: its label, or else its heading."""
        return self.label or self.heading


def innermost(places: Sequence[Place], offset: int) -> Place | None:
    """Return the innermost of a document's places, in the order of its text, that holds an offset."""
    last = bisect_right(places, offset, key=lambda place: place.start)
    around = reversed(places[max(0, last - _LOOK_BACK) : last])
    return next((place for place in around if place.is_heading or place.end > offset), None)
