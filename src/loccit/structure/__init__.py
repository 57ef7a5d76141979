"""Parse: converted text becomes a tree of sections and a list of blocks, with their positions.

The tree comes from a CommonMark parser, never from patterns over raw text, so a ``#`` in a code fence is not a heading.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyromark

from loccit.grammar.labels import Label
from loccit.grammar.text.markdown import OPTIONS, char_offsets
from loccit.model import Converted, Lines, LineStart, Link, Pages, PageStart
from loccit.structure.frontmatter import split_frontmatter
from loccit.structure.quotations import quotations

if TYPE_CHECKING:
    from loccit.structure.places.mentions import Entry, Mentions
    from loccit.structure.places.series import Beginning

# `<a name="scope"></a>` on a separate line, which is invisible.
_ANCHORS = re.compile(r"(?:<a\s[^<>]{1,200}>\s?</a>\s*\n\s*)+")
_BLOCK_KINDS = dict.fromkeys(
    ("Paragraph", "HtmlBlock", "Item", "BlockQuote", "FootnoteDefinition", "List"), "text"
) | {"CodeBlock": "code", "Table": "table"}
_ASIDES = frozenset({"BlockQuote", "FootnoteDefinition"})
_MAX_HEADING = 500
_WRITTEN = re.compile(r"\d{1,9}")
_MAX_LINK_WORDS = 100
_BLANK = re.compile(r"(?:\A|\n)(?:[^\S\n]*\n)+")

# Attributes after a heading, `{#id .class key=value}`; not the parameter of `GET /jobs/{id}`, which belongs
# to it.
_ATTRIBUTES = re.compile(r"\s*\{(?:[#.][^{}]*|[^{}=]+=[^{}]*)\}\s*\Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as written: where its line starts and where the text after it begins.

    ``label`` and ``title`` are set if they were read from the text; otherwise they are read from the heading.
    """

    level: int
    text: str
    start: int
    body: int
    label: Label | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a text that is better kept whole. ``header_end`` is where a table's first data row begins."""

    kind: str
    start: int
    end: int
    header_end: int = 0


@dataclass(slots=True)
class Parsed:
    """The structure of one text.

    ``blocks`` tile it from ``body_start`` to its end; ``items`` has the numbers shown for the items of numbered lists,
    outermost first, by the start of their line; ``contents`` are the lines of its contents pages, ``mentions`` what it
    says about its own numbers, ``series`` the lines that are in order, by their starts, ``quoted`` the spans that it
    quotes at length.
    """

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
    items: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    contents: Sequence[Entry] = ()
    mentions: Mentions | None = None
    series: Mapping[int, Beginning] = field(default_factory=dict)
    quoted: Sequence[tuple[int, int]] = ()
    title: str = ""
    line_starts: tuple[LineStart, ...] = ()


class Positions:
    """Converts offsets in a text to lines of the file and pages."""

    def __init__(
        self, text: str, pages: tuple[PageStart, ...], line_starts: tuple[LineStart, ...] = ()
    ) -> None:
        self._line_starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._line_starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._text = text
        self._page_offsets = [page.offset for page in pages]
        self._pages = pages
        self._source_offsets = [start.offset for start in line_starts]
        # At each of these offsets: the line of the file minus the line of the text.
        self._source_shifts = [start.line - self._text_line(start.offset) for start in line_starts]

    def _text_line(self, offset: int) -> int:
        return bisect_right(self._line_starts, offset)

    def line(self, offset: int) -> int:
        """Return the line of the file at an offset, counted from 1."""
        place = bisect_right(self._source_offsets, offset)
        return self._text_line(offset) + (self._source_shifts[place - 1] if place else 0)

    def line_start(self, offset: int) -> int:
        """Return the start of the line that contains an offset."""
        return self._line_starts[self._text_line(offset) - 1]

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        """Strip white space at both ends, and leading anchors: a citation names the lines with text."""
        piece = self._text[start:end]
        stripped = piece.strip()
        if not stripped:
            return start, max(start, end - 1)
        lead = len(piece) - len(piece.lstrip())
        last = start + lead + len(stripped) - 1
        anchors = _ANCHORS.match(stripped) if stripped[0] == "<" else None
        if anchors and anchors.end() < len(stripped):
            lead += anchors.end()
        return start + lead, last

    def lines(self, start: int, end: int) -> Lines:
        """Return the lines that a span covers."""
        first, last = self._trim(start, end)
        # Text moved during conversion may end above the line it began on.
        return Lines(self.line(first), max(self.line(first), self.line(last)))

    def pages(self, start: int, end: int) -> Pages | None:
        """Return the pages that a span covers, if the format has pages."""
        if not self._pages:
            return None
        first, last = self._trim(start, end)
        return Pages(self._page(first), self._page(last))

    def _page(self, offset: int) -> int:
        return self._pages[max(0, bisect_right(self._page_offsets, offset) - 1)].page


