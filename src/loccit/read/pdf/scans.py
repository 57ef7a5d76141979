"""Scanned pages: which they are, how they are rendered, and what Tesseract reads on them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium

from loccit.errors import ConversionError
from loccit.read.ocr import Ocr, OcrLine, Picture, Reading, find_turn, missing
from loccit.read.pdf.candidates import find_body
from loccit.read.pdf.page import PageText, name_pages
from loccit.read.pdf.scan_type import RawPage, measure, mend_section_signs, set_type

_DPI = 300
MOST_PIXELS = 16_000_000
_LEAST_CONTRAST = 40
# A stamp or a page number on an image is not a text layer.
_FEW_LETTERS = 200
_COVERED = 0.6
# Below this confidence, in percent, the orientation is checked; below the other, the reader is warned.
_UNSURE = 75
_POOR = 70
# The time limits of a file: per page on average, and in all.
_SECONDS_A_PAGE = 15.0
_MOST_SECONDS = 3 * 3600.0


class Sheet(NamedTuple):
    """A page to be read: its image, and the size of a pixel in points."""

    number: int
    picture: Picture
    unit: float


@dataclass(slots=True)
class Scans:
    """The pages read from images, and what happened to the others, numbered from 1."""

    pages: list[PageText] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    late: bool = False
    """Time ran out before all were read."""

    @property
    def numbers(self) -> list[int]:
        """The pages that were read."""
        return [page.number + 1 for page in self.pages]


def read_scans(document: Any, pages: list[PageText], ocr: Ocr) -> tuple[list[int], list[str]]:
    """Read the scanned pages of a PDF in place; return which these are, and warnings.

    Raises ``ConversionError`` if they cannot be read and the document has nothing else.
    """
    wanted = [page.number for page in pages if _is_wanted(document, page, ocr)]
    if not wanted:
        return [], []
    reason = refusal(ocr)
    if reason and (ocr.mode == "force" or not any(page.lines or page.aside for page in pages)):
        raise ConversionError(f"no text layer: the pages are images. {reason}", again=True)
    named = name_pages([number + 1 for number in wanted])
    if reason:
        return [], [f"{named} without text: only images there. {reason}"]
    tried = wanted[: ocr.max_pages]
    scans = read_sheets((_draw(document, number) for number in tried), len(tried), ocr, pages)
    for page in scans.pages:
        pages[page.number] = page
    return scans.numbers, describe(scans, [number + 1 for number in wanted], len(pages), ocr)


def refusal(ocr: Ocr) -> str:
    """Say why images are not read; "" if they are."""
    if ocr.mode == "off":
        return "OCR is switched off; --ocr auto switches it on."
    return missing(ocr)


def read_sheets(sheets: Iterator[Sheet], count: int, ocr: Ocr, others: Sequence[PageText] = ()) -> Scans:
    """Read page images, several at a time. ``others`` are the document's pages with a text layer."""
    scans = Scans()
    raw: list[RawPage] = []
    ends = time.monotonic() + min(60 + _SECONDS_A_PAGE * count, _MOST_SECONDS)
    running: deque[tuple[Sheet, Reading | None]] = deque()
    try:
        for sheet in sheets:
            running.append(
                (sheet, None if _is_blank(sheet.picture) else Reading(sheet.picture, _dpi(sheet), ocr))
            )
            if len(running) >= ocr.processes:
                _finish(*running.popleft(), ocr, scans, raw)
            if time.monotonic() > ends:
                scans.late = True
                break
        while running:
            _finish(*running.popleft(), ocr, scans, raw)
    finally:
        for _, reading in running:
            if reading is not None:
                reading.close()
    mend_section_signs(raw, "deu" in ocr.codes)
    body = find_body(line for page in others for line in page.lines)
    set_type(raw, body.size if body.letters else None)
    return scans


def _finish(sheet: Sheet, reading: Reading | None, ocr: Ocr, scans: Scans, raw: list[RawPage]) -> None:
    """Take what was read on a page, after rotating it if it is not upright."""
    try:
        lines = _lines(reading)
        if reading is not None and confidence(lines) < _UNSURE:
            sheet, lines = _upright(sheet, lines, ocr)
    except ConversionError as error:
        scans.failed[sheet.number + 1] = str(error)
        return
    height, width = sheet.picture.shape
    page = PageText(sheet.number, width * sheet.unit, height * sheet.unit, images=1, sure=confidence(lines))
    scans.pages.append(page)
    raw.append(RawPage(page, measure(lines, sheet.picture, sheet.unit)))


