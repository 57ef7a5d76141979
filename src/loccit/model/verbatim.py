"""What is written where: every place in which a text stands."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from loccit.model.document import Lines, Pages, span
from loccit.model.place_ids import with_place_id


@dataclass(frozen=True, slots=True)
class TextHit:
    """One place where a text stands: the innermost place around it, its line, and the line itself.

    ``start`` and ``end`` are offsets into the text as it was read, including frontmatter and blank lines at the
    beginning, which ``Library.document`` leaves out. ``line`` is that of the file. Of a long line, ``text`` is the part
    around the hit.
    """

    source_path: str
    document_title: str
    section_id: str
    section_label: str
    heading: str
    line: int
    text: str
    start: int
    end: int
    pages: Pages | None = None
    place_id: str = ""

    @property
    def location(self) -> str:
        """Where it stands, as a citation would say it: ``Section 2(a), line 12``."""
        where = span(Lines(self.line, self.line), self.pages, self.source_path)
        return ", ".join(filter(None, (self.section_label or self.heading, where)))

    @property
    def address(self) -> str:
        """Where it stands, with the id of its place: ``Section 2(a) [k7q2m9xt], line 12``."""
        where = span(Lines(self.line, self.line), self.pages, self.source_path)
        name = with_place_id(self.section_label or self.heading, self.place_id)
        return ", ".join(filter(None, (name, where)))


@dataclass(frozen=True, slots=True)
class FoundAll:
    """Every place in which a text stands, or a page of them.

    ``total`` hits stand in ``documents`` documents. At most 10,000 are counted: where ``complete`` is false, there are
    more, and no fewer documents. With ``cursor`` the same question goes on after the last of ``hits``.
    """

    pattern: str
    kind: str
    hits: list[TextHit] = field(default_factory=list)
    total: int = 0
    documents: int = 0
    complete: bool = True
    cursor: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return asdict(self)
