"""Letters: their positions, whether they are those shown, their direction, and their fonts.

A call through ctypes costs more than its work. With the memory for all answers laid out beforehand, many calls run
without an interpreter step between them.

Most TrueType fonts have their glyphs in the same order, that of the Macintosh: three for no character, then those of
ASCII. A font that was embedded by glyph, without a mapping to characters, then reads as text whose letters are shifted
by 29: `7KLV` for `This`. Shifted back, they are legible. Other fonts have no mapping, or a wrong one: their text is
full of unprintable characters, or of words without vowels.

Pages written from right to left, such as Arabic and Hebrew, are mirrored, so that a line continues where x grows and
the right column comes first; later stages need not know. Only left-to-right text within a line, a name or a number,
keeps its own order.

The size that a page asks for is that of a square in which a font draws its letters as it likes. Type 3 fonts often draw
them a hundred times larger than the square and let the page scale them down again; then only the measured letters give
the real size.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from ctypes import byref, c_double, c_void_p
from itertools import pairwise, repeat
from math import nan
from statistics import median
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from loccit.read.pdf import native
from loccit.read.pdf.page import Rule, Style

Numbers: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
Edges: TypeAlias = Sequence[float]

_AT_ONCE = 1024
_MOVED = 29
_LAST = 0x7E
_QUOTES = {177: "–", 178: "—", 179: "“", 180: "”", 181: "‘", 182: "’"}
# Spaces and line ends are added by pdfium.
_BACK = {c: chr(c + _MOVED) for c in range(3, _LAST - _MOVED + 1) if c not in (10, 13, 32)} | _QUOTES
_LEAST_LETTERS = 30
_LIKE_A_LANGUAGE = (0.27, 0.55)
"""The share of vowels among the letters."""
_SHORT, _LONG = 3.0, 16.0
"""The average length of words, including the space."""
_MOST_ALIKE = 0.08
_SIGNS = "$%&'(*+/"
_MANY_SIGNS = 0.2
_NEVER_PRINTED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{4,}")
_VOWELS = frozenset("aeiouy\u0131\u00e6\u00f8\u0153")
_LEAST_STRANGE = 40
_LEAST_JUDGED = 400
_MOST_UNPRINTED = 0.3
_LEAST_VOWELS = 0.23
"""In languages with Latin letters, at least a third are vowels."""
FIRST_LEFTWARD = "\u0590"
_LEFTWARD = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


class Letters:
    """Queries pdfium about letters by their indexes in the text of a page; unknown values are NaN."""

    def __init__(self) -> None:
        self._doubles: NDArray[np.float64] = np.zeros((_AT_ONCE, 2), np.float64)
        self._floats: NDArray[np.float32] = np.zeros((_AT_ONCE, 4), np.float32)
        self._x = _places(self._doubles)
        self._y = _places(self._doubles, 1)
        self._edges = _places(self._floats)
        self._one_x, self._one_y = c_double(), c_double()
        self._box = native.Rect()

    def objects(self, page: c_void_p, indexes: Numbers) -> Numbers:
        """The addresses of the text objects of letters; 0 for letters that pdfium added."""
        return np.fromiter(map(native.text_object, repeat(page), indexes.tolist()), np.int64, len(indexes))

    def origins(self, page: c_void_p, indexes: Numbers) -> Reals:
        """The positions of letters on their baselines: x and y."""
        return self._ask(native.char_origin, page, indexes, self._doubles, self._x, self._y)

    def edges(self, page: c_void_p, indexes: Numbers) -> Reals:
        """The left, top, right and bottom edges of letters with the space around them."""
        return self._ask(native.loose_box, page, indexes, self._floats, self._edges)

    def _ask(
        self, call: Any, page: c_void_p, indexes: Numbers, answers: NDArray[Any], *places: list[c_void_p]
    ) -> Reals:
        result: Reals = np.empty((answers.shape[1], len(indexes)))
        for start in range(0, len(indexes), _AT_ONCE):
            some = indexes[start : start + _AT_ONCE].tolist()
            answers[: len(some)] = np.nan
            deque(map(call, repeat(page), some, *places), maxlen=0)
            result[:, start : start + len(some)] = answers[: len(some)].T
        return result

    def origin_of(self, page: c_void_p, index: int) -> tuple[float, float]:
        """The position of one letter on its baseline."""
        x, y = self._one_x, self._one_y
        return (x.value, y.value) if native.char_origin(page, index, byref(x), byref(y)) else (nan, nan)

    def edges_of(self, page: c_void_p, index: int) -> Edges:
        """The left, top, right and bottom edges of one letter with the space around it."""
        box = self._box
        return (
            [box.left, box.top, box.right, box.bottom]
            if native.loose_box(page, index, byref(box))
            else [nan] * 4
        )


def _places(array: NDArray[Any], column: int = 0) -> list[c_void_p]:
    """Pointers into the rows of an array."""
    start = array.ctypes.data + column * array.itemsize
    return [c_void_p(start + row * array.strides[0]) for row in range(len(array))]


def table_of(letters: Iterable[str]) -> NDArray[np.bool_]:
    """A table over 16-bit codes: whether each is one of these letters; the last one is not a letter."""
    table = np.zeros(0x10000, np.bool_)
    table[[ord(letter) for letter in letters]] = True
    return table


class Glyphs:
    """Corrects the text of a document's pages, remembering which fonts need it."""

    def __init__(self) -> None:
        self._moved: set[int] = set()

    def mend(self, text: str, font_at: Callable[[int], int]) -> tuple[str, bool]:
        """The corrected text of a page, and whether it is legible now.

        ``font_at`` returns the number of the font at an index, 0 for none.
        """
        if not self._moved and is_legible(text):
            return text, True
        by_font: dict[int, list[int]] = defaultdict(list)
        for index in range(len(text)):
            if font := font_at(index):
                by_font[font].append(index)
        letters = list(text)
        texts = {font: "".join([text[index] for index in places]) for font, places in by_font.items()}
        self._moved.update(font for font, written in texts.items() if _is_moved(written))
        if self._moved:
            self._moved.update(font for font, written in texts.items() if _are_capitals(written))
        for font in self._moved & by_font.keys():
            for index, letter in zip(by_font[font], texts[font].translate(_BACK), strict=True):
                letters[index] = letter
        mended = "".join(letters)
        return mended, is_legible(mended)


