"""Words of a page: what they say, where they stand and how they are set.

Asking pdfium about every character is slow through ctypes. The text of a page comes in one call; words beside each
other in one text object are taken as one, for which it is asked where they start and end and, once for each way of
setting type, how they are set.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections.abc import Sequence
from ctypes import addressof, byref, c_double, c_uint
from typing import NamedTuple, TypeAlias

import pypdfium2.raw as pdfium

from . import native
from .fonts import Faces, struck_bold
from .glyphs import Glyphs
from .leftward import FIRST_LEFTWARD, has_leftward
from .page import HYPHEN, Style
from .sizes import Sizes

WIDEST_GAP = 1.6
"""Words farther apart than this many sizes are not of one line."""
DEEPEST_OVERLAP = 0.6
NOTE = re.compile(r"\d{1,3}$|[*†‡§]{1,3}$")
_LETTERS = rf"[^\s\x00-\x1f{HYPHEN}]+"
_WORD = re.compile(rf"({_LETTERS})({HYPHEN}?)")
_PHRASE = re.compile(rf"({_LETTERS}(?: {_LETTERS})*)({HYPHEN}?)")
_NOTE_ENDS = frozenset("0123456789*†‡§")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_TEX = {"\x0b": "ﬀ", "\x0c": "ﬁ", "\r": "ﬂ", "\x0e": "ﬃ", "\x0f": "ﬄ"}
_TEX_CODE = re.compile(r"[\x0b\x0c\x0e\x0f]|\r(?!\n)")
_LEAST_SPACE = 0.1
_NARROW = 0.35
"""Letters of words are hardly narrower than this part of their size."""
_SMALLEST = 2.0
"""Type below this many points is as good as hidden."""
_FARTHEST = 1e6

Box: TypeAlias = tuple[float, float, float, float]
Fence: TypeAlias = tuple[float, float, float]


class Run(NamedTuple):
    """What is known of a text object."""

    style: Style
    mcid: int
    direction: int
    hidden: bool


# Text, where it starts and ends along its direction, its baseline, how it is set.
Word: TypeAlias = tuple[str, float, float, float, Run]

_NO_RUN = Run(Style(0.0, False, False, 0, 0), -1, 0, False)


def fenced(fences: Sequence[Fence], x0: float, x1: float, base: float, size: float) -> bool:
    """Whether an upright rule stands between two words of a line."""
    y = base - 0.3 * size
    at = bisect_left(fences, (x0 - 1.0, -1e9, 0.0))
    while at < len(fences) and fences[at][0] <= x1 + 1.0:
        if fences[at][1] <= y <= fences[at][2]:
            return True
        at += 1
    return False


class WordReader:
    """Reads the words of the pages of one document, remembering its fonts."""

    def __init__(self, tagged: bool = False) -> None:
        self.tagged = tagged
        self._faces = Faces()
        self._numbers: dict[int, int] = {}
        self._set: dict[tuple[int, float, float, float], tuple[float, int]] = {}
        self._runs: dict[tuple[float, int, int, bytes, int, int], Run] = {}
        self._glyphs = Glyphs()
        self._sizes = Sizes()
        self._x, self._y = c_double(), c_double()
        self._rgba = (c_uint * 4)()
        self._box = native.Rect()
        self._matrix = native.Matrix()

    def read(self, handle: int, fences: Sequence[Fence], box: Box) -> tuple[str, list[Word], set[Run]]:
        """The text of a page, its words in the order of the content stream, and how they are set.

        ``box`` is that of the page; ``fences`` are upright rules, from its top left corner.
        """
        # pdfium may reuse an address once a page is closed
        self._numbers.clear()
        self._set.clear()
        self._runs.clear()
        self._sizes.clear()
        text = _with_ligatures(handle, self._glyphs.mend(_text(handle), lambda at: self._font(handle, at)))
        return text, *self._words(handle, text, fences, box)

    def _font(self, handle: int, index: int) -> int:
        """The number of the font of a character within the document; 0 without one."""
        font = native.font_at(handle, index)
        if font not in self._numbers:
            self._numbers[font] = self._faces.of(font).number
        return self._numbers[font]

    def _words(
        self, handle: int, text: str, fences: Sequence[Fence], page: Box
    ) -> tuple[list[Word], set[Run]]:
        words: list[Word] = []
        runs: set[Run] = set()
        x, y, box = self._x, self._y, self._box
        at_x, at_y, at_box = addressof(x), addressof(y), addressof(box)
        text_object, char_origin, loose_box = native.text_object, native.char_origin, native.loose_box
        text_font = native.text_font
        run, run_key, run_font = _NO_RUN, -1, -1
        run_base = run_height = size = 0.0
        joined = any(letter in text for letter in "ﬀﬁﬂﬃﬄﬅﬆ")
        # Words that are written leftwards are put into their order one by one.
        for match in (_WORD if has_leftward(text) else _PHRASE).finditer(text):
            phrase, hyphen = match.groups()
            parts = phrase.split(" ")
            final = len(parts) - 1
            at = match.start()
            starts = [at]
            for part in parts:
                at += len(part) + 1
                starts.append(at)
            next_key = text_object(handle, starts[0]) or 0
            final_key = (text_object(handle, starts[final]) or 0) if final else next_key
            n = mate = -1
            while (n := mate + 1) <= final:
                key = next_key
                first, last = starts[n], starts[n + 1] - 2
                if key == final_key:
                    mate = final
                else:
                    mate, next_key = _last_like(handle, key, starts, n, final, final_key)
                # The last letter of a word may be of another object than its first.
                like = last if mate > n else first
                seen = char_origin(handle, first, at_x, at_y) and loose_box(handle, like, at_box)
                start, base = x.value, y.value
                if not seen or not (-_FARTHEST < start < _FARTHEST and -_FARTHEST < base < _FARTHEST):
                    if mate > n:
                        mate, next_key = n, key
                    continue
                if key != run_key:
                    # Some producers write an object for each word. On the same baseline, in the same font and of
                    # the same height, it is set like the word before: that saves the other calls.
                    height = box.top - box.bottom
                    font = (text_font(key) or 0) if key else 0
                    if font != run_font or abs(base - run_base) > 0.01 or abs(height - run_height) > 0.01:
                        run = self._run(handle, text, first, key, font, base)
                        run_font, run_base, run_height = font, base, height
                        runs.add(run)
                        size = run.style.size
                    elif self.tagged and (mcid := native.marked_content(key)) != run.mcid:
                        run = run._replace(mcid=mcid)
                    run_key = key
                if not size:
                    continue
                word = parts[n]
                direction = run[2]
                if mate > n:
                    end = n
                    if not direction and not (word[-1] in _NOTE_ENDS and NOTE.fullmatch(word)):
                        end = self._reach(handle, parts, starts, n, mate, (start, base, size), fences, page)
                        last = starts[end + 1] - 2
                        word = text[first : last + 1]
                    loose_box(handle, last, at_box)
                    if end < mate:
                        mate, next_key = end, key
                elif last > first:
                    loose_box(handle, last, at_box)
                # The next word is in the same object: then so is all of this one.
                if mate == final or next_key != key:
                    from_ = starts[mate]
                    if last > from_ and (end_key := text_object(handle, last) or 0) != key:
                        mended = self._mend(handle, text, parts[mate], from_, end_key, run, base)
                        word = word[: len(word) - len(parts[mate])] + mended
                    if mate == final:
                        word += hyphen
                if joined:
                    word = word.translate(_LIGATURES)
                if direction == 0:
                    right = box.right
                    if word[0] >= FIRST_LEFTWARD and right <= start:
                        # Written leftwards: its last letter is its left edge.
                        start, right = box.left, self._right(handle, first, start)
                    words.append((word, start, right if right > start else start, base, run))
                elif direction == 1:
                    words.append((word, base, box.top, start, run))
                elif direction == 2:
                    words.append((word, start, box.left, base, run))
                else:
                    words.append((word, base, box.bottom, start, run))
        return words, runs

    def _reach(
        self,
        handle: int,
        parts: Sequence[str],
        starts: Sequence[int],
        n: int,
        mate: int,
        at: tuple[float, float, float],
        fences: Sequence[Fence],
        page: Box,
    ) -> int:
        """The last of the words from ``n`` to ``mate``, of one text object, that no gap and no rule sets apart."""
        x, box = self._x, self._box
        at_x, at_y, at_box = addressof(x), addressof(self._y), addressof(box)
        char_origin, loose_box = native.char_origin, native.loose_box
        before, base, size = at
        left, top = page[0], page[3]
        narrow = _NARROW * size
        widest = WIDEST_GAP * size
        crossed = False
        if fences:
            loose_box(handle, starts[mate + 1] - 2, at_box)
            crossed = fenced(fences, before - left, box.right - left, top - base, size)
        for other in range(n + 1, mate + 1):
            if not char_origin(handle, starts[other], at_x, at_y):
                return other - 1
            start = x.value
            # As long as even the narrowest letters leave no gap, nobody needs to know where the word before ends.
            if crossed or not 0 < start - before <= widest + narrow * len(parts[other - 1]):
                loose_box(handle, starts[other] - 2, at_box)
                gap = start - box.right
                if not -DEEPEST_OVERLAP * size < gap < widest:
                    return other - 1
                if crossed and gap > 0.5 and fenced(fences, box.right - left, start - left, top - base, size):
                    return other - 1
            before = start
        return mate

    def _right(self, handle: int, index: int, otherwise: float) -> float:
        """The right edge of a character."""
        box = native.Rect()
        return float(box.right) if native.loose_box(handle, index, byref(box)) else otherwise

    def _mend(
        self, handle: int, text: str, word: str, first: int, end_key: int, run: Run, base: float
    ) -> str:
        """A word over several text objects: set off a raised note mark, find spaces that pdfium missed."""
        size = run.style.size
        if word[-1] in _NOTE_ENDS and (note := NOTE.search(word)) and note.start():
            at = first + note.start()
            mark = self._run(handle, text, at, end_key, native.text_font(end_key) or 0, base)
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

    def _run(self, handle: int, text: str, index: int, key: int, font: int, base: float) -> Run:
        """How the word is set that begins at an index, whose last letter is in the box."""
        box = self._box
        # Where the height of the line and its part below the baseline are the same, so is the matrix.
        asked = native.font_size(handle, index)
        like = (font, asked, round(box.top - box.bottom, 2), round(base - box.bottom, 2))
        found = self._set.get(like)
        if found is None:
            found = self._size(handle, text, index, font)
            if like[2]:
                self._set[like] = found
        rgba = self._rgba
        at = addressof(rgba)
        known = native.fill_colour(handle, index, at, at + 4, at + 8, at + 12)
        mode = native.render_mode(key) if key else 0
        mcid = native.marked_content(key) if self.tagged and key else -1
        setting = (*found, font, bytes(rgba) if known else b"", mode, mcid)
        run = self._runs.get(setting)
        if run is None:
            run = self._runs[setting] = self._look(*setting)
        return run

    def _look(self, size: float, direction: int, font: int, rgba: bytes, mode: int, mcid: int) -> Run:
        red, green, blue, alpha = (c_uint * 4).from_buffer_copy(rgba) if rgba else (0, 0, 0, 255)
        face = self._faces.of(font)
        bold = face.bold or struck_bold(mode)
        style = Style(size, bold, face.italic, face.number, red << 16 | green << 8 | blue)
        unseen = mode == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE or alpha == 0
        return Run(style, mcid, direction, unseen or size < _SMALLEST)

    def _size(self, handle: int, text: str, index: int, font: int) -> tuple[float, int]:
        """The size of the type at an index, and the direction in which it is written."""
        matrix, box = self._matrix, self._box
        direction = 0
        stated = native.stated_size(handle, index, matrix)
        if abs(matrix.b) > abs(matrix.a):
            direction = 1 if matrix.b > 0 else 3
        elif matrix.a < 0:
            direction = 2
        height = abs(box.right - box.left if direction % 2 else box.top - box.bottom)
        return self._sizes.find(handle, text, index, font, stated, height), direction


def _last_like(
    handle: int, key: int, starts: Sequence[int], low: int, high: int, high_key: int
) -> tuple[int, int]:
    """The last word after ``low`` of the same text object, and the object of the next; ``high`` is of another."""
    text_object = native.text_object
    step = 1
    while low + step < high:
        found = text_object(handle, starts[low + step]) or 0
        if found != key:
            high, high_key = low + step, found
            break
        low += step
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        found = text_object(handle, starts[middle]) or 0
        if found == key:
            low = middle
        else:
            high, high_key = middle, found
    return low, high_key


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
