"""The type of a scanned page: size and weight, measured in the image; and its section signs.

Tesseract returns words and boxes, not fonts. The size is measured by the height of letters above the baseline, the
weight by the thickness of their strokes. Both vary by a pixel, so the sizes in a document are clustered before they are
used like those of fonts.

In German text Tesseract often reads `§` as `8`, `$` or `&`: `8 12 Abs. 1`, and `$ 1` where a section begins. A single
case may be a number or a price. So the whole document is considered: only following words of a citation (`Abs.`,
`Satz`), or section after section that begins in this way, prove that the sign is one; then other places where it can
hardly be anything else are corrected too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np

from loccit.read.ocr import OcrLine, OcrWord, Picture
from loccit.read.pdf.page import Line, PageText, Span, Style

# Relative to the type size, roughly alike in all text faces: capitals and `bdfhkl`, small letters, signs of
# other scripts.
_TALL, _SMALL, _WHOLE = 0.70, 0.46, 0.92
_TALL_LETTERS = frozenset("bdfhkl0123456789")
_SMALL_LETTERS = frozenset("acegmnopqrsuvwxyz")
_GAP = 1.6
"""A wider gap, in sizes, ends a line, as at a cell or a column."""
_SAME_SIZE = 0.07
_BOLDER = 1.25
_PLAUSIBLE = (7.0, 14.0)
_USUAL = 10.0
_LEAST_SURE = 30
_SURE_SIGN = 60
_EDGES = frozenset("|_~`¦")
_MOST_SAMPLED = 200
_MISREAD = frozenset("8$&")
_MISREAD_TWICE = re.compile(r"[8$&§]{2}")
_NUMBER = re.compile(r"(\d{1,4})[a-z]?[.,;:)]?")
_GLUED = re.compile(r"[$&](\d{1,4}[a-z]?[.,;:)]?)")
_CITED = re.compile(r"(?:Abs(?:\.|atz|ätze)|Satz|S\.|Nr\.|Nummer|Buchst\.|Buchstabe)\W*")
_RANGE = re.compile(r"bis|und|oder|sowie|ff\.?")
_WORD = re.compile(r"\(?[^\W\d_]{2,}[.,]?")
_LEAST_SECTIONS = 3
_LEAST_RISING = 0.8
_LONGEST_STEP = 3


@dataclass(slots=True)
class RawWord:
    """A word in points, and the thickness of its strokes relative to its size; 0 if unknown."""

    text: str
    x0: float
    x1: float
    stroke: float


@dataclass(slots=True)
class RawLine:
    """Words on one baseline as measured."""

    words: list[RawWord]
    base: float
    size: float

    @property
    def letters(self) -> int:
        """Its number of letters."""
        return sum(len(word.text) for word in self.words)


@dataclass(slots=True)
class RawPage:
    """A page as measured."""

    page: PageText
    lines: list[RawLine] = field(default_factory=list)


def measure(lines: Sequence[OcrLine], picture: Picture, unit: float) -> list[RawLine]:
    """Convert what Tesseract read to points, deskew it, and measure its type."""
    level = [line for line in lines if line.level]
    slopes = [line.slope for line in level if len(line.words) >= 4]
    slope = median(slopes) if slopes else 0.0
    result = []
    for line in level:
        kept = [word for word in line.words if _is_word(word)]
        if not kept or sum(word.sure * len(word.text) for word in kept) < _LEAST_SURE * _length(kept):
            continue
        first = line.words[0].x0
        heights = [_em(word, line.base + line.slope * ((word.x0 + word.x1) / 2 - first)) for word in kept]
        size = _typical(kept, heights)
        base = line.base + line.slope * (kept[0].x0 - first) - slope * kept[0].x0
        words = []
        for word in kept:
            shift = slope * line.base
            stroke = _stroke(picture, word) / size if size > 0 else 0.0
            words.append(RawWord(word.text, (word.x0 + shift) * unit, (word.x1 + shift) * unit, stroke))
        if size > 0:
            result.append(RawLine(words, base * unit, size * unit))
    return result


def _is_word(word: OcrWord) -> bool:
    """Not the edge of a table or a speck."""
    return any(map(str.isalnum, word.text)) or (word.sure >= _SURE_SIGN and not set(word.text) <= _EDGES)


def _length(words: Iterable[OcrWord]) -> int:
    return sum(len(word.text) for word in words)


def _em(word: OcrWord, base: float) -> tuple[int, float]:
    """The quality of a word as a measure (0 is best), and the type size it indicates, in pixels."""
    letters = [char for char in word.text if char.isalnum()]
    above = base - word.y0
    if any(char in _TALL_LETTERS or (char.isupper() and char.lower() != char) for char in letters):
        return 0, above / _TALL
    if letters and all(char in _SMALL_LETTERS for char in letters):
        return 1, above / _SMALL
    return 2, (word.y1 - word.y0) / _WHOLE


def _typical(words: Sequence[OcrWord], heights: Sequence[tuple[int, float]]) -> float:
    """The size that most letters of a line indicate, by the best measures available."""
    best = min(kind for kind, _ in heights)
    sizes = [
        height
        for word, (kind, height) in zip(words, heights, strict=True)
        if kind == best
        for _ in range(min(len(word.text), _MOST_SAMPLED))
    ]
    return max(median(sizes), 0.0)


def _stroke(picture: Picture, word: OcrWord) -> float:
    """The width of the vertical strokes of a word, in pixels: the usual length of a run of ink in a row."""
    box = picture[max(word.y0, 0) : max(word.y1, 0), max(word.x0, 0) : max(word.x1, 0)]
    if box.size < 16:
        return 0.0
    low, high = int(box.min()), int(box.max())
    if high - low < 40:
        return 0.0
    ink = np.zeros((box.shape[0], box.shape[1] + 2), dtype=np.int8)
    ink[:, 1:-1] = box < (low + high) / 2
    edges = np.diff(ink, axis=1).ravel()
    lengths = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    if not lengths.size:
        return 0.0
    # Without the horizontal bars of E and T.
    usual = lengths[lengths <= 2 * np.median(lengths)]
    return float(usual.mean())


def set_type(pages: Sequence[RawPage], body: float | None = None) -> None:
    """Give the pages their lines. ``body`` is the size of the body text on pages that were not scanned."""
    lines = [line for raw in pages for line in raw.lines]
    if not lines:
        return
    sizes = _gather(lines)
    weight: Counter[float] = Counter()
    for line in lines:
        weight[sizes[line.size]] += line.letters
    main = weight.most_common(1)[0][0]
    scale = stretch = 1.0
    if body and 0.8 < body / main < 1.25:
        stretch = body / main
    elif not _PLAUSIBLE[0] <= main <= _PLAUSIBLE[1]:
        # The resolution of the image says nothing about paper, as for a photograph.
        scale = _USUAL / main
    usual = _usual_stroke(lines)
    for raw in pages:
        raw.page.width *= scale
        raw.page.height *= scale
        for line in raw.lines:
            size = round(sizes[line.size] * scale * stretch * 2) / 2
            _set_line(line, raw.page, size, scale, usual)


def _gather(lines: Sequence[RawLine]) -> dict[float, float]:
    """Map each measured size to the one it represents: that of most letters nearby."""
    weight: Counter[float] = Counter()
    for line in lines:
        weight[line.size] += line.letters
    sizes = np.array(sorted(weight))
    letters = np.array([weight[float(size)] for size in sizes], dtype=float)
    found: dict[float, float] = {}
    free = letters.copy()
    while free.any():
        totals = np.concatenate(([0.0], np.cumsum(free)))
        low = np.searchsorted(sizes, sizes * (1 - _SAME_SIZE))
        high = np.searchsorted(sizes, sizes * (1 + _SAME_SIZE), side="right")
        near = np.where(free > 0, totals[high] - totals[low], 0.0)
        at = int(near.argmax())
        group = np.arange(low[at], high[at])[free[low[at] : high[at]] > 0]
        centre = float(np.average(sizes[group], weights=letters[group]))
        for n in group:
            found[float(sizes[n])] = centre
        free[group] = 0.0
    return found


def _usual_stroke(lines: Sequence[RawLine]) -> float:
    """The usual thickness of strokes relative to size."""
    strokes, weights = [], []
    for line in lines:
        for word in line.words:
            if word.stroke > 0:
                strokes.append(word.stroke)
                weights.append(len(word.text))
    if not strokes:
        return 0.0
    order = np.argsort(strokes)
    totals = np.cumsum(np.array(weights, dtype=float)[order])
    return float(strokes[int(order[int(np.searchsorted(totals, totals[-1] / 2))])])


def _set_line(line: RawLine, page: PageText, size: float, scale: float, usual: float) -> None:
    """Add a measured line to its page, cut where a gap opens."""
    part: list[RawWord] = []
    for word in line.words:
        if part and (word.x0 - part[-1].x1) * scale > _GAP * size:
            _add(page, part, line.base * scale, size, scale, usual)
            part = []
        part.append(word)
    _add(page, part, line.base * scale, size, scale, usual)


def _add(page: PageText, words: list[RawWord], base: float, size: float, scale: float, usual: float) -> None:
    bold = _bold(words, usual)
    spans: list[Span] = []
    start = 0
    for n in range(1, len(words) + 1):
        if n == len(words) or bold[n] != bold[start]:
            run = words[start:n]
            text = " ".join(word.text for word in run)
            style = Style(size, bold[start], False, 0, 0)
            spans.append(Span(text, run[0].x0 * scale, run[-1].x1 * scale, style, -1))
            start = n
    line = Line(page.number, spans[0].x0, spans[-1].x1, base, spans, len(page.lines))
    line.settle()
    page.lines.append(line)


def _bold(words: Sequence[RawWord], usual: float) -> list[bool]:
    """Which words are bold. The strokes of a short word are inconclusive, so it is grouped with its neighbours."""
    if usual <= 0:
        return [False] * len(words)
    result = []
    for n in range(len(words)):
        near = [word for word in words[max(n - 1, 0) : n + 2] if word.stroke > 0]
        letters = sum(len(word.text) for word in near)
        stroke = sum(word.stroke * len(word.text) for word in near) / letters if letters else 0.0
        result.append(stroke > _BOLDER * usual)
    share = sum(len(w.text) for w, b in zip(words, result, strict=True) if b) / sum(
        len(w.text) for w in words
    )
    if share > 0.8 or share < 0.2:
        return [share > 0.8] * len(words)
    return result


def mend_section_signs(pages: Sequence[RawPage], german: bool) -> None:
    """Correct section signs in place, if the document proves to have them. ``german``: the declared language."""
    lines = [line for raw in pages for line in raw.lines]
    for line in lines:
        for word, following in pairwise(line.words):
            if (glued := _GLUED.fullmatch(word.text)) and _CITED.fullmatch(following.text):
                word.text = f"§ {glued[1]}"
    cited = sum(_is_cited(words, n) for words, n in _pairs(lines))
    known = german or cited > 0 or any("§" in word.text for line in lines for word in line.words)
    begun = [line for line in lines if _begins(line)]
    rising = known and _rise(begun)
    if not cited and not rising:
        return
    initial = {id(line.words) for line in begun} if rising else set()
    for words, n in _pairs(lines):
        sign = "§§" if len(words[n].text) == 2 else "§"
        if _is_cited(words, n) or (n == 0 and id(words) in initial) or (n and _stands_in_text(words, n)):
            words[n].text = sign


def _pairs(lines: Sequence[RawLine]) -> Iterator[tuple[list[RawWord], int]]:
    """Words that may be misread section signs, with a number after them."""
    for line in lines:
        words = line.words
        for n, (word, following) in enumerate(pairwise(words)):
            if (word.text in _MISREAD or _MISREAD_TWICE.fullmatch(word.text)) and _NUMBER.fullmatch(
                following.text
            ):
                yield words, n


def _is_cited(words: Sequence[RawWord], n: int) -> bool:
    """Whether a citation continues after the number: with a part of the section or, after two signs, another number."""
    if n + 2 >= len(words):
        return False
    following = words[n + 2].text
    if len(words[n].text) == 2 and words[n].text != "88":
        return True
    if len(words[n].text) == 2:
        return (
            bool(_RANGE.fullmatch(following))
            and n + 3 < len(words)
            and bool(_NUMBER.fullmatch(words[n + 3].text))
        )
    return bool(_CITED.fullmatch(following))


def _stands_in_text(words: Sequence[RawWord], n: int) -> bool:
    """Whether it is between a word and a number that no further number follows."""
    after = words[n + 2].text if n + 2 < len(words) else ""
    return bool(_WORD.fullmatch(words[n - 1].text)) and not after[:1].isdigit()


def _begins(line: RawLine) -> bool:
    """Whether a line begins with a possible section sign and a number."""
    words = line.words
    return len(words) > 1 and words[0].text in _MISREAD and _NUMBER.fullmatch(words[1].text) is not None


def _rise(lines: Sequence[RawLine]) -> bool:
    """Whether the numbers at the beginnings of lines are those of sections: several, in sequence."""
    found = [_NUMBER.fullmatch(line.words[1].text) for line in lines]
    numbers = [int(match[1]) for match in found if match]
    if len(set(numbers)) < _LEAST_SECTIONS:
        return False
    steps = [0 <= b - a <= _LONGEST_STEP for a, b in pairwise(numbers)]
    return sum(steps) >= _LEAST_RISING * len(steps)
