"""Ruling lines: the thin paths and box edges drawn on a page, from which tables are recognised."""

from __future__ import annotations

from ctypes import byref, c_float
from itertools import repeat
from typing import Any

import pypdfium2.raw as pdfium

from . import native
from .grid import merge
from .page import Rule

_TEXT, _PATH = pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_PATH
_IMAGE, _FORM = pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM
_THIN = 2.5
_SHORTEST = 6.0
_MOST_OBJECTS = 20_000
_MOST_POINTS = 600


class RuleReader:
    """Collects the rules of pages, upright pages only: turned ones are rare and would need turning too."""

    def __init__(self) -> None:
        self._edges = [c_float() for _ in range(4)]
        self._matrix = native.Matrix()

    def read(self, page: Any) -> tuple[list[Rule], int]:
        """The rules of a page and how many images it shows."""
        left, bottom, right, top = page.get_bbox()
        handle = native.pointer(page.raw)
        count = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
        rules: list[Rule] = []
        images = 0
        items = list(map(native.page_object, repeat(handle), range(count)))
        place = (1.0, 0.0, 0.0, 1.0, -left, -top)
        for item, kind in zip(items, map(native.object_type, items), strict=True):
            if kind == _TEXT:
                continue
            if kind == _PATH:
                self._path(item, rules, place)
            elif kind == _IMAGE:
                images += 1
            elif kind == _FORM:
                images += self._form(item, rules, left, top)
        width, height = right - left, top - bottom
        kept = [r for r in rules if r.x1 - r.x0 < 0.99 * width and r.y1 - r.y0 < 0.99 * height]
        return merge(kept), images

    def _form(self, form: int, rules: list[Rule], left: float, top: float) -> int:
        matrix = self._matrix
        place = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        if native.object_matrix(form, byref(matrix)):
            place = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
        a, b, c, d, e, f = place
        images = 0
        for index in range(min(native.form_count(form), _MOST_OBJECTS)):
            item = native.form_object(form, index)
            kind = native.object_type(item)
            if kind == _PATH:
                self._path(item, rules, (a, b, c, d, e - left, f - top))
            elif kind == _IMAGE:
                images += 1
        return images

    def _path(self, path: int, rules: list[Rule], place: tuple[float, ...]) -> None:
        low_x, low_y, high_x, high_y = self._edges
        if not native.object_bounds(path, byref(low_x), byref(low_y), byref(high_x), byref(high_y)):
            return
        a, b, c, d, e, f = place
        xs = (a * low_x.value + c * low_y.value + e, a * high_x.value + c * high_y.value + e)
        ys = (-(b * low_x.value + d * low_y.value + f), -(b * high_x.value + d * high_y.value + f))
        x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
        width, height = x1 - x0, y1 - y0
        if width <= _THIN or height <= _THIN:
            if max(width, height) >= _SHORTEST:
                rules.append(Rule(x0, y0, x1, y1))
            return
        if width < _SHORTEST or height < _SHORTEST:
            return
        segments = native.count_segments(path)
        if segments <= 6:
            rules.append(Rule(x0, y0, x1, y0))
            rules.append(Rule(x0, y1, x1, y1))
            rules.append(Rule(x0, y0, x0, y1))
            rules.append(Rule(x1, y0, x1, y1))
        elif segments <= _MOST_POINTS:
            self._segments(path, segments, rules, place)

    def _segments(self, path: int, count: int, rules: list[Rule], place: tuple[float, ...]) -> None:
        """A grid drawn as one path: take its axis-parallel strokes."""
        matrix = self._matrix
        m = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        if native.object_matrix(path, byref(matrix)):
            m = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
        a, b, c, d, e, f = place
        at_x, at_y = self._edges[:2]
        before: tuple[float, float] | None = None
        for index in range(count):
            piece = native.segment(path, index)
            native.segment_point(piece, byref(at_x), byref(at_y))
            px, py = at_x.value, at_y.value
            px, py = m[0] * px + m[2] * py + m[4], m[1] * px + m[3] * py + m[5]
            point = (a * px + c * py + e, -(b * px + d * py + f))
            kind = native.segment_type(piece)
            if before is not None and kind == pdfium.FPDF_SEGMENT_LINETO:
                x0, x1 = sorted((before[0], point[0]))
                y0, y1 = sorted((before[1], point[1]))
                if min(x1 - x0, y1 - y0) <= 0.5 and max(x1 - x0, y1 - y0) >= _SHORTEST:
                    rules.append(Rule(x0, y0, x1, y1))
            before = point
