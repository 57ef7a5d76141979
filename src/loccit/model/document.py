"""Documents: what a file became."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class PageStart(NamedTuple):
    """Where a page begins in the converted text."""

    offset: int
    page: int


class LineStart(NamedTuple):
    """A place in the converted text, and the line of the file that it came from, counted from 1."""

    offset: int
    line: int


def line_of(starts: Sequence[tuple[int, int]], text: str, begin: int, line: int, offset: int) -> int:
    """Return the line of the file that an offset of the converted text falls on.

    ``text`` stands in the converted text from ``begin`` on, which is on ``line``; from each of the ``starts`` on, lines
    are counted anew.
    """
    place = bisect_right(starts, (offset, sys.maxsize)) - 1
    if place >= 0 and starts[place][0] >= begin:
        begin_here, line = starts[place]
        return line + text.count("\n", begin_here - begin, max(0, offset - begin))
    return line + text.count("\n", 0, max(0, offset - begin))


class Lines(NamedTuple):
    """First and last line, counted from 1, both included."""

    first: int
    last: int


class Pages(NamedTuple):
    """First and last page, counted from 1, both included."""

    first: int
    last: int


class Cells(NamedTuple):
    """First and last cell of a notebook, counted from 1, both included."""

    first: int
    last: int


def counts_paragraphs(path: str) -> bool:
    """Whether a file has paragraphs where text has lines: its ``lines`` are those, counted from 1.

    The name says it, so that whoever shows a place need not know more of the file.
    """
    return path.lower().endswith((".docx", ".docm", ".dotx", ".dotm"))


def line_word(path: str) -> str:
    """Return what a line of a file is called: ``line``, or ``paragraph``."""
    return "paragraph" if counts_paragraphs(path) else "line"


def span(lines: Lines | None, pages: Pages | None, path: str, cells: Cells | None = None) -> str:
    """Return a place as a citation has it: ``lines 12–18``, ``p. 3``, ``pp. 3–4, paragraphs 12–18``.

    ``path`` is that of the document. Where it has pages, lines are those of what was read, and so of no use; paragraphs
    are those of the file. In a notebook the cell comes first: ``cell 4, lines 12–18``.
    """
    word = line_word(path)
    parts = [_numbered(cells, "cell", "cells"), _numbered(pages, "p.", "pp.")]
    if not pages or counts_paragraphs(path):
        parts.append(_numbered(lines, word, f"{word}s"))
    return ", ".join(filter(None, parts))


def _numbered(found: tuple[int, int] | None, one: str, several: str) -> str:
    if not found:
        return ""
    first, last = found
    return f"{one} {first}" if first == last else f"{several} {first}–{last}"


_LONGEST_PART = 20
CELLS = "cells_by_line"
"""In the metadata of a notebook: its cells and the lines of the file on which they begin, such as ``1:9 2:31``."""


def write_cells(starts: dict[int, int]) -> str:
    """Write down which cells begin on which lines, given by their numbers."""
    return " ".join(f"{number}:{line}" for number, line in sorted(starts.items()))


def cells_of(written: object, lines: Lines | None) -> Cells | None:
    """Return the cells on which some lines stand, by what :func:`write_cells` wrote.

    >>> cells_of("1:9 2:31 4:60", Lines(12, 40))
    Cells(first=1, last=2)
    """
    if lines is None or not isinstance(written, str):
        return None
    first = last = 0
    for part in written.split():
        number, _, line = part.partition(":")
        # Anybody may write this name into the front matter of a note.
        if not number.isdecimal() or not line.isdecimal() or len(part) > _LONGEST_PART:
            return None
        if int(line) <= lines.first:
            first = int(number)
        if int(line) <= lines.last:
            last = int(number)
    return Cells(first or last, last) if last else None


IMAGE_PAGES = "pages_from_images"
"""In the metadata of a document: its pages that were read from images, such as ``1-3, 7``."""


READ_FROM_IMAGE = "Read from an image: letters may be wrong."


def write_pages(numbers: list[int]) -> str:
    """Return page numbers as runs: ``1-3, 7``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def holds_any(written: object, pages: Pages | None) -> bool:
    """Whether any of some pages is among those that :func:`write_pages` wrote.

    >>> holds_any("1-3, 7", Pages(4, 7)), holds_any("1-3, 7", Pages(4, 6)), holds_any(None, Pages(1, 1))
    (True, False, False)
    """
    if pages is None or not isinstance(written, str):
        return False
    for run in written.split(","):
        first, _, last = run.strip().partition("-")
        if (
            first.isdecimal()
            and int(first) <= pages.last
            and pages.first <= int(last if last.isdecimal() else first)
        ):
            return True
    return False


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """How much of what a document says about its own places its tree confirms.

    ``references`` are its mentions of places of its own (`see 6.2`), ``contents`` the lines of its contents page,
    ``numbered`` the lines that begin with a number of a series, and the numbers missing between places; ``unexplained``
    of these are no place.
    """

    references: int = 0
    references_found: int = 0
    contents: int = 0
    contents_found: int = 0
    numbered: int = 0
    unexplained: int = 0

    @property
    def share(self) -> float | None:
        """The confirmed share, from 0 to 1; None if the document says too little about itself."""
        total = self.references + self.contents
        return (self.references_found + self.contents_found) / total if total >= _FEWEST_CHECKED else None

    @property
    def doubtful(self) -> bool:
        """Whether so little is confirmed, or explained, that its labels should not be relied on."""
        contradicted = self.share is not None and self.share < _DOUBTFUL
        return contradicted or (
            self.unexplained >= _FEWEST_CHECKED and self.unexplained > _DOUBTFUL * self.numbered
        )

    def __str__(self) -> str:
        """In words: ``12 of 14 references, 30 of 30 contents lines, 8 of 9 numbered lines``."""
        parts = []
        if self.references:
            parts.append(f"{self.references_found} of {self.references} references")
        if self.contents:
            parts.append(f"{self.contents_found} of {self.contents} contents lines")
        if self.unexplained:
            parts.append(f"{self.numbered - self.unexplained} of {self.numbered} numbered lines")
        return ", ".join(parts)


# Three mentions may be chance; below half, the numbering was not understood.
_FEWEST_CHECKED = 4
_DOUBTFUL = 0.5


@dataclass(frozen=True, slots=True)
class Converted:
    """The output of a converter: text with structure, and where its pages begin.

    ``text`` uses ``\\n`` line ends. ``markdown`` is false for plain text, which has no headings to parse.
    ``pages`` is empty for formats without pages. ``metadata`` holds the file's own properties (title,
    author, dates) as JSON values; ``title`` is the document's own title, if its format has one.
    ``line_starts`` maps the text to lines of the file; lines are counted on from each of them. It is empty if the
    lines of the text are those of the file. For files with paragraphs, these take the place of lines.
    """

    text: str
    markdown: bool = True
    pages: tuple[PageStart, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    title: str = ""
    line_starts: tuple[LineStart, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """An ingested document. ``text[body_start:]`` is what its chunks cover; before it is frontmatter."""

    source_path: str
    title: str
    file_type: str
    text: str
    body_start: int = 0
    language: str = ""
    doc_summary: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    pages: tuple[PageStart, ...] = ()
    warnings: tuple[str, ...] = ()
    mtime: float = 0.0
    size: int = 0
    content_hash: str = ""
    total_chunks: int = 0
    ingested_at: str = ""
    line_starts: tuple[LineStart, ...] = ()
    self_check: SelfCheck = field(default_factory=SelfCheck)
