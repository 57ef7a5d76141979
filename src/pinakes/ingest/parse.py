"""Parse: converted text becomes a tree of sections and a list of blocks, with their places.

The tree comes from a CommonMark parser, never from patterns over raw text, so that a ``#`` in a code fence
stays what it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyromark

from pinakes.ingest.frontmatter import split_frontmatter
from pinakes.model import Converted, Lines, Link, Pages, PageStart

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_HEADING_ATTRIBUTES
    | pyromark.Options.ENABLE_WIKILINKS
)
_BLOCK_STARTS = frozenset({"Paragraph", "HtmlBlock", "Item", "BlockQuote", "FootnoteDefinition", "List"})
_MAX_HEADING = 500


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as written: where its line starts and where the text after it begins."""

    level: int
    text: str
    start: int
    body: int


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text that is better kept whole. ``header_end`` is where a table's first data row begins."""

    kind: str
    start: int
    end: int
    header_end: int = 0


@dataclass(slots=True)
class Parsed:
    """The structure of one text. ``blocks`` tile it from ``body_start`` to its end."""

    text: str
    body_start: int
    headings: list[Heading]
    blocks: list[Block]
    links: list[Link]
    metadata: dict[str, Any]
    frontmatter: dict[str, Any]
    pages: tuple[PageStart, ...]
    warnings: list[str]
    position: Positions


class Positions:
    """Turns offsets of a text into lines and pages."""

    def __init__(self, text: str, pages: tuple[PageStart, ...]) -> None:
        self._line_starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._line_starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._text = text
        self._page_offsets = [page.offset for page in pages]
        self._pages = pages

    def line(self, offset: int) -> int:
        """Return the line of an offset, counted from 1."""
        return bisect_right(self._line_starts, offset)

    def line_start(self, offset: int) -> int:
        """Return where the line of an offset begins."""
        return self._line_starts[self.line(offset) - 1]

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        """Leave off white space at both ends: a citation names the lines with text."""
        piece = self._text[start:end]
        stripped = piece.strip()
        if not stripped:
            return start, max(start, end - 1)
        lead = len(piece) - len(piece.lstrip())
        return start + lead, start + lead + len(stripped) - 1

    def lines(self, start: int, end: int) -> Lines:
        """Return the lines that a span of text touches."""
        first, last = self._trim(start, end)
        return Lines(self.line(first), self.line(last))

    def pages(self, start: int, end: int) -> Pages | None:
        """Return the pages that a span of text touches, when the format has pages."""
        if not self._pages:
            return None
        first, last = self._trim(start, end)
        return Pages(self._page(first), self._page(last))

    def _page(self, offset: int) -> int:
        return self._pages[max(0, bisect_right(self._page_offsets, offset) - 1)].page


def parse(converted: Converted) -> Parsed:
    """Find the headings, blocks and links of a converted text."""
    text = converted.text
    warnings = list(converted.warnings)
    front: dict[str, Any] = {}
    body_start = 0
    headings: list[Heading] = []
    blocks: list[Block]
    links: list[Link] = []
    position = Positions(text, converted.pages)
    if converted.markdown:
        front, body_start, warning = split_frontmatter(text)
        if warning:
            warnings.append(warning)
        if text[body_start:].strip():
            headings, blocks, links = _read_markdown(text, body_start, position)
        else:
            # A note that is all frontmatter is still worth finding: the frontmatter is its text.
            body_start, blocks = 0, _paragraphs(text)
    else:
        blocks = _paragraphs(text)
    return Parsed(
        text=text,
        body_start=body_start,
        headings=headings,
        blocks=blocks,
        links=links,
        metadata={**converted.metadata, **front},
        frontmatter=front,
        pages=converted.pages,
        warnings=warnings,
        position=position,
    )


def _paragraphs(text: str) -> list[Block]:
    """Blocks of plain text: what blank lines separate."""
    starts, position, blank = [0], 0, False
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end + 1
        if not text[position:end].strip():
            blank = True
        elif blank:
            starts.append(position)
            blank = False
        position = end
    return _tile([(start, "text", 0) for start in starts], 0, len(text))


def _tile(starts: list[tuple[int, str, int]], begin: int, end: int) -> list[Block]:
    """Make blocks of starting points: each reaches to the next, the first from the very beginning."""
    unique: dict[int, tuple[str, int]] = {}
    for start, kind, header_end in starts:
        # The same place may start a list, its first item and a paragraph; a table or code block wins.
        if start not in unique or kind != "text":
            unique[start] = (kind, header_end)
    if begin >= end:
        return []
    unique.setdefault(begin, ("text", 0))
    ordered = sorted(item for item in unique.items() if begin <= item[0] < end)
    stops = [item[0] for item in ordered[1:]] + [end]
    return [
        Block(kind, start, stop, header_end)
        for (start, (kind, header_end)), stop in zip(ordered, stops, strict=True)
    ]


def _char_offsets(body: str) -> Callable[[int], int]:
    """Return a function from UTF-8 byte offsets, which the parser counts, to character offsets."""
    if body.isascii():
        return lambda offset: offset
    data = np.frombuffer(body.encode(), dtype=np.uint8)
    starts = np.concatenate(([0], np.cumsum((data & 0xC0) != 0x80)))
    return lambda offset: int(starts[offset])


