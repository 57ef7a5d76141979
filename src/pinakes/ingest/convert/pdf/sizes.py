"""The size of type whose font does not tell it.

The size that a page asks for is that of a square in which a font draws its letters as it likes. Type 3 fonts often
draw them a hundred times larger than the square and let the page scale them down again; then only what the letters
measure says how large they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import byref, c_double, c_void_p
from statistics import median

from . import native

_SAMPLE = 80
_FEWEST = 5
_USUAL = (5.0, 30.0)
"""Sizes that fewer letters than that do not disprove: in fonts of symbols, letters may stand for braces and sums."""
_SMALLEST = 2.0
_LEAST, _MOST = 0.2, 3.0
"""How high a letter with the space around it may be, in sizes, for the size to be believed."""
_LARGEST = 2000.0
_SHARES = dict.fromkeys("acemnorsuvwxz", 0.45) | dict.fromkeys(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZbdfhkl0123456789", 0.69
)
"""Which part of the size letters are high, in most type of the Latin alphabet."""


class Sizes:
    """Finds the sizes of runs of text. Where needed, the letters of a font are measured: once, if it has a name.

    ``name_of`` gives the name of a font, given by its address.
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
        """How large the letters of a font are, as a multiple of what is stated; 0 when there is no telling."""
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
