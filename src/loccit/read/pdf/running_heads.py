"""Running heads, feet and page numbers: lines that recur at the same position on page after page.

Numbers are dropped; the words of running heads, and text in another direction, stay with their page, but never where
they would cut a sentence in two: they become one paragraph in brackets before the first block that begins on the page,
after whatever continues from the previous page. On the first page they come last, since a document begins with its
title.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, pairwise

from loccit.read.pdf.candidates import find_label
from loccit.read.pdf.page import HYPHEN, Line, PageText, Style
from loccit.read.pdf.paragraphs import Block, Paragraph

_DIGITS = re.compile(r"\d+")
_NUMBER_ONLY = re.compile(r"\W*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/|\|)\s*\d{1,4})?\W*$", re.I)
_WORDS = re.compile(r"[^\W\d_]{4}")
_ZONE = 0.16
_OUTERMOST = 4
_SAME_ROW = 3
_NEXT = 2
"""Pages to the next one of the same side."""
_STEPS = (-2, -1, 1, 2)
_APART = re.compile(r"(?:^|[|•·–—]\s?|\bpage )(\d{1,4})$|^(?=\d{1,4}\s?[|•·–—])(\d+)", re.I)
_LEAST, _NUMBERED = 3, 0.3
"""The pages, and the share of them, that are numbered alike, or have something in one place, if it is no text."""
_AGAIN = 0.6
"""The share of the pages with something in a place on which it has what stands there on others, too."""


def set_running_heads_aside(pages: list[PageText]) -> None:
    """Take running heads and feet out of the text of every page."""
    if len(pages) < 2:
        return
    needed = 2 if len(pages) <= 4 else 3
    groups: dict[tuple[str, int], list[Line]] = defaultdict(list)
    edge: set[int] = set()
    for page in pages:
        for row, line in chain(*_edges(page)):
            groups[_key(line, page)].append(line)
            if row == 1:
                edge.add(id(line))
    gone = _beside_page_numbers(pages)
    for (text, height), lines in groups.items():
        near = lines + groups.get((text, height - 1), []) + groups.get((text, height + 1), [])
        gone.update(id(line) for line in _repeated(text, lines, near, needed, edge))
    gone.update(_in_their_places(pages, gone))
    for page in pages:
        if any(id(line) in gone for line in page.lines):
            gone -= _beside_titles(page, gone)
            heads = [line for line in page.lines if id(line) in gone and _WORDS.search(line.text)]
            page.aside[:0] = [line.text for line in sorted(heads, key=lambda line: line.base)]
            page.lines = [line for line in page.lines if id(line) not in gone]


def _beside_titles(page: PageText, gone: set[int]) -> set[int]:
    """Numbers that stand in front of text that stays: those of headings at the top of a page."""
    staying = [line for line in page.lines if id(line) not in gone]
    return {
        id(line)
        for line in page.lines
        if id(line) in gone and _NUMBER_ONLY.match(line.text)
        if any(abs(other.base - line.base) <= _SAME_ROW and other.x0 > line.x1 for other in staying)
    }


def _in_their_places(pages: list[PageText], gone: set[int]) -> set[int]:
    """What stands at the height and in the type of running heads: the section that a page is in.

    Such a place is filled on page after page, mostly with words that stand there again, and no text is outside it.
    """
    found: set[int] = set()
    outermost = [(page, edge) for page in pages for edge in _edges(page)]
    for row in range(1, _OUTERMOST + 1):
        places: dict[tuple[int, Style], dict[int, list[Line]]] = defaultdict(lambda: defaultdict(list))
        for page, edge in outermost:
            for line in (line for at, line in edge if at == row):
                places[_height(line, page), line.style][page.number].append(line)
        for filled in places.values():
            words = [i for lines in filled.values() for i in lines if _WORDS.search(i.text)]
            near = {(i.text, i.page + step) for i in words for step in _STEPS}
            again = len({i.page for i in words if (i.text, i.page) in near or id(i) in gone})
            if len(filled) >= max(_LEAST, _NUMBERED * len(pages)) and again >= _AGAIN * len(filled):
                found.update(id(line) for lines in filled.values() for line in lines)
        outermost = [
            (page, edge)
            for page, edge in outermost
            if all(id(line) in gone or id(line) in found for at, line in edge if at == row)
        ]
    return found


def _beside_page_numbers(pages: list[PageText]) -> set[int]:
    """The lines of a page's first or last row, if its number is set apart in it, whatever else it says."""
    numbered: dict[int, list[list[Line]]] = defaultdict(list)
    for page in pages:
        ordered = sorted(page.lines, key=lambda line: line.base)
        for edge in ordered[:1] + ordered[-1:]:
            row = _row(page, edge.base)
            for number in {"".join(found) for line in row for found in _APART.findall(line.text)}:
                numbered[int(number) - page.number].append(row)
    return _if_usual(max(numbered.values(), key=len, default=[]), pages)


