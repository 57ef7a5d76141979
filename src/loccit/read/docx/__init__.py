"""Word files to Markdown, read from their XML.

Titles, headings, Word's automatic numbers, lists, tables and notes are kept; page furniture (headers, footers, tables
of contents) and what is not part of the accepted text (deletions, comments, hidden text) is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from lxml.etree import _Element

from loccit.errors import ConversionError
from loccit.model.document import Converted, LineStart, counts_paragraphs
from loccit.read.bold_lines import with_headings
from loccit.read.docx import markdown
from loccit.read.docx.body import Block, BodyReader, with_missing, without_clauses
from loccit.read.docx.inline import InlineReader, Notes
from loccit.read.docx.markdown import page_starts
from loccit.read.docx.numbering import Numbering
from loccit.read.docx.package import Package, Styles, W, integer
from loccit.read.written import Written

_DEEPEST_HEADING = 6
# One or two links to headings are cross-references; more are a table of contents.
_FEWEST_ENTRIES = 3
# A text with fewer headings is read again for those in bold styles.
_FEWEST_HEADINGS = 3
# Elements of docProps/core.xml, by the name under which they are stored.
_PROPERTIES = {"creator": "author"} | {
    name: name for name in "title subject keywords description created modified language category".split()
}


def convert_docx(path: Path) -> Converted:
    """Convert a ``.docx``, ``.docm`` or ``.dotx`` file.

    Raises :class:`~loccit.errors.ConversionError`, with the reason, for a file that is protected, damaged, hostile or
    without text.
    """
    with Package(path) as package:
        try:
            found = _Conversion(package, path).run()
            if found.text.count("\n#") + found.text.startswith("#") < _FEWEST_HEADINGS:
                # Its headings may have a style of another name.
                styled = _Conversion(package, path, set_off_by_style=True).run()
                return max(found, styled, key=lambda converted: converted.text.count("\n#"))
            return found
        except RecursionError as error:
            raise ConversionError("the document is nested too deeply") from error


class _Conversion:
    """The conversion of one file, from package to Markdown."""

    def __init__(self, package: Package, path: Path, set_off_by_style: bool = False) -> None:
        self._package = package
        self._path = path.name
        self._warnings: list[str] = []
        self._main = package.main_part()
        self._notes_of = {kind: self._read_notes(kind) for kind in ("footnote", "endnote")}
        styles = Styles(self._optional("styles", "styles.xml"))
        self._numbering = Numbering(self._optional("numbering", "numbering.xml"), styles)
        self._notes = Notes({kind: set(found) for kind, (_, found) in self._notes_of.items()})
        self._inline = InlineReader(styles, self._notes, package.links(self._main), set_off_by_style)
        self._body = BodyReader(styles, self._numbering, self._inline)

    def run(self) -> Converted:
        root = self._package.xml(self._main)
        body = root.find(W + "body") if root is not None else None
        if body is None:
            raise ConversionError("the file is not a Word document: it has no body text part")
        self._inline.begin_story(body)
        self._body.count(body)
        parts = [*_rendered(self._body.blocks(body)), *self._note_definitions()]
        text, pages = page_starts("\n\n".join(part.text for part in parts), self._page_count())
        text = with_headings(text)
        if not text.strip():
            raise ConversionError("the document contains no text")
        return Converted(
            text + "\n",
            pages=pages,
            metadata=self._metadata(),
            warnings=(*self._warnings, *self._remarks()),
            line_starts=_paragraph_starts(text, parts) if counts_paragraphs(self._path) else (),
        )

    def _optional(self, kind: str, default: str) -> _Element | None:
        """A part that is optional; damage to it causes a warning, not a failure."""
        try:
            return self._package.xml(self._package.related(self._main, kind, default))
        except ConversionError as error:
            self._warnings.append(f"read without its {kind}: {error}")
            return None

    def _read_notes(self, kind: str) -> tuple[str, dict[str, _Element]]:
        root = self._optional(kind + "s", f"{kind}s.xml")
        part = self._package.related(self._main, kind + "s", f"{kind}s.xml")
        found = root.iterchildren(W + kind) if root is not None else ()
        return part, {
            note.get(W + "id", ""): note for note in found if note.get(W + "type", "normal") == "normal"
        }

    def _note_definitions(self) -> Iterator[_Part]:
        self._numbering.story = "notes"
        self._inline.paged = False
        for (kind, note_id), number in list(self._notes.numbers.items()):
            part, found = self._notes_of[kind]
            self._inline.links = self._package.links(part)
            self._inline.begin_story(found[note_id])
            texts = (_note_text(block) for block in self._body.blocks(found[note_id]))
            yield _part(
                f"[^{number}]: " + "\n".join(text for text in texts if text), self._notes.paragraphs[number]
            )

    def _page_count(self) -> int:
        """The number of pages that the file declares."""
        try:
            root = self._package.xml(self._package.related("", "extended-properties", "docProps/app.xml"))
        except ConversionError:
            root = None
        return integer(root.findtext("{*}Pages")) if root is not None else 0

    def _metadata(self) -> dict[str, str]:
        try:
            root = self._package.xml(self._package.related("", "core-properties", "docProps/core.xml"))
        except ConversionError:
            root = None
        metadata: dict[str, str] = {}
        for element in root if root is not None else ():
            name = _PROPERTIES.get(str(element.tag).rpartition("}")[2])
            value = " ".join((element.text or "").split())
            if name and value:
                metadata.setdefault(name, value)
        return metadata

    def _remarks(self) -> Iterator[str]:
        counts = (
            (self._numbering.missing, "numbering definition missing for {}", "paragraph"),
            (
                self._numbering.damaged,
                "numbering definition damaged: typed numbers kept as they are in {}",
                "paragraph",
            ),
            (self._notes.missing, "note missing for {}", "reference"),
            (self._inline.pictures, "{} left out", "picture"),
            (self._body.embedded, "{} left out", "embedded document"),
        )
        for count, sentence, noun in counts:
            if count:
                yield sentence.format(f"{count} {noun}{'' if count == 1 else 's'}")


class _Part(NamedTuple):
    """Markdown, with the paragraph of the file that each line came from."""

    text: str
    paragraphs: list[int]


def _part(text: str, paragraph: int) -> _Part:
    return _Part(text, [paragraph] * (text.count("\n") + 1))


def _paragraph_starts(text: str, parts: list[_Part]) -> tuple[LineStart, ...]:
    """The lines of a Word file are its paragraphs, which become separate lines with blank ones between them."""
    numbers = [number for part in parts for number in (*part.paragraphs, part.paragraphs[-1])]
    written = Written()
    for line, number in zip(text.split("\n"), numbers, strict=False):
        written.add(number, line)
    return written.result().line_starts


def _rendered(blocks: list[Block]) -> Iterator[_Part]:
    """The Markdown of each block; items of one list are adjacent."""
    blocks = _one_title(_without_contents(with_missing(without_clauses(blocks))))
    shift = _shift(blocks)
    items: list[_Part] = []
    open_levels: list[int] = []
    for block in blocks:
        if block.kind == "bullet":
            while open_levels and open_levels[-1] >= block.level:
                open_levels.pop()
            # Depth follows the items above, not Word's level: four spaces without a parent would be code.
            text = markdown.bullet(len(open_levels), block.text)
            items.append(_part(block.turns + text, block.paragraphs[0]))
            open_levels.append(block.level)
            continue
        if items:
            yield _list(items)
            items, open_levels = [], []
        text = block.turns + _written(block, shift)
        if block.kind == "table":
            # The rule below the header exists in Markdown only.
            yield _Part(text, [block.paragraphs[0], *block.paragraphs])
        else:
            yield _part(text, block.paragraphs[0])
    if items:
        yield _list(items)


def _list(items: list[_Part]) -> _Part:
    return _Part(
        "\n".join(item.text for item in items), [number for item in items for number in item.paragraphs]
    )


def _written(block: Block, shift: int) -> str:
    if block.kind == "title":
        return markdown.heading(1, block.text)
    if block.kind == "heading":
        return markdown.heading(min(block.level + shift, _DEEPEST_HEADING), block.text)
    return markdown.table(block.rows) if block.kind == "table" else markdown.block(block.text)


def _without_contents(blocks: list[Block]) -> list[Block]:
    """Drop tables of contents made by hand: runs of lines that only link to headings and repeat them."""
    headings = {block.text.casefold() for block in blocks if block.kind in ("title", "heading")}
    kept: list[Block] = []
    turns = ""
    for pointer, run in groupby(blocks, key=lambda block: block.pointer):
        lines = list(run)
        known = sum(block.text.casefold() in headings for block in lines) if pointer else 0
        if known >= _FEWEST_ENTRIES and known >= len(lines) / 2:
            turns += "".join(block.turns for block in lines)
            continue
        kept.append(replace(lines[0], turns=turns + lines[0].turns) if turns else lines[0])
        kept.extend(lines[1:])
        turns = ""
    return kept


def _one_title(blocks: list[Block]) -> list[Block]:
    """Join a title set as several paragraphs."""
    joined: list[Block] = []
    for title, run in groupby(blocks, key=lambda block: block.kind == "title"):
        first, *others = run
        if title and others:
            text = " ".join((first.text, *(other.turns + other.text for other in others)))
            joined.append(replace(first, text=text))
        else:
            joined += [first, *others]
    return joined


def _shift(blocks: list[Block]) -> int:
    """1 if headings belong below a title and there is room for all of them, else 0."""
    leading = next((block for block in blocks if block.kind in ("title", "heading")), None)
    deepest = max((block.level for block in blocks if block.kind == "heading"), default=0)
    return int(leading is not None and leading.kind == "title" and deepest < _DEEPEST_HEADING)


def _note_text(block: Block) -> str:
    if block.kind == "table":
        return "\n".join(markdown.block(", ".join(text for text in row if text)) for row in block.rows)
    return markdown.block(block.text)
