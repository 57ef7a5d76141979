"""Read a page: words from pdfium's text page, grouped into styled spans and lines.

Asking pdfium about every character is slow through ctypes. The text of a page comes in one call; then each
word costs three: the text object of its first character (whose style is looked up once), where it starts, and
where its last character ends.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from ctypes import addressof, byref, c_double, c_uint
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium

from . import native
from .fonts import Face, Faces, struck_bold
from .leftward import FIRST_LEFTWARD, is_leftward, mirror_rules, mirror_words
from .legible import is_legible
from .page import HYPHEN, Line, PageText, Rule, Span, Style
from .sizes import Sizes

_WORD = re.compile(rf"[^\s\x00-\x1f{HYPHEN}]+{HYPHEN}?")
_NOTE = re.compile(r"\d{1,3}$|[*†‡§]{1,3}$")
_NOTE_ENDS = frozenset("0123456789*†‡§")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_TEX = {"\x0b": "ﬀ", "\x0c": "ﬁ", "\r": "ﬂ", "\x0e": "ﬃ", "\x0f": "ﬄ"}
_TEX_CODE = re.compile(r"[\x0b\x0c\x0e\x0f]|\r(?!\n)")
_LEAST_SPACE = 0.1
_SMALLEST = 2.0
"""Type below this many points is as good as hidden."""
_FARTHEST = 1e6


Fence: TypeAlias = tuple[float, float, float]


class _Run(NamedTuple):
    """What is known of a text object."""

    style: Style
    mcid: int
    direction: int
    hidden: bool


# Text, where it starts and ends along its direction, its baseline, how it is set.
_Word: TypeAlias = tuple[str, float, float, float, _Run]


class PageReader:
    """Reads the pages of one document, remembering its fonts."""

    def __init__(self, tagged: bool = False) -> None:
        self.tagged = tagged
        self._faces = Faces()
        self._fonts: dict[int, Face] = {}
        self._sizes = Sizes()
        self._x, self._y = c_double(), c_double()
        self._rgba = [c_uint() for _ in range(4)]
        self._box = native.Rect()
        self._matrix = native.Matrix()

    def read(self, page: Any, number: int, rules: list[Rule]) -> PageText:
        """The lines of a page, in the order of its content stream. No line crosses an upright rule."""
        width, height = page.get_size()
        left, bottom, right, top = page.get_bbox()
        result = PageText(number, width, height)
        self._fonts.clear()  # pdfium may reuse an address once a page is closed
        self._sizes.clear()
        text_page = page.get_textpage()
        try:
            handle = native.address(text_page.raw)
            text = _with_ligatures(handle, _text(handle))
            words, runs = self._words(handle, text)
        finally:
            text_page.close()
        result.legible = is_legible(text)
        if any(run.hidden for run in runs):
            words = _seen(words)
        if not words:
            return result
        direction = 0
        if any(run.direction for run in runs):
            direction = _direction(words)
            for other in {run.direction for run in runs} - {direction}:
                turned = [w for w in words if w[4].direction == other]
                for line in _lines(_upright(turned, other, (left, bottom, right, top)), number, []):
                    result.aside.append(line.text)
            words = [w for w in words if w[4].direction == direction]
        if direction % 2 != (page.get_rotation() // 90) % 2:
            result.width, result.height = height, width
        words = _upright(words, direction, (left, bottom, right, top))
        if direction == 0:
            result.rules = rules
            if is_leftward(w[0] for w in words):
                words = mirror_words(words, result.width)
                result.rules = mirror_rules(rules, result.width)
        fences = sorted((r.x0, r.y0, r.y1) for r in result.rules if not r.horizontal)
        result.lines = _join_split_lines(_lines(words, number, fences), fences)
        return result

    def _words(self, handle: int, text: str) -> tuple[list[_Word], set[_Run]]:
        words: list[_Word] = []
        runs: set[_Run] = set()
        x, y, box = self._x, self._y, self._box
        at_x, at_y, at_box = addressof(x), addressof(y), addressof(box)
        text_object, char_origin, loose_box = native.text_object, native.char_origin, native.loose_box
        text_font = native.text_font
        run, run_key = _Run(Style(0.0, False, False, 0, 0), -1, 0, False), -1
        run_base = run_height = 0.0
        run_font = -1
        size = 0.0
        matches = list(_WORD.finditer(text))
        joined = any(letter in text for letter in "ﬀﬁﬂﬃﬄﬅﬆ")
        if not matches:
            return words, runs
        next_key = text_object(handle, matches[0].start()) or 0
        last_match = len(matches) - 1
        for n, match in enumerate(matches):
            first, last = match.span()
            last -= 1
            word = match[0]
            if word[-1] == HYPHEN and last > first:
                last -= 1
            key = next_key
            if n < last_match:
                next_key = text_object(handle, matches[n + 1].start()) or 0
            if not char_origin(handle, first, at_x, at_y) or not loose_box(handle, last, at_box):
                continue
            start, base = x.value, y.value
            if not (-_FARTHEST < start < _FARTHEST and -_FARTHEST < base < _FARTHEST):
                continue
            if key != run_key:
                # Some producers write an object for each word. On the same baseline, in the same font and of
                # the same height, it is set like the word before: that saves the other calls.
                height = box.top - box.bottom
                font = (text_font(key) or 0) if key else 0
                if font != run_font or abs(base - run_base) > 0.01 or abs(height - run_height) > 0.01:
                    run = self._run(handle, text, first, key, font)
                    run_font, run_base, run_height = font, base, height
                    runs.add(run)
                    size = run.style.size
                elif self.tagged and (mcid := native.marked_content(key)) != run.mcid:
                    run = run._replace(mcid=mcid)
                run_key = key
            if not size:
                continue
            # The next word is in the same object: then so is all of this one.
            if next_key != key and last > first and (end_key := text_object(handle, last) or 0) != key:
                word = self._mend(handle, text, word, first, end_key, run)
            if joined:
                word = word.translate(_LIGATURES)
            direction = run[2]
            if direction == 0:
                end = box.right
                if word[0] >= FIRST_LEFTWARD and end <= start:
                    # Written leftwards: its last letter is its left edge.
                    start, end = box.left, self._right(handle, first, start)
                words.append((word, start, end if end > start else start, base, run))
            elif direction == 1:
                words.append((word, base, box.top, start, run))
            elif direction == 2:
                words.append((word, start, box.left, base, run))
            else:
                words.append((word, base, box.bottom, start, run))
        return words, runs

    def _right(self, handle: int, index: int, otherwise: float) -> float:
        """The right edge of a character."""
        box = native.Rect()
        return float(box.right) if native.loose_box(handle, index, byref(box)) else otherwise

    def _mend(self, handle: int, text: str, word: str, first: int, end_key: int, run: _Run) -> str:
        """A word over several text objects: set off a raised note mark, find spaces that pdfium missed."""
        size = run.style.size
        if word[-1] in _NOTE_ENDS and (note := _NOTE.search(word)) and note.start():
            at = first + note.start()
            mark = self._run(handle, text, at, end_key, native.text_font(end_key) or 0)
            if 0 < mark.style.size < 0.8 * size:
                return f"{word[: note.start()]}[^{note.group()}]"
        if run.direction or size <= 0:
            return word
        parts = []
        x, box = self._x, native.Rect()
        key = native.text_object(handle, first)
        for n in range(1, len(word)):
            other = native.text_object(handle, first + n)
            if other != key and other and key:
                native.char_origin(handle, first + n, byref(x), byref(self._y))
                native.loose_box(handle, first + n - 1, byref(box))
                if x.value - box.right > _LEAST_SPACE * size:
                    parts.append(n)
            key = other
        for n in reversed(parts):
            word = f"{word[:n]} {word[n:]}"
        return word

    def _run(self, handle: int, text: str, index: int, key: int, font: int) -> _Run:
        matrix, box = self._matrix, self._box
        direction = 0
        stated = native.stated_size(handle, index, matrix)
        if abs(matrix.b) > abs(matrix.a):
            direction = 1 if matrix.b > 0 else 3
        elif matrix.a < 0:
            direction = 2
        height = abs(box.right - box.left if direction % 2 else box.top - box.bottom)
        size = self._sizes.find(handle, text, index, font, stated, height)
        red, green, blue, alpha = self._rgba
        colour = 0
        if native.fill_colour(handle, index, byref(red), byref(green), byref(blue), byref(alpha)):
            colour = red.value << 16 | green.value << 8 | blue.value
        if not key:
            return _Run(Style(size, False, False, 0, colour), -1, direction, size < _SMALLEST)
        face = self._fonts.get(font)
        if face is None:
            face = self._fonts[font] = self._faces.of(font)
        mode = native.render_mode(key)
        style = Style(size, face.bold or struck_bold(mode), face.italic, face.number, colour)
        hidden = mode == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE or alpha.value == 0 or size < _SMALLEST
        return _Run(style, native.marked_content(key), direction, hidden)


def _text(handle: int) -> str:
    """The text of a page with one character for each that pdfium counts."""
    pointer = ctypes.cast(handle, pdfium.FPDF_TEXTPAGE)
    count = pdfium.FPDFText_CountChars(pointer)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(pointer, 0, count, buffer)
    text = bytes(memoryview(buffer).cast("B")[: 2 * max(written - 1, 0)]).decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    # Letters beyond 16 bits, or characters that pdfium leaves out: only then one call each.
    return "".join(_letter(native.char_code(handle, i), handle, i) for i in range(count))


def _letter(code: int, handle: int, index: int) -> str:
    if code == 2 and native.is_hyphen(handle, index) == 1:
        return HYPHEN  # as the text in one call has it
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _with_ligatures(handle: int, text: str) -> str:
    """Text with the ligatures that TeX puts at the codes of control characters, in fonts that say nothing else."""

    def mend(match: re.Match[str]) -> str:
        at = match.start()
        for beside in (at - 1, at + 1):
            letter = text[beside : beside + 1] if beside >= 0 else ""
            if letter.isascii() and letter.isalpha():
                font = native.font_at(handle, at)
                if font and native.font_at(handle, beside) == font:
                    return _TEX[match.group()]
        return match.group()

    return _TEX_CODE.sub(mend, text)


def _seen(words: list[_Word]) -> list[_Word]:
    """Words without the hidden ones, unless these are the text of the page, as below the picture of a scan."""
    hidden = sum(len(w[0]) for w in words if w[4].hidden)
    if 2 * hidden > sum(len(w[0]) for w in words):
        return words
    return [w for w in words if not w[4].hidden]


def _direction(words: list[_Word]) -> int:
    letters = [0, 0, 0, 0]
    for word in words:
        letters[word[4].direction] += len(word[0])
    return max(range(4), key=lambda d: letters[d])


def _upright(words: list[_Word], direction: int, box: tuple[float, float, float, float]) -> list[_Word]:
    """Words with coordinates from the top left corner of the page as it is read."""
    left, bottom, right, top = box
    if direction == 0:
        return [(t, x0 - left, x1 - left, top - base, run) for t, x0, x1, base, run in words]
    if direction == 1:
        return [(t, x0 - bottom, x1 - bottom, base - left, run) for t, x0, x1, base, run in words]
    if direction == 2:
        return [(t, right - x0, right - x1, base - bottom, run) for t, x0, x1, base, run in words]
    return [(t, top - x0, top - x1, right - base, run) for t, x0, x1, base, run in words]


def _fenced(fences: list[Fence], x0: float, x1: float, base: float, size: float) -> bool:
    """Whether an upright rule stands between two words of a line."""
    y = base - 0.3 * size
    at = bisect_left(fences, (x0 - 1.0, -1e9, 0.0))
    while at < len(fences) and fences[at][0] <= x1 + 1.0:
        if fences[at][1] <= y <= fences[at][2]:
            return True
        at += 1
    return False


def _lines(words: list[_Word], number: int, fences: list[Fence]) -> list[Line]:
    """Cut the words into lines where the baseline moves, the pen goes back or a gap opens."""
    lines: list[Line] = []
    spans: list[Span] = []
    parts: list[str] = []
    start = end = base = size = 0.0
    run: _Run | None = None

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
                and _NOTE.fullmatch(spans[0].text)
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
            or not -0.6 * reach < gap < 1.6 * reach
            or (fences and gap > 0.5 and _fenced(fences, end, x0, y, word_size))
        ):
            close_line()
            base, size, start, run = y, word_size, x0, word_run
        elif word_run is not run:
            small = word_size < 0.8 * size
            if small and -drop > 0.15 * size and _NOTE.fullmatch(text) and parts:
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


def _join_split_lines(lines: list[Line], fences: list[Fence]) -> list[Line]:
    """Join pieces of one line that the content stream holds apart (drawn later, or out of order)."""
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
                if _fenced(fences, a.x1, b.x0, a.base, reach):
                    continue
                b.spans = a.spans + b.spans
                b.order = min(a.order, b.order)
                b.settle()
                gone.add(id(a))
                a.spans = []
    return [line for line in lines if line.spans]
