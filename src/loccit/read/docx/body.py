"""The blocks of a Word text in reading order: headings, numbered paragraphs, bullets and tables.

Not everything in a heading style is a heading: contracts set whole clauses in heading styles, and begin clauses with a
title of their own (``4.1 **Fees.** Customer will pay``); judgments quote statutes with the styles of their headings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from lxml.etree import _Element, iterwalk

from loccit.read.docx.inline import BOX, DRAWN, InlineReader, chosen_branch, is_contents_control
from loccit.read.docx.markdown import Span, inline, peel, plain, without_turns
from loccit.read.docx.numbering import LEVELS, Mark, Numbering
from loccit.read.docx.package import BODY, MC, Role, Styles, W, child_value, flag, integer, outline_role

# Word allows 63 columns; a larger span is damage.
_MOST_COLUMNS = 63
# A cell that spans rows is repeated in each of them, unless that would fill the table with one long text.
_LONGEST_REPEATED = 80

# Header cells are bold anyway; emphasis marks would only be noise.
_BOLD_CELL = re.compile(r"\*\*([^*]+)\*\*")
_WRAPPERS = frozenset(W + name for name in ("ins", "moveTo", "customXml", "sdtContent", "smartTag"))
# Text longer than this is a clause, whatever its style.
LONGEST_HEADING = 300
# A number and this much text without an end are a clause that continues below.
_LONGEST_NUMBERED = 200
_LONGEST_ENDED = 100
# A sentence this long is not a heading: titles have few long words without a capital.
_SENTENCE_WORDS, _SENTENCE_PLAIN_WORDS = 8, 2
_PLAIN_WORD = 5
_LONGEST_TITLE = 100
# Where so many clauses have a heading style for each heading in it, it is a style of clauses.
_CLAUSES = 4
_SHORT_WORDS = 6
# A number of up to four parts, typed before a title.
_NUMBER = re.compile(r"\**(\d{1,3}(?:\.\d{1,3}){0,3})\.?\**\s+\**(?=[^\W\d_])")
_MOST_WORDS = 12

_CLOSING = "\"'”’»)] "
_ENDS = ".;:,。；：，"
_GOES_ON = re.compile(r"[;,.:] ?(?:and|or|und|oder|et|ou|y|o|e|и|или)$")
# "Fees. Customer will pay": a title, and the sentence that it belongs to.
_RUN_IN = re.compile(r"\w{3}[”\")\]]?[.:] +[“\"(\[]?[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block. ``level`` is a heading's level or a bullet's depth; ``rows`` is for tables only.

    ``pointer`` says that the whole text is a link within the document; ``turns`` are the pages that begin with the
    block. ``paragraphs`` are the file's numbers of the paragraphs that it begins with: one, or one for each row of a
    table. ``styled`` is the level of the heading style of a numbered paragraph, be it a heading or a clause.
    """

    kind: Literal["title", "heading", "paragraph", "bullet", "table"]
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    pointer: bool = False
    turns: str = ""
    paragraphs: tuple[int, ...] = ()
    styled: int = 0


class _Open(NamedTuple):
    """What a paragraph leaves to the next one, because the mark between them is deleted or hidden.

    A deleted mark leaves only its text, and the next paragraph determines the style; a hidden one is a style separator,
    and leaves its role and number.
    """

    spans: list[Span]
    role: Role | None = None
    number: Mark | None = None
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class _Cell:
    blocks: list[Block]
    span: int
    merge: Literal["", "start", "continue"]
    paragraph: int = 0

    @property
    def text(self) -> str:
        return "\n".join(text for block in self.blocks if (text := _flat(block)))