def parse(converted: Converted) -> Parsed:
    """Find the headings, blocks and links of a converted text."""
    text = converted.text
    position = Positions(text, converted.pages, converted.line_starts)
    front, body_start, warning = split_frontmatter(text) if converted.markdown else ({}, 0, "")
    if converted.markdown and text[body_start:].strip():
        headings, blocks, links, items = _read_markdown(text, body_start, position)
    else:
        # A note that is all frontmatter should still be found: the frontmatter is its text.
        headings, blocks, links, items, body_start = [], _paragraphs(text), [], {}, 0
    return Parsed(
        text=text,
        body_start=body_start,
        headings=headings,
        blocks=blocks,
        links=links,
        metadata={**converted.metadata, **front},
        frontmatter=front,
        pages=converted.pages,
        warnings=[*converted.warnings, *filter(None, [warning])],
        position=position,
        items=items,
        quoted=quotations(text, body_start, [heading.start for heading in headings]),
        title=converted.title,
        line_starts=converted.line_starts,
    )


def _paragraphs(text: str) -> list[Block]:
    """Blocks of plain text, separated by blank lines."""
    last = len(text.rstrip())
    starts = [match.end() for match in _BLANK.finditer(text) if match.end() < last]
    return tile([(start, "text", 0) for start in starts], 0, len(text))


def tile(starts: list[tuple[int, str, int]], begin: int, end: int) -> list[Block]:
    """Make blocks from starting points: each extends to the next, the first from the very beginning."""
    unique: dict[int, tuple[str, int]] = {}
    for start, kind, header_end in starts:
        # A list, its first item and a paragraph may start at the same offset; a table or code block wins.
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


def _read_markdown(
    text: str, base: int, position: Positions
) -> tuple[list[Heading], list[Block], list[Link], dict[int, tuple[str, ...]]]:
    body = text[base:]
    reader = _Reader(text, base, position, char_offsets(body))
    for event, span in pyromark.events_with_range(body, options=OPTIONS):
        reader.read(event, span)
    headings = sorted(reader.headings, key=lambda heading: heading.start)
    # What follows a heading on new ground starts a block of its own.
    starts = reader.starts + [(heading.body, "text", 0) for heading in headings]
    return headings, tile(starts, base, len(text)), reader.links, reader.items


def _name(tag: Any) -> str:
    return tag if isinstance(tag, str) else next(iter(tag))


