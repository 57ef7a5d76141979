"""Read a page: its words, grouped into styled spans and lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from loccit.read.pdf import native
from loccit.read.pdf.letters import is_leftward, mirror_rules, mirror_words
from loccit.read.pdf.line_numbers import number_lines, part_line_numbers
from loccit.read.pdf.page import HYPHEN, Line, PageText, Rule, Span
from loccit.read.pdf.rules import Fences, kept_apart, parted
from loccit.read.pdf.words import DEEPEST_OVERLAP, NOTE, WIDEST_GAP, Box, Run, Word, WordReader

_UNDERLINED = 0.9
"""The share of a line that its rule covers."""
_COLUMN, _NARROWEST, _FEW = 8, 40.0, 0.3
"""Lines that show a column, its least width, and the share of lines that may run into the next one."""
_GUTTER = 0.8
"""Sizes between a word and the next column, at least."""
_OVER, _BELOW = 3.0, 4
"""Points by which a rule may be longer than its line, and be below its baseline."""


class PageReader:
    """Reads the pages of one document."""

    def __init__(self, tagged: bool = False) -> None:
        self._words = WordReader(tagged)

    def read(self, page: Any, number: int, rules: list[Rule]) -> PageText:
        """The lines of a page, in the order of its content stream. No line crosses a vertical rule."""
        width, height = page.get_size()
        box = page.get_bbox()
        result = PageText(number, width, height)
        fences = Fences(rules)
        text_page = page.get_textpage()
        try:
            handle = native.pointer(text_page.raw)
            text, result.legible, words, runs = self._words.read(handle, fences, box)
        finally:
            text_page.close()
        if any(run.hidden for run in runs):
            words = _seen(words)
        if not words:
            return result
        direction = 0
        if any(run.direction for run in runs):
            direction = _direction(words)
            for other in {run.direction for run in runs} - {direction}:
                turned = [w for w in words if w[4].direction == other]
                for line in _lines(_upright(turned, other, box), number, Fences()):
                    result.aside.append(line.text)
            words = [w for w in words if w[4].direction == direction]
        if direction % 2 != (page.get_rotation() // 90) % 2:
            result.width, result.height = height, width
        words = _upright(words, direction, box)
        if direction == 0:
            result.rules = rules
            if is_leftward(text):
                words = mirror_words(words, result.width)
                result.rules = mirror_rules(rules, result.width)
                fences = Fences(result.rules)
        else:
            fences = Fences()
        words, numbers = part_line_numbers(words)
        result.margin = number_lines(numbers, number)
        lines = _lines(words, number, fences)
        if edges := _column_edges(lines):
            lines = _lines(words, number, fences, edges)
        result.lines = _join_split_lines(lines, fences)
        _mark_underlined(result)
        return result


def _mark_underlined(page: PageText) -> None:
    """Take lines that are underlined as a whole, and no further, for bold ones: typewriters have nothing else."""
    level: dict[int, list[Rule]] = defaultdict(list)
    for rule in page.rules:
        if rule.horizontal:
            level[round(rule.y0)].append(rule)
    for line in page.lines if level else ():
        width, base = line.x1 - line.x0, round(line.base)
        if any(
            line.x0 - _OVER <= rule.x0
            and rule.x1 <= line.x1 + _OVER
            and rule.x1 - rule.x0 >= _UNDERLINED * width
            for y in range(base, base + _BELOW)
            for rule in level.get(y, ())
        ):
            line.spans = [span._replace(style=span.style._replace(bold=True)) for span in line.spans]
            line.settle()


def _seen(words: list[Word]) -> list[Word]:
    """Words without hidden ones, unless these are the text of the page, as below the image of a scan."""
    hidden = sum(len(w[0]) for w in words if w[4].hidden)
    if 2 * hidden > sum(len(w[0]) for w in words):
        return words
    return [w for w in words if not w[4].hidden]


def _direction(words: list[Word]) -> int:
    letters = [0, 0, 0, 0]
    for word in words:
        letters[word[4].direction] += len(word[0])
    return max(range(4), key=lambda d: letters[d])


def _upright(words: list[Word], direction: int, box: Box) -> list[Word]:
    """Words with coordinates from the top left corner of the page as it is read."""
    left, bottom, right, top = box
    if direction == 0:
        return [(t, x0 - left, x1 - left, top - base, run) for t, x0, x1, base, run in words]
    if direction == 1:
        return [(t, x0 - bottom, x1 - bottom, base - left, run) for t, x0, x1, base, run in words]
    if direction == 2:
        return [(t, right - x0, right - x1, base - bottom, run) for t, x0, x1, base, run in words]
    return [(t, top - x0, top - x1, right - base, run) for t, x0, x1, base, run in words]


def _column_edges(lines: list[Line]) -> set[int]:
    """Left edges of columns over which a few lines run: the gap between two columns may be narrow."""
    starts = Counter(round(line.x0) for line in lines)
    first = min(starts, default=0) + _NARROWEST
    edges: set[int] = set()
    for edge, count in starts.items():
        if count >= _COLUMN and edge > first:
            beside = sum(line.x1 < edge for line in lines)
            over = sum(line.x0 < edge - _NARROWEST and line.x1 > edge for line in lines)
            if beside >= _COLUMN and 0 < over < _FEW * beside:
                edges.update((edge - 1, edge, edge + 1))
    return edges


def _lines(
    words: list[Word], number: int, fences: Fences, edges: set[int] | frozenset[int] = frozenset()
) -> list[Line]:
    """Cut the words into lines where the baseline changes, the pen moves back or a gap opens.

    At the ``edges`` of columns, a narrower gap is enough.
    """
    lines: list[Line] = []
    spans: list[Span] = []
    parts: list[str] = []
    start = end = base = size = 0.0
    run: Run | None = None

    def close_span() -> None:
        if run is not None and parts:
            spans.append(Span(" ".join(parts), start, end, run.style, run.mcid))
            parts.clear()

    def close_line() -> None:
        close_span()
        if spans:
            if (
                len(spans) > 1
                and spans[0].style.size < 0.8 * spans[1].style.size
                and NOTE.fullmatch(spans[0].text)
            ):
                spans[0] = spans[0]._replace(text=f"[^{spans[0].text}]", style=spans[1].style)
            line = Line(number, spans[0].x0, end, base, list(spans), len(lines))
            line.settle()
            lines.append(line)
            spans.clear()

    broken = True
    for text, x0, x1, y, word_run in words:
        word_size = word_run.style.size
        gap = x0 - end
        reach = size if size > word_size else word_size
        drop = y - base
        if (
            broken
            or not -0.45 * reach < drop < 0.45 * reach
            or not -DEEPEST_OVERLAP * reach < gap < WIDEST_GAP * reach
            or (fences and (row := fences.row(y, word_size)) and kept_apart(row, end, x0))
            or (edges and gap > _GUTTER * reach and round(x0) in edges)
        ):
            close_line()
            base, size, start, run = y, word_size, x0, word_run
        elif word_run is not run:
            small = word_size < 0.8 * size
            if small and -drop > 0.15 * size and NOTE.fullmatch(text) and parts:
                parts[-1] += f"[^{text}]"
                if x1 > end:
                    end = x1
                continue
            if run is None or word_run[0] != run[0] or word_run[1] != run[1]:
                glued = gap < 0.08 * reach and parts and not small
                close_span()
                if glued and spans and len(spans[-1].text) == 1 and spans[-1].style.size > word_size * 1.2:
                    # A drop capital or the large letter of small capitals belongs to its word.
                    last = spans.pop()
                    text, x0 = last.text + text, last.x0
                start, run = x0, word_run
                if word_size > size:
                    base, size = y, word_size
        parts.append(text)
        end = x1
        broken = text[-1] == HYPHEN
    close_line()
    return lines


def _join_split_lines(lines: list[Line], fences: Fences) -> list[Line]:
    """Join pieces of one line that are separate in the content stream (drawn later, or out of order)."""
    if len(lines) < 2:
        return lines
    rows: dict[int, list[Line]] = {}
    for line in lines:
        rows.setdefault(round(line.base), []).append(line)
    gone: set[int] = set()
    for key, row in rows.items():
        close = row + rows.get(key + 1, [])
        if len(close) < 2:
            continue
        close.sort(key=lambda line: line.x0)
        for a, b in pairwise(close):
            if id(a) in gone or id(b) in gone or abs(a.base - b.base) > 1.0:
                continue
            reach = max(a.size, b.size)
            if -0.3 * reach < b.x0 - a.x1 < 0.45 * reach and not a.text.endswith(HYPHEN):
                if fences and parted(fences.row(a.base, reach), a.x1, b.x0):
                    continue
                b.spans = a.spans + b.spans
                b.order = min(a.order, b.order)
                b.settle()
                gone.add(id(a))
                a.spans = []
    return [line for line in lines if line.spans]
