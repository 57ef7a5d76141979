"""Bookmarks: the headings an author gave, matched to the lines they point at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from ctypes import c_float, c_int
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import pypdfium2 as pdfium

from .page import HYPHEN, Line

_MOST = 20_000
_WORD = re.compile(r"[^\W_]+")
_JUNK = re.compile(
    r"(?:page|slide|sheet|blank page)\s*\d*$|_?goback$|_toc\d+$|.*\.(?:pdf|docx?|indd|pptx?|xlsx?)$", re.I
)
_LONGEST_HEADING = 7


class Bookmark(NamedTuple):
    """One bookmark; ``y`` is the distance from the top of the page where it points, None if it names none."""

    level: int
    title: str
    page: int
    y: float | None


def read_outline(document: Any) -> list[Bookmark]:
    """The bookmarks that point at a page of the document, in order."""
    found: list[Bookmark] = []
    for mark in document.get_toc(max_depth=12):
        if len(found) >= _MOST:
            break
        try:
            title = " ".join(mark.get_title().split())
            target = mark.get_dest()
            page = target.get_index() if target else None
            y = _height(document, page, target) if target and page is not None else None
        except (pdfium.PdfiumError, UnicodeDecodeError):
            continue
        if title and page is not None and 0 <= page < len(document) and not _JUNK.match(title):
            found.append(Bookmark(mark.level + 1, title, page, y))
    return found


def _height(document: Any, page: int, target: Any) -> float | None:
    has_x, has_y, has_zoom = c_int(), c_int(), c_int()
    x, y, zoom = c_float(), c_float(), c_float()
    known = pdfium.raw.FPDFDest_GetLocationInPage(target, has_x, has_y, has_zoom, x, y, zoom)
    if known and has_y.value:
        return float(document.get_page_size(page)[1] - y.value)
    mode, view = target.get_view()
    if mode in (pdfium.raw.PDFDEST_VIEW_FITH, pdfium.raw.PDFDEST_VIEW_FITBH) and view:
        return float(document.get_page_size(page)[1] - view[0])
    return None


def is_useful(marks: Sequence[Bookmark]) -> bool:
    """Whether bookmarks outline the text: several of them, and not all at one place."""
    return len(marks) >= 2 and len({(m.page, m.title) for m in marks}) >= 2


def normal(text: str) -> str:
    """Letters and digits only, lower case: what two writings of a title have in common."""
    text = unicodedata.normalize("NFKC", text.replace(HYPHEN, "")).lower()
    return "".join(_WORD.findall(text))


def match_bookmark(mark: Bookmark, lines: Sequence[Line], taken: set[int]) -> tuple[int, int] | None:
    """The run of a page's lines (from, to) that reads like a bookmark's title, nearest to where it points."""
    wanted = normal(mark.title)
    if not wanted:
        return None
    best: tuple[float, int, int] | None = None
    texts = [normal(line.text) for line in lines]
    for start, first in enumerate(texts):
        if start in taken or not first or lines[start].contents:
            continue
        joined = ""
        for end in range(start, min(start + _LONGEST_HEADING, len(lines))):
            if end in taken:
                break
            joined += texts[end]
            score = _alike(wanted, joined)
            if score > 0.84:
                distance = abs(lines[start].top - mark.y) / 1000 if mark.y is not None else 0.0
                rank = score - min(distance, 0.5) + 0.001 * min(lines[start].size, 40)
                if best is None or rank > best[0]:
                    best = (rank, start, end)
            if len(joined) > len(wanted) * 1.3 + 4:
                break
    return (best[1], best[2]) if best else None


def _alike(wanted: str, have: str) -> float:
    if wanted == have:
        return 1.0
    if not have or not 0.6 < len(have) / len(wanted) < 1.7:
        return 0.0
    # A number or label that only one of them has: `Introduction` for `1 Introduction`.
    if (have.endswith(wanted) or wanted.endswith(have)) and abs(len(have) - len(wanted)) <= 12:
        return 0.95
    matcher = SequenceMatcher(None, wanted, have, autojunk=False)
    if matcher.real_quick_ratio() < 0.85 or matcher.quick_ratio() < 0.85:
        return 0.0
    return matcher.ratio()