def _is_moved(written: str) -> bool:
    """Whether a font's text resembles no language as it is, but does when shifted back."""
    return vowels(written) < _LIKE_A_LANGUAGE[0] and _is_language(written.translate(_BACK))


def _are_capitals(written: str) -> bool:
    """Whether a font has shifted words in capitals: these mostly become signs, unlike figures."""
    signs = sum(map(written.count, _SIGNS))
    return signs > _MANY_SIGNS * len(written) and _is_language(written.translate(_BACK))


def _is_language(text: str) -> bool:
    count = sum(letter.isascii() and letter.isalpha() for letter in text)
    words = text.split()
    if count < _LEAST_LETTERS or 2 * count < len(text) or not _SHORT <= len(text) / len(words) <= _LONG:
        return False
    # The signs of a pattern come in long runs of the same.
    alike = sum(a == b for a, b in pairwise(text.lower()))
    least, most = _LIKE_A_LANGUAGE
    return least <= vowels(text) <= most and alike < _MOST_ALIKE * len(text)


def vowels(text: str) -> float:
    """The share of vowels among the ASCII letters of a text; 1 for a text without letters."""
    lower = text.lower()
    letters = sum("a" <= letter <= "z" for letter in lower)
    return sum(map(lower.count, "aeiouy")) / letters if letters else 1.0