class BodyReader:
    """Turns the children of a body, cell, text box or note into blocks, counting lists on the way."""

    def __init__(self, styles: Styles, numbering: Numbering, inline_reader: InlineReader) -> None:
        self.embedded: int = 0
        self._paragraphs: dict[_Element, int] = {}
        self._styles = styles
        self._numbering = numbering
        self._inline = inline_reader

    def count(self, body: _Element) -> None:
        """Number the paragraphs of a text, including empty ones and those in tables, but not those in boxes."""
        walk = iterwalk(body, events=("start",), tag=(W + "p", BOX))
        for _, element in walk:
            if element.tag == BOX:
                walk.skip_subtree()
            else:
                self._paragraphs[element] = len(self._paragraphs) + 1

    def blocks(self, container: _Element) -> list[Block]:
        """Every block of a container, in order."""
        found: list[Block] = []
        left = _Open([])
        for element in self._elements(container):
            if element.tag == W + "p":
                left = self._paragraph(element, left, found)
            else:
                self._close(left, found)
                left = _Open([])
                found.extend(self._table(element))
        self._close(left, found)
        return found

    def _close(self, left: _Open, found: list[Block]) -> None:
        found.extend(self._block(left.role or BODY, left.spans, left.number, left.paragraph))

    def _block(self, role: Role, spans: list[Span], number: Mark | None, paragraph: int) -> list[Block]:
        """The block for a paragraph, with the pages that begin before its first word."""
        turns = ""
        for at, span in enumerate(spans):
            before, text = peel(span.text)
            turns += before
            if text.strip():
                spans = [replace(span, text=text) if before else span, *spans[at + 1 :]]
                break
        blocks = [replace(block, paragraphs=(paragraph,)) for block in _block(role, spans, number)]
        if not turns:
            return blocks
        if not blocks:
            self._inline.turns = turns + self._inline.turns
            return []
        return [replace(blocks[0], turns=turns), *blocks[1:]]

    def _elements(self, container: _Element) -> Iterator[_Element]:
        """Paragraphs and tables, looking through the wrappers that Word puts around them."""
        for child in container:
            tag = child.tag
            if tag in (W + "p", W + "tbl"):
                yield child
            elif tag in _WRAPPERS or (tag == W + "sdt" and not is_contents_control(child)):
                yield from self._elements(child)
            elif tag == MC + "AlternateContent":
                branch = chosen_branch(child)
                if branch is not None:
                    yield from self._elements(branch)
            elif tag == W + "altChunk":
                self.embedded += 1

    def _paragraph(self, element: _Element, left: _Open, found: list[Block]) -> _Open:
        """Add a paragraph's blocks; return what it leaves if the next paragraph continues it."""
        paragraph = self._paragraphs.get(element, self._inline.paragraph)
        self._inline.paragraph = paragraph
        properties = element.find(W + "pPr")
        style_id = child_value(properties, "pStyle") or self._styles.default
        role = self._styles.role(style_id)
        in_contents = self._inline.in_contents
        spans, boxes = self._inline.read(element, style_id)
        in_contents = in_contents or self._inline.in_contents
        if left.role is None and left.spans:
            left.spans.extend(spans)
            spans, paragraph = left.spans, left.paragraph
        mark = properties.find(W + "rPr") if properties is not None else None
        if mark is not None and (mark.find(W + "del") is not None or mark.find(W + "moveFrom") is not None):
            if left.role:
                self._close(left, found)
            return _Open(spans, paragraph=paragraph)
        visible = any(span.text.strip() for span in spans)
        separated = visible and bool(flag(mark, "vanish"))
        if role.kind != "contents" and (visible or not (in_contents or flag(mark, "vanish"))):
            number = None if _only_ends_section(element, spans) else self._number(properties, style_id)
            outline = child_value(properties, "outlineLvl")
            if outline is not None and role.kind in ("body", "heading"):
                role = outline_role(integer(outline, 9))
            if left.role and visible and number is None and role.kind == "body":
                role, number, spans = left.role, left.number, run_in(left.spans, spans)
                paragraph, separated = left.paragraph, False
            elif left.role:
                self._close(left, found)
            if separated:
                return _Open(spans, role, number, paragraph)
            found.extend(self._block(role, spans, number, paragraph))
        elif left.role:
            self._close(left, found)
        if boxes:
            self._read_boxes(boxes, found)
        return _Open([])

    def _read_boxes(self, boxes: list[_Element], found: list[Block]) -> None:
        """Text boxes are beside the text: they have separate lists and do not turn pages."""
        story, self._numbering.story = self._numbering.story, "boxes"
        paged, self._inline.paged = self._inline.paged, False
        for box in boxes:
            found.extend(self.blocks(box))
        self._numbering.story, self._inline.paged = story, paged

    def _number(self, properties: _Element | None, style_id: str) -> Mark | None:
        """The number or bullet that Word prints before a paragraph."""
        direct = properties.find(W + "numPr") if properties is not None else None
        num_id, level = child_value(direct, "numId"), child_value(direct, "ilvl")
        index = None if level is None else integer(level)
        styled = self._styles.numbering(style_id)
        if index is None and styled is not None:
            # A paragraph that names another list stays on the level of its style.
            index = self._numbering.style_level(styled.num_id, styled.styles)
        if num_id is None:
            if styled is None:
                return None
            num_id = styled.num_id
        if num_id in ("0", ""):
            return None
        mark = self._numbering.advance(num_id, min(max(index or 0, 0), LEVELS - 1))
        if mark is not None and mark.bullet and mark.level == 0:
            return mark._replace(level=self._styles.list_depth(style_id))
        return mark

    def _table(self, element: _Element) -> list[Block]:
        rows = [row for row in self._rows(element) if row]
        if not rows:
            return []
        cells = [cell for row in rows for cell in row]
        # A single cell is a frame around text; a single column with headings is page layout.
        if len(cells) == 1 or (
            all(len(row) == 1 for row in rows) and any(_has_heading(cell) for cell in cells)
        ):
            return [block for cell in cells for block in cell.blocks]
        table = list(_filled(rows))
        texts, paragraphs = tuple(row for row, _ in table), tuple(first for _, first in table)
        return [Block("table", rows=texts, paragraphs=paragraphs)] if table else []

    def _rows(self, table: _Element) -> Iterator[list[_Cell]]:
        for row in _inside(table, "tr"):
            properties = row.find(W + "trPr")
            if properties is not None and properties.find(W + "del") is not None:
                continue
            before = min(max(integer(child_value(properties, "gridBefore")), 0), _MOST_COLUMNS)
            cells = [_Cell([], 1, "")] * before
            for cell in _inside(row, "tc"):
                cell_properties = cell.find(W + "tcPr")
                if cell_properties is not None and cell_properties.find(W + "cellDel") is not None:
                    continue
                span = min(max(integer(child_value(cell_properties, "gridSpan"), 1), 1), _MOST_COLUMNS)
                merge = child_value(cell_properties, "vMerge")
                kind: Literal["", "start", "continue"] = (
                    "" if merge is None else "start" if merge == "restart" else "continue"
                )
                first = (
                    next((self._paragraphs.get(p, 0) for p in cell.iter(W + "p")), 0)
                    or self._inline.paragraph
                )
                cells.append(_Cell(self.blocks(cell), span, kind, first))
            yield cells


