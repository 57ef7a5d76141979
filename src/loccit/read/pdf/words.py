"""Words of a page: their text, position and typography.

Querying pdfium for every character through ctypes is slow. The text of a page comes in one call; the starts and ends of
all words are queried in one batch, and the typography once for each text object. Adjacent words in one text object are
treated as one.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Sequence
from ctypes import addressof, c_uint, c_void_p
from itertools import repeat
from typing import NamedTuple, TypeAlias

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from loccit.read.pdf import native
from loccit.read.pdf.letters import (
    FIRST_LEFTWARD,
    Edges,
    Faces,
    Glyphs,
    Letters,
    Numbers,
    Reals,
    Sizes,
    font_name,
    has_leftward,
    struck_bold,
    table_of,
)
from loccit.read.pdf.page import HYPHEN, Style
from loccit.read.pdf.rules import Fences, kept_apart

WIDEST_GAP = 1.6
"""Words farther apart than this many sizes are not on one line."""
DEEPEST_OVERLAP = 0.6
NOTE = re.compile(r"\d{1,3}$|[*†‡§]{1,3}$")
_NOTE_ENDS = frozenset("0123456789*†‡§")
_ENDS_NOTE = table_of(_NOTE_ENDS)
_SPACES = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_APART = table_of([*map(chr, range(0x21)), *_SPACES, HYPHEN])
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_UNJOINED = frozenset("ﬀﬁﬂﬃﬄﬅﬆ")
# Two encodings of TeX, the second for languages with accents.
_TEX = {"\x0b": "ﬀ", "\x0c": "ﬁ", "\r": "ﬂ", "\x0e": "ﬃ", "\x0f": "ﬄ"} | dict(
    zip("\x1b\x1c\x1d\x1e\x1f", "ﬀﬁﬂﬃﬄ", strict=True)
)
_TEX_CODE = re.compile(r"[\x0b\x0c\x0e\x0f\x1b-\x1f]|\r(?!\n)")
_LEAST_SPACE = 0.1
_NARROW = 0.35
"""Letters are rarely narrower than this share of their size."""
_SMALLEST = 2.0
"""Type below this many points is effectively hidden."""
_FARTHEST = 1e6

Box: TypeAlias = tuple[float, float, float, float]


class Run(NamedTuple):
    """What is known about a text object."""

    style: Style
    mcid: int
    direction: int
    hidden: bool


# Text, where it starts and ends along its direction, its baseline, how it is set.
Word: TypeAlias = tuple[str, float, float, float, Run]


class PageWords(NamedTuple):
    """The text of a page, whether it is legible, its words in content stream order, and their typography."""

    text: str
    legible: bool
    words: list[Word]
    runs: set[Run]


class _Spots(NamedTuple):
    """The words of a page, one per row: position in the text and on the page, and text object."""

    codes: NDArray[np.uint32]
    """The letters of the page by code, and a space."""
    first: Numbers
    stop: Numbers
    x: Reals
    y: Reals
    """The position of its first letter; then the edges of its last."""
    left: Reals
    top: Reals
    right: Reals
    bottom: Reals
    key: Numbers
    end: Numbers
    """The text objects of its first and last letters."""
    group: Numbers
    """The number of earlier changes of the text object."""


class WordReader:
    """Reads the words of a document's pages, remembering its fonts."""

    def __init__(self, tagged: bool = False) -> None:
        self.tagged = tagged
        self._faces = Faces()
        self._numbers: dict[int, int] = {}
        self._set: dict[tuple[int, float, float, float], tuple[float, int]] = {}
        self._runs: dict[tuple[float, int, int, bytes, int, int], Run] = {}
        self._glyphs = Glyphs()
        self._sizes = Sizes(font_name)
        self._letters = Letters()
        self._rgba = (c_uint * 4)()
        self._channels = [c_void_p(addressof(self._rgba) + 4 * n) for n in range(4)]
        self._matrix = native.Matrix()

    def read(self, handle: c_void_p, fences: Fences, box: Box) -> PageWords:
        """The words of a page.

        ``box`` is that of the page; ``fences`` are vertical rules, from its top left corner.
        """
        # pdfium may reuse an address once a page is closed
        self._numbers.clear()
        self._set.clear()
        self._runs.clear()
        self._sizes.clear()
        text, legible = self._glyphs.mend(_text(handle), lambda at: self._font(handle, at))
        text = _with_ligatures(handle, text)
        return PageWords(text, legible, *self._words(handle, text, fences, box))

    def _font(self, handle: c_void_p, index: int) -> int:
        """The number of a character's font within the document; 0 if none."""
        font = native.font_at(handle, index)
        if font not in self._numbers:
            self._numbers[font] = self._faces.of(font).number
        return self._numbers[font]

    def _words(self, handle: c_void_p, text: str, fences: Fences, page: Box) -> tuple[list[Word], set[Run]]:
        spots = self._spots(handle, text)
        if not len(spots.first):
            return [], set()
        runs, size, direction = self._set_runs(handle, text, spots)
        together = _beside(spots, size)
        if direction.any():
            together &= direction == 0
        # Right-to-left words are put into order one by one.
        if single := has_leftward(text):
            together[:] = False
        elif together.any():
            _part_notes(together, spots, text)
            if fences:
                _part_fenced(together, spots, size, fences, page)
        heads = np.flatnonzero(~together)
        tails = np.append(heads[1:], len(together)) - 1
        starts, stops = spots.first[heads].tolist(), spots.stop[tails].tolist()
        units = [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
        x, right = spots.x[heads], spots.right[tails]
        set_as = [runs[group] for group in spots.group[heads].tolist()]
        self._mend_torn(handle, text, spots, units, heads, set_as)
        for n in np.flatnonzero(spots.codes[spots.stop[tails]] == ord(HYPHEN)).tolist():
            units[n] += HYPHEN
        if not _UNJOINED.isdisjoint(text):
            units = [unit.translate(_LIGATURES) for unit in units]
        base = spots.y[heads].tolist()
        words: list[Word] = list(
            zip(units, x.tolist(), np.maximum(x, right).tolist(), base, set_as, strict=True)
        )
        if single:
            for n in np.flatnonzero((right <= x) & (direction[heads] == 0)).tolist():
                word, start, _, line, run = words[n]
                if word[0] >= FIRST_LEFTWARD:
                    # Its last letter is its left edge.
                    edge = self._right(handle, starts[n], start)
                    words[n] = (word, float(spots.left[tails[n]]), edge, line, run)
        if direction.any():
            for n in np.flatnonzero(direction[heads]).tolist():
                words[n] = _turned(words[n], spots, int(tails[n]))
        if not size.all():
            words = [word for word in words if word[4].style.size]
        return words, set(runs)

    def _spots(self, handle: c_void_p, text: str) -> _Spots:
        """The positions of a page's words, as far as pdfium knows them."""
        codes = np.frombuffer(f"{text} ".encode("utf-32-le", "surrogatepass"), np.uint32)
        apart = _APART[np.minimum(codes, len(_APART) - 1)]
        turns = np.flatnonzero(np.diff(apart, prepend=True))
        first, stop = turns[::2], turns[1::2]
        x, y = self._letters.origins(handle, first)
        edges = self._letters.edges(handle, stop - 1)
        seen = (abs(x) < _FARTHEST) & (abs(y) < _FARTHEST) & np.isfinite(edges[2])
        if not seen.all():
            first, stop, x, y, edges = first[seen], stop[seen], x[seen], y[seen], edges[:, seen]
        key = self._letters.objects(handle, first)
        # If the next word is of the same object, so is all of this.
        end = key.copy()
        unsure = np.flatnonzero(((key != np.append(key[1:], 0)) | (key == 0)) & (stop - first > 1))
        end[unsure] = self._letters.objects(handle, stop[unsure] - 1)
        changed = np.append(True, key[1:] != key[:-1])[: len(key)]
        left, top, right, bottom = edges
        return _Spots(codes, first, stop, x, y, left, top, right, bottom, key, end, np.cumsum(changed) - 1)

    def _set_runs(self, handle: c_void_p, text: str, spots: _Spots) -> tuple[list[Run], Reals, Numbers]:
        """The typography of each text object's words, and the size and direction of each word."""
        heads = np.flatnonzero(np.diff(spots.group, prepend=-1))
        keys = spots.key[heads].tolist()
        boxes = np.array((spots.left, spots.top, spots.right, spots.bottom))[:, heads].T
        # The last letter of a word may be in another object than its first, or be a mere dot.
        lone = np.diff(np.append(heads, len(spots.first))) == 1
        boxes[lone] = self._letters.edges(handle, spots.first[heads[lone]]).T
        fonts = [(native.text_font(key) or 0) if key else 0 for key in keys]
        # Some producers write an object for each word. On the same baseline, in the same font and of the same
        # height, it is typeset like the previous word, which saves the other calls.
        base, height = spots.y[heads], boxes[:, 1] - boxes[:, 3]
        like = (np.diff(fonts) == 0) & (abs(np.diff(base)) <= 0.01) & (abs(np.diff(height)) <= 0.01)
        runs: list[Run] = []
        rows = zip(
            keys,
            fonts,
            [False, *like.tolist()],
            spots.first[heads].tolist(),
            base.tolist(),
            boxes,
            strict=True,
        )
        for key, font, known, at, line, box in rows:
            if not known:
                run = self._run(handle, text, at, key, font, line, box.tolist())
            elif self.tagged and (mcid := native.marked_content(key)) != run.mcid:
                run = run._replace(mcid=mcid)
            runs.append(run)
        size = np.array([run.style.size for run in runs])[spots.group]
        direction = np.array([run.direction for run in runs])[spots.group]
        return runs, size, direction

    def _mend_torn(
        self,
        handle: c_void_p,
        text: str,
        spots: _Spots,
        units: list[str],
        heads: Numbers,
        runs: Sequence[Run],
    ) -> None:
        """Repair words that span several text objects, which are the last of their units."""
        torn = np.flatnonzero(spots.end != spots.key)
        for at, n in zip(torn.tolist(), (np.searchsorted(heads, torn, "right") - 1).tolist(), strict=True):
            first, stop = int(spots.first[at]), int(spots.stop[at])
            box = [float(edge[at]) for edge in (spots.left, spots.top, spots.right, spots.bottom)]
            mended = self._mend(
                handle, text, first, stop, int(spots.end[at]), runs[n], float(spots.y[at]), box
            )
            units[n] = units[n][: len(units[n]) - (stop - first)] + mended

    def _right(self, handle: c_void_p, index: int, otherwise: float) -> float:
        """The right edge of a character."""
        right = self._letters.edges_of(handle, index)[2]
        return right if math.isfinite(right) else otherwise

    def _mend(
        self,
        handle: c_void_p,
        text: str,
        first: int,
        stop: int,
        end_key: int,
        run: Run,
        base: float,
        box: Edges,
    ) -> str:
        """A word over several text objects: separate a raised note mark, and find spaces that pdfium missed."""
        word = text[first:stop]
        size = run.style.size
        if word[-1] in _NOTE_ENDS and (note := NOTE.search(word)) and note.start():
            at = first + note.start()
            mark = self._run(handle, text, at, end_key, native.text_font(end_key) or 0, base, box)
            if 0 < mark.style.size < 0.8 * size:
                return f"{word[: note.start()]}[^{note.group()}]"
        if run.direction or size <= 0:
            return word
        keys = self._letters.objects(handle, np.arange(first, stop)).tolist()
        breaks = [n for n in range(1, len(word)) if keys[n] != keys[n - 1] and keys[n] and keys[n - 1]]
        for n in reversed(breaks):
            start, _ = self._letters.origin_of(handle, first + n)
            if start - self._letters.edges_of(handle, first + n - 1)[2] > _LEAST_SPACE * size:
                word = f"{word[:n]} {word[n:]}"
        return word

    def _run(
        self, handle: c_void_p, text: str, index: int, key: int, font: int, base: float, box: Edges
    ) -> Run:
        """The typography of the word that begins at an index; ``box`` is that of one of its letters."""
        # Where the height of the line and its part below the baseline are the same, so is the matrix.
        asked = native.font_size(handle, index)
        like = (font, asked, round(box[1] - box[3], 2), round(base - box[3], 2))
        found = self._set.get(like)
        if found is None:
            found = self._size(handle, text, index, font, box)
            if like[2]:
                self._set[like] = found
        known = native.fill_colour(handle, index, *self._channels)
        mode = native.render_mode(key) if key else 0
        mcid = native.marked_content(key) if self.tagged and key else -1
        setting = (*found, font, bytes(self._rgba) if known else b"", mode, mcid)
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

    def _size(self, handle: c_void_p, text: str, index: int, font: int, box: Edges) -> tuple[float, int]:
        """The type size at an index, and the writing direction."""
        matrix = self._matrix
        direction = 0
        stated = native.stated_size(handle, index, matrix)
        if abs(matrix.b) > abs(matrix.a):
            direction = 1 if matrix.b > 0 else 3
        elif matrix.a < 0:
            direction = 2
        height = abs(box[2] - box[0] if direction % 2 else box[1] - box[3])
        return self._sizes.find(handle, text, index, font, stated, height), direction


def _beside(spots: _Spots, size: Reals) -> NDArray[np.bool_]:
    """Which words continue the previous one: in the same text object, after one space, without a gap."""
    size = size[1:]
    widest = WIDEST_GAP * size
    gap = spots.x[1:] - spots.right[:-1]
    # Edges may be wrong. They are not needed as long as even the narrowest letters leave no gap.
    step = spots.x[1:] - spots.x[:-1]
    length = (spots.stop - spots.first)[:-1]
    near = (step > 0) & (step <= widest + _NARROW * size * length)
    result = np.zeros(len(spots.first), np.bool_)
    result[1:] = (
        (spots.group[1:] == spots.group[:-1])
        & (spots.first[1:] == spots.stop[:-1] + 1)
        & (spots.codes[spots.stop[:-1]] == ord(" "))
        & (near | ((gap > -DEEPEST_OVERLAP * size) & (gap < widest)))
    )
    return result


def _part_notes(together: NDArray[np.bool_], spots: _Spots, text: str) -> None:
    """Separate a note mark that begins a line."""
    ends = spots.codes[spots.stop[:-1] - 1]
    for n in np.flatnonzero(together[1:] & _ENDS_NOTE[np.minimum(ends, len(_ENDS_NOTE) - 1)]).tolist():
        if not together[n] and NOTE.fullmatch(text, int(spots.first[n]), int(spots.stop[n])):
            together[n + 1] = False


def _part_fenced(together: NDArray[np.bool_], spots: _Spots, size: Reals, fences: Fences, page: Box) -> None:
    """Separate words that have a vertical rule between them."""
    left, top = page[0], page[3]
    n = np.flatnonzero(together)
    where = zip(
        n.tolist(),
        (spots.right[n - 1] - left).tolist(),
        (spots.x[n] - left).tolist(),
        (top - spots.y[n]).tolist(),
        size[n].tolist(),
        strict=True,
    )
    for at, end, start, base, high in where:
        row = fences.row(base, high)
        if row and kept_apart(row, end, start):
            together[at] = False


def _turned(word: Word, spots: _Spots, last: int) -> Word:
    """A word that is not written left to right, along its direction."""
    text, x, _, y, run = word
    if run.direction == 1:
        return text, y, float(spots.top[last]), x, run
    if run.direction == 2:
        return text, x, float(spots.left[last]), y, run
    return text, y, float(spots.bottom[last]), x, run


def _text(handle: c_void_p) -> str:
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
    # Characters beyond 16 bits, or omitted by pdfium: only then one call each.
    codes = map(native.char_code, repeat(handle), range(count))
    return "".join(
        [chr(code) if 2 < code < 0xD800 else _letter(code, handle, i) for i, code in enumerate(codes)]
    )


def _letter(code: int, handle: c_void_p, index: int) -> str:
    if code == 2 and native.is_hyphen(handle, index) == 1:
        return HYPHEN  # as the text in one call has it
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _with_ligatures(handle: c_void_p, text: str) -> str:
    """Text with the ligatures that TeX puts at control codes, in fonts without a mapping."""

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