def is_legible(text: str) -> bool:
    """Whether the text of a page can be read; a page with next to none can."""
    strange = len(_NEVER_PRINTED.findall(text))
    if strange >= _LEAST_STRANGE and strange > _MOST_UNPRINTED * len("".join(text.split())):
        return False
    words = "".join(_LATIN_WORD.findall(text))
    if len(words) < _LEAST_JUDGED:
        return True
    counted = sum(map(words.lower().count, "aeiouy"))
    if counted >= _LEAST_VOWELS * len(words):
        return True
    plain = unicodedata.normalize("NFD", words.lower())
    return sum(letter in _VOWELS for letter in plain) >= _LEAST_VOWELS * len(words)


class _Set(Protocol):
    """How a word is typeset."""

    @property
    def style(self) -> Style: ...


_Run = TypeVar("_Run", bound=_Set)


def has_leftward(text: str) -> bool:
    """Whether a text has letters of right-to-left scripts."""
    return not text.isascii() and _LEFTWARD.search(text) is not None


def is_leftward(text: str) -> bool:
    """Whether most letters of a text are of right-to-left scripts."""
    return has_leftward(text) and 2 * len(_LEFTWARD.findall(text)) > sum(map(str.isalpha, text))


def mirror_words(
    words: Sequence[tuple[str, float, float, float, _Run]], width: float
) -> list[tuple[str, float, float, float, _Run]]:
    """The mirrored words of a page; adjacent left-to-right words are treated as one."""
    result: list[tuple[str, float, float, float, _Run]] = []
    rightward = False
    for word in words:
        text, x0, x1, base, run = word
        before = rightward
        rightward = not _LEFTWARD.search(text)
        if before and rightward and result:
            last, start, end, last_base, last_run = result[-1]
            # In mirrored coordinates the word before ends where its left edge is.
            gap = x0 - (width - start)
            size = run.style.size
            if abs(last_base - base) < 0.3 * size and -0.1 * size < gap < size:
                result[-1] = (f"{last} {text}", width - x1, end, last_base, last_run)
                continue
        result.append((text, width - x1, width - x0, base, run))
    return result


def mirror_rules(rules: Sequence[Rule], width: float) -> list[Rule]:
    """The mirrored rules of a page."""
    return [Rule(width - r.x1, r.y0, width - r.x0, r.y1) for r in rules]


# -- fonts ------------------------------------------------------------------------------------------------------


_BOLD = re.compile(r"bold|black|heavy|demi|semib|extrab|ultrab|-bd|cmbx|sfbx|cmssbx|medi$|poster", re.I)
_PLAIN = re.compile(r"regular|roman|book|light|thin|normal|medium|-rg|cmr\d", re.I)
_ITALIC = re.compile(r"ital|obli|slant|kursiv|cmti|cmsl|-it$|regu?ital", re.I)
_FORCE_BOLD = 1 << 18
_ITALIC_FLAG = 1 << 6
_STRUCK = (pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP)
_SAMPLE = 80
_FEWEST = 5
_USUAL = (5.0, 30.0)
"""Sizes need at least this many letters as evidence: in symbol fonts, letters may be braces and sums."""
_SMALLEST = 2.0
_LEAST, _MOST = 0.2, 3.0
"""The maximum height of a letter with the space around it, in sizes, for the size to be plausible."""
_LARGEST = 2000.0
_SHARES = dict.fromkeys("acemnorsuvwxz", 0.45) | dict.fromkeys(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZbdfhkl0123456789", 0.69
)
"""The height of letters relative to the size, in most Latin type."""


class Face:
    """What a font declares about itself."""

    __slots__ = ("bold", "italic", "number")

    def __init__(self, number: int, bold: bool, italic: bool) -> None:
        self.number: int = number
        self.bold: bool = bold
        self.italic: bool = italic