def _lines(reading: Reading | None) -> list[OcrLine]:
    if reading is None:
        return []
    try:
        return reading.lines()
    finally:
        reading.close()


def _upright(sheet: Sheet, lines: list[OcrLine], ocr: Ocr) -> tuple[Sheet, list[OcrLine]]:
    """Try the plausible orientations; return the page in the one in which most can be read."""
    turn = find_turn(sheet.picture, _dpi(sheet))
    best, best_sheet = lines, sheet
    for degrees in (90, 180, 270) if turn is None else (turn,) if turn else ():
        turned = sheet._replace(picture=np.ascontiguousarray(np.rot90(sheet.picture, -degrees // 90)))
        found = _lines(Reading(turned.picture, _dpi(turned), ocr))
        if _legible(found) > _legible(best):
            best, best_sheet = found, turned
    return best_sheet, best


def confidence(lines: Sequence[OcrLine]) -> float:
    """Tesseract's mean confidence, in percent; 100 without letters. What it reads sideways counts 0."""
    letters = sum(len(word.text) for line in lines for word in line.words)
    if not letters:
        return 100.0
    sure = sum(word.sure * len(word.text) for line in lines if line.level for word in line.words)
    return sure / letters


def _legible(lines: Sequence[OcrLine]) -> int:
    return sum(len(word.text) for line in lines if line.level for word in line.words if word.sure >= _UNSURE)


def describe(scans: Scans, wanted: Sequence[int], count: int, ocr: Ocr) -> list[str]:
    """Say which pages were read from images, how well, and which were not."""
    warnings = []
    if scans.pages:
        read = f"{len(scans.pages)} of {count} pages were read from images"
        written = [page for page in scans.pages if page.lines]
        sure = sum(page.sure or 0.0 for page in written) / max(len(written), 1)
        poor = [page.number + 1 for page in written if (page.sure or 0.0) < _POOR]
        warning = read if count > 1 else "the page was read from an image"
        if poor:
            warning += (
                f"; Tesseract's confidence is only {sure:.0f} % on average, lowest on {name_pages(poor)}"
            )
        warnings.append(warning)
    reached = {*scans.numbers, *scans.failed}
    left = [number for number in wanted if number not in reached]
    for reason in sorted(set(scans.failed.values())):
        numbers = [number for number, why in scans.failed.items() if why == reason]
        warnings.append(f"{name_pages(numbers)} could not be read from the image: {reason}")
    if left:
        why = "time ran out" if scans.late else f"the limit is {ocr.max_pages} pages per file (ocr_max_pages)"
        warnings.append(f"{name_pages(left)} were not read from images: {why}; split the file")
    return warnings


def _is_wanted(document: Any, page: PageText, ocr: Ocr) -> bool:
    if ocr.mode == "force":
        return True
    if not page.images:
        return False
    letters = sum(map(str.isalnum, "".join([*(line.text for line in page.lines), *page.aside])))
    if letters >= _FEW_LETTERS:
        return False
    return not letters or _covered(document, page.number) >= _COVERED


def _covered(document: Any, number: int) -> float:
    """The share of a page that its largest image covers."""
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return 0.0
    try:
        left, bottom, right, top = page.get_bbox()
        most = 0.0
        for item in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
            x0, y0, x1, y1 = item.get_bounds()
            most = max(most, (min(x1, right) - max(x0, left)) * (min(y1, top) - max(y0, bottom)))
        return float(most / max((right - left) * (top - bottom), 1.0))
    finally:
        page.close()


def _draw(document: Any, number: int) -> Sheet:
    """Render a page in grey, at 300 dpi unless that is too large."""
    page = document[number]
    try:
        width, height = page.get_size()
        scale = min(_DPI / 72, (MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
        pixels = page.render(scale=scale, grayscale=True).to_numpy()
        picture = np.array(pixels.reshape(pixels.shape[0], pixels.shape[1]), dtype=np.uint8)
    finally:
        page.close()
    return Sheet(number, picture, 1 / scale)


def _dpi(sheet: Sheet) -> int:
    return max(70, round(72 / sheet.unit))


def _is_blank(picture: Picture) -> bool:
    return int(picture.max()) - int(picture.min()) < _LEAST_CONTRAST
