"""The pdfium calls made for each word, bound for speed.

The stock bindings wrap every pointer in an object and release the interpreter lock around each call, which these calls,
of a fraction of a microsecond, do not need: without both a call costs half. The most frequent ones are bound without
argument types, which halves the cost again. They need pointers as ``c_void_p`` or ``byref``: ctypes would cut a plain
integer to 32 bits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_double, c_float, c_int, c_size_t, c_uint, c_ulong, c_void_p
from typing import Any, TypeAlias

import pypdfium2.raw as pdfium

Function: TypeAlias = Callable[..., Any]


def address(handle: Any) -> int:
    """A pdfium handle of the stock bindings as a plain address."""
    return ctypes.cast(handle, c_void_p).value or 0


def pointer(handle: Any) -> c_void_p:
    """A pdfium handle of the stock bindings in the form that the functions here take."""
    return c_void_p(address(handle))


def _untyped(function: Any, result: Any) -> Function:
    return ctypes.PYFUNCTYPE(result)(address(function))


def _bind(function: Any, result: Any, *arguments: Any) -> Function:
    return ctypes.PYFUNCTYPE(result, *arguments)(address(function))


class Rect(ctypes.Structure):
    """``FS_RECTF``."""

    _fields_ = (("left", c_float), ("top", c_float), ("right", c_float), ("bottom", c_float))


class Matrix(ctypes.Structure):
    """``FS_MATRIX``."""

    _fields_ = tuple((name, c_float) for name in "abcdef")


text_object: Function = _untyped(pdfium.FPDFText_GetTextObject, c_size_t)
char_origin: Function = _untyped(pdfium.FPDFText_GetCharOrigin, c_int)
loose_box: Function = _untyped(pdfium.FPDFText_GetLooseCharBox, c_int)
tight_box: Function = _bind(
    pdfium.FPDFText_GetCharBox, c_int, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p
)
char_matrix: Function = _untyped(pdfium.FPDFText_GetMatrix, c_int)
font_size: Function = _untyped(pdfium.FPDFText_GetFontSize, c_double)
fill_colour: Function = _untyped(pdfium.FPDFText_GetFillColor, c_int)
is_hyphen: Function = _bind(pdfium.FPDFText_IsHyphen, c_int, c_void_p, c_int)
char_code: Function = _untyped(pdfium.FPDFText_GetUnicode, c_uint)
render_mode: Function = _bind(pdfium.FPDFTextObj_GetTextRenderMode, c_int, c_void_p)
text_font: Function = _bind(pdfium.FPDFTextObj_GetFont, c_void_p, c_void_p)
font_name: Function = _bind(pdfium.FPDFFont_GetBaseFontName, c_ulong, c_void_p, c_void_p, c_ulong)
marked_content: Function = _bind(pdfium.FPDFPageObj_GetMarkedContentID, c_int, c_void_p)
page_object: Function = _untyped(pdfium.FPDFPage_GetObject, c_void_p)
object_type: Function = _bind(pdfium.FPDFPageObj_GetType, c_int, c_void_p)
object_bounds: Function = _bind(
    pdfium.FPDFPageObj_GetBounds, c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p
)
count_segments: Function = _bind(pdfium.FPDFPath_CountSegments, c_int, c_void_p)
segment: Function = _bind(pdfium.FPDFPath_GetPathSegment, c_void_p, c_void_p, c_int)
segment_point: Function = _bind(pdfium.FPDFPathSegment_GetPoint, c_int, c_void_p, c_void_p, c_void_p)
segment_type: Function = _bind(pdfium.FPDFPathSegment_GetType, c_int, c_void_p)
form_count: Function = _bind(pdfium.FPDFFormObj_CountObjects, c_int, c_void_p)
form_object: Function = _bind(
    pdfium.FPDFFormObj_GetObject, c_void_p, c_void_p, pdfium.FPDFFormObj_GetObject.argtypes[1]
)
tree_count: Function = _bind(pdfium.FPDF_StructTree_CountChildren, c_int, c_void_p)
tree_child: Function = _bind(pdfium.FPDF_StructTree_GetChildAtIndex, c_void_p, c_void_p, c_int)
tree_close: Function = _bind(pdfium.FPDF_StructTree_Close, None, c_void_p)
element_count: Function = _bind(pdfium.FPDF_StructElement_CountChildren, c_int, c_void_p)
element_child: Function = _bind(pdfium.FPDF_StructElement_GetChildAtIndex, c_void_p, c_void_p, c_int)
element_mcid: Function = _bind(pdfium.FPDF_StructElement_GetChildMarkedContentID, c_int, c_void_p, c_int)
element_type: Function = _bind(pdfium.FPDF_StructElement_GetType, c_ulong, c_void_p, c_void_p, c_ulong)
object_matrix: Function = _bind(pdfium.FPDFPageObj_GetMatrix, c_int, c_void_p, c_void_p)


def font_at(page: c_void_p, index: int) -> int:
    """The font of a character of a text page; 0 if none."""
    found = text_object(page, index)
    return (text_font(found) or 0) if found else 0


def stated_size(page: c_void_p, index: int, matrix: Matrix) -> float:
    """The size of a character by font and matrix, which is stored in ``matrix``.

    A negative size turns letters around: what a matrix turns as well stands upright.
    """
    matrix.a, matrix.b, matrix.c, matrix.d = 1.0, 0.0, 0.0, 1.0
    char_matrix(page, index, ctypes.byref(matrix))
    size = float(font_size(page, index))
    if size < 0:
        size, matrix.a, matrix.b, matrix.c, matrix.d = -size, -matrix.a, -matrix.b, -matrix.c, -matrix.d
    return size * ((matrix.c * matrix.c + matrix.d * matrix.d) ** 0.5 or 1.0)