def _only_ends_section(paragraph: _Element, spans: list[Span]) -> bool:
    """Whether a paragraph only ends a section, which is never numbered, whatever its style."""
    return (
        not any(span.text for span in spans)
        and paragraph.find(f"{W}pPr/{W}sectPr") is not None
        and next(paragraph.iter(*DRAWN), None) is None
    )


def _inside(parent: _Element, name: str) -> Iterator[_Element]:
    """Rows of a table or cells of a row, including those wrapped in content controls."""
    for child in parent:
        if child.tag == W + name:
            yield child
        elif child.tag in _WRAPPERS or child.tag == W + "sdt":
            yield from _inside(child, name)


def _filled(rows: list[list[_Cell]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Rows of text with a value in every column: spanned columns stay empty, spanned rows repeat.

    Each has the number of its first paragraph.
    """
    above: dict[int, str] = {}
    headed = False
    for row in rows:
        texts: list[str] = []
        for cell in row:
            text = cell.text
            if cell.merge == "continue" and not text:
                text = above.get(len(texts), "")
            elif cell.merge == "start":
                above[len(texts)] = without_turns(text) if len(text) <= _LONGEST_REPEATED else ""
            texts.extend([text, *[""] * (cell.span - 1)])
        if any(texts):
            first = next((cell.paragraph for cell in row if cell.paragraph), 0)
            yield (tuple(texts) if headed else tuple(_BOLD_CELL.sub(r"\1", text) for text in texts)), first
            headed = True


def _block(role: Role, spans: list[Span], number: Mark | None) -> list[Block]:
    if role.kind in ("title", "heading"):
        text = plain(spans)
        label = number.label if number and not number.bullet else ""
        if not text and not (number and number.worded):
            return []
        if role.kind == "title" and len(text) <= LONGEST_HEADING:
            return [Block("title", _labelled(label, text), role.level)]
        if not is_clause(text, bool(label)) and text.count("“") <= text.count("”"):
            return [Block("heading", _labelled(label, text), role.level, styled=role.level if label else 0)]
        if role.kind == "heading" and label:
            return [replace(block, styled=role.level) for block in _text_block(spans, number)]
    if role.kind == "subtitle":
        text = plain(spans)
        label = number.label if number and not number.bullet else ""
        return [Block("paragraph", _labelled(label, f"**{text}**"))] if text else []
    return _text_block(spans, number)


def without_clauses(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with the short clauses of heading styles that number mostly clauses as text: `29. It says:`."""
    levels = Counter((block.styled, block.kind) for block in blocks if block.styled)
    clauses = {
        level for level, kind in levels if levels[level, "paragraph"] > _CLAUSES * levels[level, "heading"]
    }
    return [
        replace(block, kind="paragraph", level=0)
        if block.kind == "heading" and block.styled in clauses and _says(block.text)
        else block
        for block in blocks
    ]


def with_missing(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with the numbered titles that nobody gave a heading style: `2. Dues` before 2.1, or after 1."""
    found = list(blocks)
    numbered = [(at, _counted(block.text)) for at, block in enumerate(blocks) if block.kind == "heading"]
    numbered = [(at, number) for at, number in numbered if number]
    levels = {len(number): blocks[at].level for at, number in reversed(numbered)}
    for (begin, last), (end, following) in pairwise([(-1, ()), *numbered]):
        # Steps are numbered too: of two titles with a number, the one nearer to the next heading counts.
        titles = {
            number: at
            for at, block in enumerate(blocks[begin + 1 : end], begin + 1)
            if block.kind == "paragraph" and (number := _counted(block.text)) and _is_title(block.text)
        }
        for number, at in sorted(titles.items(), key=lambda title: title[1]):
            level = levels.get(len(number))
            if level and _is_next(number, last) and number < following and (last or following[0] == 1):
                found[at] = replace(
                    blocks[at], kind="heading", text=blocks[at].text.replace("*", ""), level=level
                )
                last = number
    return found


def _counted(text: str) -> tuple[int, ...]:
    """The number that a title begins with, and nothing without one."""
    match = _NUMBER.match(text)
    return tuple(map(int, match[1].split("."))) if match else ()


def _is_next(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Whether a number is the one after the last, on its level or another."""
    outer = number[:-1]
    return number == (*last, 1) or (
        len(outer) < len(last) and number == (*last[: len(outer)], last[len(outer)] + 1)
    )


def _is_title(text: str) -> bool:
    words = text.replace("*", "").strip()
    return len(words.split()) <= _MOST_WORDS and words[-1:].isalpha() and "\n" not in words


def _says(text: str) -> bool:
    """Whether a short numbered paragraph is a sentence, or introduces what is quoted below."""
    return text.endswith(":") or (text[-1:] in _ENDS and len(text.split()) > _SHORT_WORDS)


def _text_block(spans: list[Span], number: Mark | None) -> list[Block]:
    text = inline(with_title(spans))
    if not text:
        return []
    pointer = all(span.internal for span in spans if span.text.strip())
    if number is not None and number.bullet:
        return [Block("bullet", text, number.level, pointer=pointer)]
    return [Block("paragraph", _labelled(number.label if number else "", text), pointer=pointer)]


def _labelled(label: str, text: str) -> str:
    """The printed number and the text, unless the author typed the same number as well."""
    bare = text.lstrip("*")
    typed = bare.startswith(label) and not bare[len(label) : len(label) + 1].isalnum()
    return text if not label or typed else f"{label} {text}".rstrip()


def _has_heading(cell: _Cell) -> bool:
    return any(block.kind in ("title", "heading") for block in cell.blocks)


def _flat(block: Block) -> str:
    """A block as text for a table cell."""
    if block.kind == "table":
        return "\n".join(", ".join(text for text in row if text) for row in block.rows)
    return block.turns + (f"• {block.text}" if block.kind == "bullet" else block.text)


def is_clause(text: str, numbered: bool) -> bool:
    """Whether a paragraph in a heading style is text to read rather than the name of what follows.

    Without an automatic number only its length tells: regulations type their numbers, and put a full stop after section
    titles.
    """
    if not numbered:
        return len(text) > LONGEST_HEADING
    if len(text) > _LONGEST_NUMBERED:
        return True
    bare = text.rstrip(_CLOSING)
    if not bare.endswith(tuple(_ENDS)):
        return _GOES_ON.search(bare) is not None
    words = bare.split()
    plain = sum(len(word) >= _PLAIN_WORD and word[0].islower() for word in words)
    return (
        len(text) > _LONGEST_ENDED
        or bare[-1] in ";,；，"
        or (len(words) >= _SENTENCE_WORDS and plain >= _SENTENCE_PLAIN_WORDS)
        or (plain > 0 and _RUN_IN.search(bare) is not None)
    )


def with_title(spans: Sequence[Span]) -> list[Span]:
    """The spans of a paragraph, with emphasis on an underlined title at its beginning."""
    title: list[Span] = []
    for span in spans:
        if any(map(str.isalnum, span.text)) and not span.underlined:
            break
        title.append(span)
    if not 0 < sum(len(span.text) for span in title) <= _LONGEST_TITLE:
        return list(spans)
    return [replace(span, italic=span.italic or span.underlined) for span in title] + list(
        spans[len(title) :]
    )


def run_in(title: Sequence[Span], text: Sequence[Span]) -> list[Span]:
    """A heading and the text on the same line as one paragraph, as a style separator prints them."""
    if not any(span.bold or span.italic or span.underlined for span in title):
        title = [replace(span, bold=True) for span in title]
    return [*title, Span(" "), *text]
