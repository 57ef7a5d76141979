"""Printed line numbers: the numbers at the left margin of drafts and pleadings, which count the lines of a page.

They are set aside where a page is read, since they would become part of its sentences and labels. What they are shows
over the document: beside them, sentences run on from line to line. Beside the numbers of a table's rows they do not;
those are put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loccit.read.pdf.page import Line, PageText, Span
from loccit.read.pdf.words import Word

_LEAST = 5
_LEAST_IN_ALL = 10
_WIDEST = 30.0
_LONGEST = 5
_STEPS = (1, 5)
_IN_STEP = 0.9
_SAME_ROW = 3.0
_RUN_ON = 0.2


def part_line_numbers(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """The words of a page, and apart from them a column of rising numbers to the left of all others."""
    numbers = [w for w in words if w[0].isdecimal() and len(w[0]) <= _LONGEST]
    if len(numbers) < _LEAST:
        return words, []
    left = min(w[1] for w in numbers)
    column = sorted((w for w in numbers if w[2] <= left + _WIDEST), key=lambda w: w[3])
    if len(column) < _LEAST or not _counts(column):
        return words, []
    edge, top, bottom = max(w[2] for w in column), column[0][3], column[-1][3]
    taken = {id(w) for w in column}
    rest = [w for w in words if id(w) not in taken]
    if any(w[1] < edge and top <= w[3] <= bottom for w in rest):
        return words, []
    return rest, column


def _counts(column: Sequence[Word]) -> bool:
    steps = [int(b[0]) - int(a[0]) for a, b in pairwise(column)]
    return max(map(steps.count, _STEPS)) >= _IN_STEP * len(steps)


def set_line_numbers_aside(pages: Sequence[PageText]) -> None:
    """Leave out the numbers beside the lines of each page, or put them back where they belong to the text."""
    beside = [(page, number, _line_beside(page, number)) for page in pages for number in page.margin]
    texts = [line.text for _, _, line in beside if line is not None]
    run_on = sum(text[:1].islower() for text in texts)
    if len(beside) >= _LEAST_IN_ALL and run_on >= _RUN_ON * len(texts):
        edge = max(number.x1 for _, number, _ in beside)
        left = min((line.x0 for _, _, line in beside if line is not None), default=edge)
        for page in pages:
            # A page with a few lines has a few numbers, which may be joined to them.
            page.lines = [line for line in page.lines if line.x0 >= edge or _without_number(line, left)]
        return
    for page, number, line in beside:
        if line is None:
            page.lines.append(
                Line(page.number, number.x0, number.x1, number.base, number.spans, len(page.lines))
            )
            page.lines[-1].settle()
        else:
            line.spans.insert(0, number.spans[0])
            line.settle()


def _without_number(line: Line, left: float) -> bool:
    """Whether a line has text beside its number, which is removed."""
    first = line.spans[0]
    number, _, rest = first.text.partition(" ")
    if not number.isdecimal():
        return True
    line.spans[:1] = [first._replace(text=rest, x0=left)] if rest else []
    if line.spans:
        line.settle()
    return bool(line.spans)


def number_lines(numbers: Sequence[Word], page: int) -> list[Line]:
    """A line for each number."""
    lines = []
    for text, x0, x1, base, run in numbers:
        line = Line(page, x0, x1, base, [Span(text, x0, x1, run.style, run.mcid)], 0)
        line.settle()
        lines.append(line)
    return lines


def _line_beside(page: PageText, number: Line) -> Line | None:
    row = [line for line in page.lines if abs(line.base - number.base) <= _SAME_ROW and line.x0 >= number.x0]
    return min(row, key=lambda line: line.x0, default=None)
