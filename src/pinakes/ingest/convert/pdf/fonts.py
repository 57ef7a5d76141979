"""Fonts: bold, italic, and which is which."""

from __future__ import annotations

import ctypes
import re

import pypdfium2.raw as pdfium

from . import native

_BOLD = re.compile(r"bold|black|heavy|demi|semib|extrab|ultrab|-bd|cmbx|sfbx|cmssbx|medi$|poster", re.I)
_PLAIN = re.compile(r"regular|roman|book|light|thin|normal|medium|-rg|cmr\d", re.I)
_ITALIC = re.compile(r"ital|obli|slant|kursiv|cmti|cmsl|-it$|regu?ital", re.I)
_FORCE_BOLD = 1 << 18
_ITALIC_FLAG = 1 << 6
_STRUCK = (pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP)


class Face:
    """What a font says about itself."""

    __slots__ = ("bold", "italic", "number")

    def __init__(self, number: int, bold: bool, italic: bool) -> None:
        self.number, self.bold, self.italic = number, bold, italic


class Faces:
    """The fonts of a document, looked at once each."""

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
    """Whether a text render mode thickens the letters by stroking them."""
    return mode in _STRUCK
