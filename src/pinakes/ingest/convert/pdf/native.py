"""The pdfium calls made once a word, bound with plain integers.

The stock bindings wrap every pointer in an object and let go of the interpreter lock around each call, which
these, of a fraction of a microsecond, do not need: without both a call costs half.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_float, c_int, c_uint, c_ulong, c_void_p
from typing import Any

import pypdfium2.raw as pdfium


def address(handle: Any) -> int:
    """A pdfium handle of the stock bindings as a plain address."""
    return ctypes.cast(handle, c_void_p).value or 0


def _bind(function: Any, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)(address(function))


class Rect(ctypes.Structure):
    """``FS_RECTF``."""

    _fields_ = (("left", c_float), ("top", c_float), ("right", c_float), ("bottom", c_float))


class Matrix(ctypes.Structure):
    """``FS_MATRIX``."""

    _fields_ = tuple((name, c_float) for name in "abcdef")


text_object = _bind(pdfium.FPDFText_GetTextObject, c_void_p, c_void_p, c_int)
char_origin = _bind(pdfium.FPDFText_GetCharOrigin, c_int, c_void_p, c_int, c_void_p, c_void_p)
loose_box = _bind(pdfium.FPDFText_GetLooseCharBox, c_int, c_void_p, c_int, c_void_p)
tight_box = _bind(pdfium.FPDFText_GetCharBox, c_int, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p)
char_matrix = _bind(pdfium.FPDFText_GetMatrix, c_int, c_void_p, c_int, c_void_p)
font_size = _bind(pdfium.FPDFText_GetFontSize, c_double, c_void_p, c_int)
fill_colour = _bind(
    pdfium.FPDFText_GetFillColor, c_int, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p
)
is_hyphen = _bind(pdfium.FPDFText_IsHyphen, c_int, c_void_p, c_int)
char_code = _bind(pdfium.FPDFText_GetUnicode, c_uint, c_void_p, c_int)
render_mode = _bind(pdfium.FPDFTextObj_GetTextRenderMode, c_int, c_void_p)
text_font = _bind(pdfium.FPDFTextObj_GetFont, c_void_p, c_void_p)
font_name = _bind(pdfium.FPDFFont_GetBaseFontName, c_ulong, c_void_p, c_void_p, c_ulong)
marked_content = _bind(pdfium.FPDFPageObj_GetMarkedContentID, c_int, c_void_p)
page_object = _bind(pdfium.FPDFPage_GetObject, c_void_p, c_void_p, c_int)
object_type = _bind(pdfium.FPDFPageObj_GetType, c_int, c_void_p)
object_bounds = _bind(pdfium.FPDFPageObj_GetBounds, c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
count_segments = _bind(pdfium.FPDFPath_CountSegments, c_int, c_void_p)
segment = _bind(pdfium.FPDFPath_GetPathSegment, c_void_p, c_void_p, c_int)
segment_point = _bind(pdfium.FPDFPathSegment_GetPoint, c_int, c_void_p, c_void_p, c_void_p)
segment_type = _bind(pdfium.FPDFPathSegment_GetType, c_int, c_void_p)
form_count = _bind(pdfium.FPDFFormObj_CountObjects, c_int, c_void_p)
form_object = _bind(
    pdfium.FPDFFormObj_GetObject, c_void_p, c_void_p, pdfium.FPDFFormObj_GetObject.argtypes[1]
)
tree_count = _bind(pdfium.FPDF_StructTree_CountChildren, c_int, c_void_p)
tree_child = _bind(pdfium.FPDF_StructTree_GetChildAtIndex, c_void_p, c_void_p, c_int)
tree_close = _bind(pdfium.FPDF_StructTree_Close, None, c_void_p)
element_count = _bind(pdfium.FPDF_StructElement_CountChildren, c_int, c_void_p)
element_child = _bind(pdfium.FPDF_StructElement_GetChildAtIndex, c_void_p, c_void_p, c_int)
element_mcid = _bind(pdfium.FPDF_StructElement_GetChildMarkedContentID, c_int, c_void_p, c_int)
element_type = _bind(pdfium.FPDF_StructElement_GetType, c_ulong, c_void_p, c_void_p, c_ulong)
object_matrix = _bind(pdfium.FPDFPageObj_GetMatrix, c_int, c_void_p, c_void_p)


def font_at(page: int, index: int) -> int:
    """The font of a character of a text page; 0 without one."""
    found = text_object(page, index)
    return (text_font(found) or 0) if found else 0


def stated_size(page: int, index: int, matrix: Matrix) -> float:
    """The size of a character by its font and its matrix, which is left in ``matrix``."""
    matrix.a, matrix.b, matrix.c, matrix.d = 1.0, 0.0, 0.0, 1.0
    char_matrix(page, index, ctypes.byref(matrix))
    scale = (matrix.c * matrix.c + matrix.d * matrix.d) ** 0.5 or 1.0
    return float(font_size(page, index) * scale)
