"""Documents: what a file became."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class PageStart(NamedTuple):
    """Where a page begins in the converted text."""

    offset: int
    page: int


class Lines(NamedTuple):
    """First and last line, counted from 1, both included."""

    first: int
    last: int


class Pages(NamedTuple):
    """First and last page, counted from 1, both included."""

    first: int
    last: int


def span(lines: Lines | None, pages: Pages | None) -> str:
    """Return pages where there are any, else lines, as a citation has them: ``p. 3``, ``pp. 3–4``, ``lines 12–18``."""
    found, one, several = (pages, "p.", "pp.") if pages else (lines, "line", "lines")
    if not found:
        return ""
    first, last = found
    return f"{one} {first}" if first == last else f"{several} {first}–{last}"


@dataclass(frozen=True, slots=True)
class Converted:
    """What a converter makes of a file: text with structure, and where its pages begin.

    ``text`` uses ``\\n`` line ends. ``markdown`` is false for plain text, which has no headings to parse.
    ``pages`` is empty for formats without pages. ``metadata`` holds the file's own properties (title,
    author, dates) as JSON values.
    """

    text: str
    markdown: bool = True
    pages: tuple[PageStart, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


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