@dataclass(slots=True)
class _Reader:
    """State of one pass over the parser's events."""

    text: str
    base: int
    position: Positions
    char: Callable[[int], int]
    headings: list[Heading] = field(default_factory=list)
    starts: list[tuple[int, str, int]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def offset(self, byte: int) -> int:
        return self.base + self.char(byte)

    def block_start(self, offset: int) -> int:
        """Begin a block with its line when only list marks or white space stand before it."""
        line = self.position.line_start(offset)
        return line if line >= self.base and not any(c.isalnum() for c in self.text[line:offset]) else offset

    def add_heading(self, level: int, words: str, start: int, end: int) -> None:
        words = " ".join(words.split())[:_MAX_HEADING].strip()
        if not words:
            return
        start = self.block_start(start)
        self.headings.append(Heading(level, words, start, end))
        self.starts.append((start, "heading", 0))


def _read_markdown(
    text: str, base: int, position: Positions
) -> tuple[list[Heading], list[Block], list[Link]]:
    body = text[base:]
    reader = _Reader(text, base, position, _char_offsets(body))
    events = pyromark.events_with_range(body, options=_OPTIONS)
    quoted = 0
    for event, span in events:
        if not isinstance(event, dict):
            if event == "Rule":
                reader.starts.append((reader.offset(span["start"]), "text", 0))
            continue
        start_tag = event.get("Start")
        if start_tag is None:
            if "End" in event and isinstance(event["End"], dict) and "BlockQuote" in event["End"]:
                quoted -= 1
            continue
        name, detail = _tag(start_tag)
        start, end = reader.offset(span["start"]), reader.offset(span["end"])
        if name == "Heading":
            words = _inline_text(events, reader)
            if not quoted:
                reader.add_heading(int(detail["level"][1]), words, start, end)
        elif name == "CodeBlock":
            reader.starts.append((reader.block_start(start), "code", 0))
            _skip_to_end(events, "CodeBlock")
        elif name == "Table":
            reader.starts.append((reader.block_start(start), "table", _first_row(events, reader)))
        elif name == "HtmlBlock":
            reader.starts.append((reader.block_start(start), "text", 0))
            if not quoted:
                _html_headings(text[start:end], start, reader)
        elif name in ("Link", "Image"):
            _read_link(name, detail, events, reader, start, end)
        elif name in _BLOCK_STARTS:
            quoted += name == "BlockQuote"
            reader.starts.append((reader.block_start(start), "text", 0))
    reader.headings.sort(key=lambda heading: heading.start)
    # What follows a heading on new ground starts a block of its own.
    reader.starts += [(heading.body, "text", 0) for heading in reader.headings]
    return reader.headings, _tile(reader.starts, base, len(text)), reader.links


def _tag(tag: Any) -> tuple[str, Any]:
    if isinstance(tag, str):
        return tag, None
    name, detail = next(iter(tag.items()))
    return name, detail


def _inline_text(events: Iterator[Any], reader: _Reader) -> str:
    """Read up to the end of a heading, and return its words without markup."""
    words: list[str] = []
    depth = 0
    for event, span in events:
        if isinstance(event, str):
            words.append(" " if event in ("SoftBreak", "HardBreak") else "")
        elif "Text" in event or "Code" in event:
            words.append(event.get("Text", event.get("Code", "")))
        elif "Start" in event:
            name, detail = _tag(event["Start"])
            depth += 1
            if name == "Link":
                reader.links.append(
                    Link(detail["dest_url"], "", _link_kind(name, detail), *_span(reader, span))
                )
        elif "End" in event:
            if depth == 0:
                break
            depth -= 1
    return "".join(words)


def _span(reader: _Reader, span: Any) -> tuple[int, int]:
    return reader.offset(span["start"]), reader.offset(span["end"])


def _link_kind(name: str, detail: Any) -> str:
    wiki = isinstance(detail["link_type"], dict) and "WikiLink" in detail["link_type"]
    if name == "Image":
        return "transclusion" if wiki else "image"
    return "wiki" if wiki else "markdown"


def _read_link(name: str, detail: Any, events: Iterator[Any], reader: _Reader, start: int, end: int) -> None:
    words: list[str] = []
    depth = 0
    for event, _ in events:
        if isinstance(event, dict):
            if "Text" in event or "Code" in event:
                words.append(str(event.get("Text", event.get("Code", ""))))
            elif "Start" in event:
                depth += 1
            elif "End" in event:
                if depth == 0:
                    break
                depth -= 1
    reader.links.append(Link(detail["dest_url"], "".join(words), _link_kind(name, detail), start, end))


def _skip_to_end(events: Iterator[Any], name: str) -> None:
    for event, _ in events:
        if isinstance(event, dict) and event.get("End") == name:
            return


def _first_row(events: Iterator[Any], reader: _Reader) -> int:
    """Read a table to its end; return where its first data row begins, or 0 when it has none."""
    first = 0
    for event, span in events:
        if not isinstance(event, dict):
            continue
        if event.get("Start") == "TableRow" and not first:
            first = reader.offset(span["start"])
        elif event.get("End") == "Table":
            break
        elif "Start" in event and isinstance(event["Start"], dict):
            name, detail = _tag(event["Start"])
            if name == "Link":
                reader.links.append(
                    Link(detail["dest_url"], "", _link_kind(name, detail), *_span(reader, span))
                )
    return first


class _HtmlHeadings(HTMLParser):
    """Collects h1 to h6 of a raw HTML block, with offsets."""

    def __init__(self, block: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[int, str, int, int]] = []
        self._open: tuple[int, int, list[str]] | None = None
        self._lines = [0]
        for line in block.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def _here(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._open = (int(tag[1]), self._here(), [])

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[2].append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._open and tag == f"h{self._open[0]}":
            level, start, words = self._open
            self.found.append((level, "".join(words), start, self._here() + len(tag) + 3))
            self._open = None


def _html_headings(block: str, base: int, reader: _Reader) -> None:
    if "<h" not in block and "<H" not in block:
        return
    parser = _HtmlHeadings(block)
    parser.feed(block)
    parser.close()
    for level, words, start, end in parser.found:
        reader.add_heading(level, words, base + start, base + min(end, len(block)))