def _row(page: PageText, base: float) -> list[Line]:
    return [line for line in page.lines if abs(line.base - base) <= _SAME_ROW]


def _if_usual(rows: list[list[Line]], pages: list[PageText]) -> set[int]:
    """The lines of rows that enough pages have."""
    usual = len(rows) >= max(_LEAST, _NUMBERED * len(pages))
    return {id(line) for row in rows for line in row} if usual else set()


def _repeated(text: str, lines: list[Line], near: list[Line], needed: int, edge: set[int]) -> list[Line]:
    """Which lines with the same text (except for digits) at the same height are running heads or feet."""
    found = sorted({line.page for line in near})
    if len(found) < 2 or (text != "#" and all(b - a > _NEXT for a, b in pairwise(found))):
        # `Article 1` may begin a page in every chapter.
        return []
    if text != "#" and len(found) < needed:
        # On two consecutive pages, or two of one side, even a short chapter's running head shows.
        same = len({line.text for line in near}) == 1 and all(id(line) in edge for line in near)
        return lines if same and found[-1] - found[0] <= _NEXT else []
    literal = Counter(line.text for line in near)
    if "#" not in text or text == "#" or _counts_pages(near):
        return lines
    # Numbers that do not follow the pages are content, such as `Goal 3` at the top of several pages.
    return [line for line in lines if literal[line.text] >= needed]


def _counts_pages(lines: list[Line]) -> bool:
    """Whether one of the numbers in the lines increases with the page."""
    numbers = [[int(n) for n in _DIGITS.findall(line.text)] for line in lines]
    for place in range(min(map(len, numbers))):
        offsets = Counter(n[place] - line.page for n, line in zip(numbers, lines, strict=True))
        if offsets.most_common(1)[0][1] >= 0.5 * len(lines):
            return True
    return False


def _edges(page: PageText) -> tuple[list[tuple[int, Line]], list[tuple[int, Line]]]:
    """The first and the last few rows of a page within its margins, counted from its edge."""
    top, bottom = _ZONE * page.height, (1 - _ZONE) * page.height
    high = sorted((line for line in page.lines if line.base < top), key=lambda line: line.base)
    low = sorted((line for line in page.lines if line.base > bottom), key=lambda line: -line.base)
    return _rows(high), _rows(low)


def _rows(lines: list[Line]) -> list[tuple[int, Line]]:
    kept: list[tuple[int, Line]] = []
    rows, last = 0, None
    for line in lines:
        if last is None or abs(line.base - last) > _SAME_ROW:
            rows += 1
            last = line.base
        if rows > _OUTERMOST:
            break
        kept.append((rows, line))
    return kept


def _key(line: Line, page: PageText) -> tuple[str, int]:
    """Text without its digits, and the height on the page. Labels keep theirs: `Chapter 2` is not a page number."""
    text = " ".join(line.text.split())
    if _NUMBER_ONLY.match(text):
        text = "#"
    else:
        label = find_label(text)
        kept = label.length if label is not None and label.kind != "#" else 0
        text = text[:kept] + _DIGITS.sub("#", text[kept:])
    return text.lower(), _height(line, page)


def _height(line: Line, page: PageText) -> int:
    """The distance from the nearer edge of the page."""
    return round((line.base if line.base < page.height / 2 else line.base - page.height) / _SAME_ROW)


def add_asides(blocks: Sequence[Block], pages: Sequence[PageText]) -> list[Block]:
    """The blocks with those of the asides among them."""
    result: list[Block] = []
    waiting = [page for page in pages if page.aside]
    waiting.reverse()
    for block in blocks:
        while waiting and block.page >= max(waiting[-1].number, 1):
            result.append(_paragraph(waiting.pop()))
        result.append(block)
    result.extend(_paragraph(page) for page in reversed(waiting))
    return result


def _paragraph(page: PageText) -> Paragraph:
    text = " · ".join(" ".join(part.split()) for part in page.aside)
    return Paragraph(f"[{text.replace(HYPHEN, '-')}]", page.number)