class _Reader:
    """State of one pass over the parser's events."""

    def __init__(self, text: str, base: int, position: Positions, char: Callable[[int], int]) -> None:
        self.headings: list[Heading] = []
        self.starts: list[tuple[int, str, int]] = []
        self.links: list[Link] = []
        self.items: dict[int, tuple[str, ...]] = {}
        self._text = text
        self._base = base
        self._position = position
        self._char = char
        # Open quotes and footnotes: their headings are not the document's own.
        self._asides = 0
        # The number of the current item of each open list, and that of its first; None in a list without numbers.
        self._lists: list[int | None] = []
        self._firsts: list[int] = []
        self._heading: tuple[int, int, int] | None = None
        self._open_links: list[tuple[str, Any, int, int, int]] = []
        self._words: list[str] = []
        self._table = 0

    def read(self, event: Any, span: Any) -> None:
        """Process one event."""
        if isinstance(event, str):
            if event == "Rule":
                self.starts.append((self._line_start(span), "text", 0))
            elif event in ("SoftBreak", "HardBreak"):
                self._add_words(" ")
            return
        kind, value = next(iter(event.items()))
        if kind in ("Text", "Code"):
            self._add_words(value)
        elif (
            kind == "InlineHtml"
            and value[:4].lower() == "<sup"
            and self._words[-1:]
            and self._words[-1][-1].isdigit()
        ):
            self._add_words("^")
        elif kind == "Start":
            name = _name(value)
            self._open(name, None if name == value else value[name], span)
        elif kind == "End":
            self._close(_name(value))

    def _open(self, name: str, detail: Any, span: Any) -> None:
        if name in _BLOCK_KINDS:
            self.starts.append((self._line_start(span), _BLOCK_KINDS[name], 0))
        if name in _ASIDES:
            self._asides += 1
        elif name == "List":
            self._lists.append(None if detail is None else int(detail) - 1)
            self._firsts.append(int(detail or 0))
        elif name == "Item":
            self._count(self._offset(span["start"]))
        elif name == "Heading":
            self._heading = (int(detail["level"][1]), self._line_start(span), self._offset(span["end"]))
            self._words.clear()
        elif name == "HtmlBlock" and not self._asides:
            self._html_headings(self._offset(span["start"]), self._offset(span["end"]))
        elif name == "Table":
            self._table = len(self.starts)
        elif name == "TableRow" and self._table:
            start, kind, _ = self.starts[self._table - 1]
            self.starts[self._table - 1] = (start, kind, self._line_start(span))
            self._table = 0
        elif name in ("Link", "Image"):
            if not self._heading and not self._open_links:
                self._words.clear()
            self._open_links.append(
                (name, detail, self._offset(span["start"]), self._offset(span["end"]), len(self._words))
            )

    def _close(self, name: str) -> None:
        if name in _ASIDES:
            self._asides -= 1
        elif name == "List":
            self._lists.pop()
            self._firsts.pop()
        elif name == "Heading" and self._heading:
            if not self._asides:
                self._add_heading(_ATTRIBUTES.sub("", "".join(self._words)), *self._heading)
            self._heading = None
        elif name in ("Link", "Image"):
            name, detail, start, end, first = self._open_links.pop()
            words = "".join(self._words[first : first + _MAX_LINK_WORDS])
            self.links.append(Link(detail["dest_url"], words, _link_kind(name, detail), start, end))

    def _count(self, start: int) -> None:
        """Number an item as it is shown: one more than the last, or as written if that is more (repealed ones).

        What is less than the first goes on from before the list: the first ones are those of a quotation, for instance.
        """
        last = self._lists[-1]
        if last is None:
            return
        written = _WRITTEN.match(self._text, start)
        number = int(written[0]) if written else last + 1
        if number < self._firsts[-1]:
            self._firsts[-1] = number
            self._lists[-1] = number
        else:
            self._lists[-1] = max(last + 1, number)
        numbers = [str(number) for number in self._lists if number is not None]
        if len(numbers) == len(self._lists) and not self._asides:
            self.items.setdefault(self._position.line_start(start), tuple(numbers))

    def _add_words(self, words: str) -> None:
        if self._heading or self._open_links:
            self._words.append(words)

    def _add_heading(self, words: str, level: int, start: int, end: int) -> None:
        if words := " ".join(words.split())[:_MAX_HEADING].strip():
            self.headings.append(Heading(level, words, start, end))
            self.starts.append((start, "heading", 0))

    def _html_headings(self, start: int, end: int) -> None:
        block = self._text[start:end]
        for level, words, first, last in html_headings(block):
            # A heading begins with its line unless something else is there.
            line = max(self._base, self._position.line_start(start + first))
            before = self._text[line : start + first]
            self._add_heading(
                words, level, line if not before.strip(" \t-*+>") else start + first, start + last
            )

    def _offset(self, byte: int) -> int:
        return self._base + self._char(byte)

    def _line_start(self, span: Any) -> int:
        """Where the line of a block begins: only list and quote markers may precede it."""
        return max(self._base, self._position.line_start(self._offset(span["start"])))


def _link_kind(name: str, detail: Any) -> str:
    wiki = isinstance(detail["link_type"], dict) and "WikiLink" in detail["link_type"]
    if name == "Image":
        return "transclusion" if wiki else "image"
    return "wiki" if wiki else "markdown"


# What begins and does not end hides the rest, and a heading ends where another begins, so that hostile text cannot make
# scanning start over.
_HTML = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<hidden>pre|script|style|textarea)\b(?:.*?</(?P=hidden)\s*>|.*)"
    r"""|<h(?P<level>[1-6])(?:\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*)?>"""
    r"(?P<words>[^<]*(?:<(?!h[1-6][\s>]|/h[1-6]\s*>)[^<]*)*)</h(?P=level)\s*>",
    re.IGNORECASE | re.DOTALL,
)
_ANY_TAG = re.compile(r"<[^<>]*>")


def _left(tag: re.Match[str]) -> str:
    """What a tag leaves of itself in a heading: a number that is raised behind another is not one with it."""
    name = tag.group()[:4].lower()
    if name[:3] == "<br":
        return " "
    return "^" if name == "<sup" and tag.string[tag.start() - 1 : tag.start()].isdigit() else ""


def html_headings(block: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, words, start and end of headings in raw HTML; comments, scripts and ``pre`` have none."""
    for match in _HTML.finditer(block):
        if match["level"]:
            words = _ANY_TAG.sub(_left, match["words"])
            yield int(match["level"]), html.unescape(words), *match.span()