class Faces:
    """The fonts of a document, each examined once."""

    def __init__(self) -> None:
        self._by_name: dict[str, Face] = {}
        self._plain = Face(0, False, False)

    def of(self, font: int) -> Face:
        """The face of a font, given by its address."""
        if not font:
            return self._plain
        name = font_name(font)
        face = self._by_name.get(name)
        if face is None:
            face = self._by_name[name] = self._look(ctypes.cast(font, pdfium.FPDF_FONT), name)
        return face

    def _look(self, font: object, name: str) -> Face:
        flags = pdfium.FPDFFont_GetFlags(font)
        flags = 0 if flags < 0 else flags
        plain_name = name.split("+", 1)[-1]
        if _BOLD.search(plain_name):
            bold = True
        elif _PLAIN.search(plain_name):
            bold = False
        else:
            # The weight is derived from the stem width, which many fonts state wrongly: only a last resort.
            bold = bool(flags & _FORCE_BOLD) or pdfium.FPDFFont_GetWeight(font) >= 700
        italic = bool(_ITALIC.search(plain_name)) or bool(flags & _ITALIC_FLAG)
        return Face(len(self._by_name) + 1, bold, italic)


def font_name(font: int) -> str:
    """The name of a font, given by its address; empty if it has none."""
    buffer = ctypes.create_string_buffer(160)
    length = native.font_name(font, buffer, 160)
    return buffer.value.decode("utf-8", "replace") if 0 < length <= 160 else ""


def struck_bold(mode: int) -> bool:
    """Whether a text render mode thickens letters by stroking them."""
    return mode in _STRUCK


class Sizes:
    """Finds the sizes of runs of text. If necessary, a font's letters are measured: once, if it has a name.

    ``name_of`` returns the name of a font, given by its address.
    """

    def __init__(self, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self._known: dict[int, float] = {}
        self._named: dict[str, float] = {}
        self._edges = [c_double() for _ in range(4)]
        self._matrix = native.Matrix()

    def clear(self) -> None:
        """Forget the fonts of a page."""
        self._known.clear()

    def find(self, page: c_void_p, text: str, index: int, font: int, stated: float, box: float) -> float:
        """The size of the letter at an index of a text page, in half points; 0 for type without any extent.

        ``stated`` is the size by font and matrix, ``box`` the height of a letter with the space around it.
        """
        if _SMALLEST <= stated <= _LARGEST and (box == 0 or _LEAST * stated < box < _MOST * stated):
            return round(stated * 2) / 2
        box = box if 0 < box < _LARGEST else 0.0
        stated = abs(stated) if math.isfinite(stated) else 0.0
        size = box
        if stated:
            if font not in self._known:
                self._known[font] = self._multiple(page, text, index, font, stated)
            size = stated * self._known[font] or (stated if stated >= _SMALLEST else box)
        return max(round(min(size, _LARGEST) * 2) / 2, 0.5) if size > 0 else 0.0

    def _multiple(self, page: c_void_p, text: str, index: int, font: int, usual: float) -> float:
        """The real size of a font's letters as a multiple of the stated one; 0 if unknown."""
        name = self._name_of(font)
        if name in self._named:
            return self._named[name]
        found = self._measure(page, text, index, font)
        if len(found) < _FEWEST and _USUAL[0] <= usual <= _USUAL[1]:
            return 1.0
        multiple = median(found) if found else 0.0
        if name and len(found) >= _SAMPLE // 2:
            self._named[name] = multiple
        return multiple

    def _measure(self, page: c_void_p, text: str, index: int, font: int) -> list[float]:
        left, right, bottom, top = self._edges
        matrix = self._matrix
        found: list[float] = []
        for at in range(index, min(index + 4 * _SAMPLE, len(text))):
            share = _SHARES.get(text[at])
            if share is None or native.font_at(page, at) != font:
                continue
            stated = abs(native.stated_size(page, at, matrix))
            if stated > 0 and native.tight_box(
                page, at, byref(left), byref(right), byref(bottom), byref(top)
            ):
                turned = abs(matrix.b) > abs(matrix.a)
                height = right.value - left.value if turned else top.value - bottom.value
                if 0 < height < _LARGEST:
                    found.append(height / share / stated)
                    if len(found) >= _SAMPLE:
                        break
        return found
