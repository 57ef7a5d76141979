"""What is read from a page: styled spans, lines, ruling lines, tables, tags.

Coordinates are points from the top left corner of the upright page: ``y`` grows downwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from loccit.model.document import write_pages

_MOST_NAMED = 10

HYPHEN = "\ufffe"
"""How pdfium represents a hyphen at the end of a line whose word continues."""


class Style(NamedTuple):
    """How a run of text is typeset. ``font`` only distinguishes fonts within a document."""

    size: float
    bold: bool
    italic: bool
    font: int
    colour: int


_UNSET = Style(0.0, False, False, 0, 0)


class Span(NamedTuple):
    """A run of words in one style; ``mcid`` is its marked content id, -1 without one."""

    text: str
    x0: float
    x1: float
    style: Style
    mcid: int


@dataclass(slots=True)
class Line:
    """Words on one baseline without a wide gap: a line of a column, or a cell of a table."""

    page: int
    x0: float
    x1: float
    base: float
    spans: list[Span]
    order: int
    text: str = ""
    style: Style = _UNSET
    block: int = 0
    """The column region of the line; lines of different regions are never on one level."""
    alone: bool = True
    """Nothing else is on the same baseline in the same column."""
    contents: bool = False
    """An entry of a printed table of contents."""
    left: float = 0.0
    right: float = 0.0
    """Edges of the line's column."""

    @property
    def top(self) -> float:
        """The approximate upper edge: fonts disagree on ascents, so it is computed from the size."""
        return self.base - 0.8 * self.style.size

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.base + 0.2 * self.style.size

    @property
    def size(self) -> float:
        """Type size of most of its letters."""
        return self.style.size

    def settle(self) -> None:
        """Set ``text`` and ``style`` (that of most letters) from the spans."""
        spans = self.spans
        self.x0 = spans[0].x0
        self.x1 = spans[-1].x1
        if len(spans) == 1:
            self.text, self.style = spans[0].text, spans[0].style
            return
        self.text = " ".join([s.text for s in spans])
        weight: dict[Style, int] = {}
        for s in spans:
            weight[s.style] = weight.get(s.style, 0) + len(s.text)
        self.style = max(weight, key=lambda k: weight[k])
        if len(weight) > 1 and self.text.isupper() and len({(s.font, s.bold, s.italic) for s in weight}) == 1:
            # Small capitals: letters of a smaller size, next to capitals of the line's own.
            self.style = max(weight)


class Rule(NamedTuple):
    """A thin horizontal or vertical line drawn on the page."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def horizontal(self) -> bool:
        """Whether it is horizontal."""
        return self.x1 - self.x0 >= self.y1 - self.y0


@dataclass(slots=True)
class Table:
    """A table's cells, row by row, and its position."""

    page: int
    x0: float
    x1: float
    top: float
    bottom: float
    order: int
    rows: list[list[str]]


@dataclass(slots=True)
class Heading:
    """A heading in the flow of the document. ``level`` counts from 1, the outermost; ``style`` is that of its line."""

    page: int
    text: str
    level: int
    style: Style = _UNSET

    def as_line(self) -> Line:
        """What it is if it is no heading."""
        return Line(
            self.page, 0.0, 0.0, 0.0, [Span(self.text, 0.0, 0.0, self.style, -1)], 0, self.text, self.style
        )


Item: TypeAlias = Line | Table
Flow: TypeAlias = list[Line | Table | Heading]
"""The content of the pages, in reading order."""


class Tag(NamedTuple):
    """The tag of a piece of marked content. ``element`` distinguishes headings of a page."""

    kind: str
    level: int
    element: int


@dataclass(slots=True)
class PageText:
    """One page: its size, its lines in the order of the content stream, the rules drawn on it."""

    number: int
    width: float
    height: float
    lines: list[Line] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    """Lines beside the text: running heads and feet, and text in another direction than the page's."""
    margin: list[Line] = field(default_factory=list)
    """Numbers at the left margin that may count the lines."""
    images: int = 0
    legible: bool = True
    """Whether its characters are those that it shows."""
    tags: dict[int, Tag] = field(default_factory=dict)
    """Relevant tags by marked content id."""
    sure: float | None = None
    """Tesseract's confidence, in percent, if the page was read from an image."""


def name_pages(numbers: list[int]) -> str:
    """Name pages: ``page 3``, ``pages 3, 5-9``; of many, the first ten runs."""
    runs = write_pages(numbers).split(", ")
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    return f"page{'s' if len(numbers) > 1 else ''} {', '.join(runs[:_MOST_NAMED])}{more}"
