"""Questions about many letters of a page at once.

One call through ctypes costs more than its answer does. Asked in a row, with the places for all answers laid out
beforehand, they go without a step of the interpreter between them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from ctypes import byref, c_double, c_void_p
from itertools import repeat
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import native

Numbers: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
Edges: TypeAlias = Sequence[float]

_AT_ONCE = 1024


class Letters:
    """Asks pdfium about letters by their indexes in the text of a page; what it cannot tell is not a number."""

    def __init__(self) -> None:
        self._doubles: NDArray[np.float64] = np.zeros((_AT_ONCE, 2), np.float64)
        self._floats: NDArray[np.float32] = np.zeros((_AT_ONCE, 4), np.float32)
        self._x = _places(self._doubles)
        self._y = _places(self._doubles, 1)
        self._edges = _places(self._floats)
        self._one_x, self._one_y = c_double(), c_double()
        self._box = native.Rect()

    def objects(self, page: c_void_p, indexes: Numbers) -> Numbers:
        """The addresses of the text objects that letters are of; 0 for letters that pdfium put in."""
        return np.fromiter(map(native.text_object, repeat(page), indexes.tolist()), np.int64, len(indexes))

    def origins(self, page: c_void_p, indexes: Numbers) -> Reals:
        """Where letters stand on their baselines: x and y."""
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
        """Where one letter stands on its baseline."""
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
    """For the codes of 16 bits, whether they are of these letters; the last, which is no letter, is not."""
    table = np.zeros(0x10000, np.bool_)
    table[[ord(letter) for letter in letters]] = True
    return table
