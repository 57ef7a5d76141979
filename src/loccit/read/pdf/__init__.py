"""PDF to Markdown with headings, tables and page starts, through pdfium.

The stages, in order: ``words`` with ``letters``; ``read`` (spans, lines) with ``rules``; ``scans`` with ``scan_type``
(pages that are images, and image files, which go through all later stages too); ``line_numbers`` and
``running_heads`` (set aside);
``rules`` again (tables); ``layout`` (reading order, contents); ``headings``, which uses ``outline`` (bookmarks and
tags), then ``candidates`` and ``selection``; ``paragraphs``, which writes the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium

from loccit.errors import ConversionError
from loccit.model.document import IMAGE_PAGES, Converted, write_pages
from loccit.read.ocr import Ocr, Picture
from loccit.read.pdf.candidates import find_body
from loccit.read.pdf.headings import find_title, mark_headings
from loccit.read.pdf.layout import mark_contents, mark_unpaged_contents, reading_order
from loccit.read.pdf.line_numbers import set_line_numbers_aside
from loccit.read.pdf.outline import Bookmark, is_useful, page_tags, read_outline
from loccit.read.pdf.page import Item, Line, PageText, name_pages
from loccit.read.pdf.paragraphs import make_blocks, render
from loccit.read.pdf.read import PageReader
from loccit.read.pdf.rules import RuleReader, take_tables
from loccit.read.pdf.running_heads import add_asides, set_running_heads_aside
from loccit.read.pdf.scans import MOST_PIXELS, Sheet, describe, read_scans, read_sheets, refusal

_DATE = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-])(\d{2})'?(\d{2})?'?)?")


def convert_pdf(path: Path, ocr: Ocr | None = None) -> Converted:
    """Convert a PDF file; raises ``ConversionError`` with the reason if it cannot be read."""
    ocr = ocr or Ocr()
    document = _open(path)
    try:
        marks = read_outline(document)
        metadata = read_metadata(document)
        pages, warnings = _read_pages(document, document.is_tagged() and not is_useful(marks))
        scanned, remarks = read_scans(document, pages, ocr)
    finally:
        document.close()
    warnings += [*remarks, *_warn_of_letters(pages)]
    if not any(page.lines or page.aside for page in pages):
        if scanned:
            raise ConversionError("no text found on the images of its pages")
        hint = "" if ocr.mode == "force" else "; if it is drawn in shapes, --ocr force reads it"
        raise ConversionError(f"the PDF contains no text{hint}")
    if scanned:
        metadata[IMAGE_PAGES] = write_pages(scanned)
    return compose(pages, marks, metadata, warnings)


def compose(
    pages: list[PageText], marks: Sequence[Bookmark], metadata: dict[str, Any], warnings: list[str]
) -> Converted:
    """Assemble the lines of pages into a text: in reading order, with headings and paragraphs."""
    flow = _flow(pages)
    body = find_body(item for item in flow if isinstance(item, Line))
    if title := find_title(metadata.pop("title", None), flow, body):
        metadata = {"title": title, **metadata}
    blocks = make_blocks(mark_headings(flow, pages, marks, body), body)
    text, starts = render(add_asides(blocks, pages), len(pages))
    return Converted(text=text, pages=starts, metadata=metadata, warnings=tuple(warnings))


def _open(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise ConversionError("the file is empty")
        # PDFium sets no error for a document without pages, and leaves that of an earlier file, so it is
        # handled here.
        pdfium.raw.FPDF_LoadDocument(b"", None)
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code == pdfium.raw.FPDF_ERR_PASSWORD:
            raise ConversionError("encrypted with a password; remove the password first") from error
        if code == pdfium.raw.FPDF_ERR_SECURITY:
            raise ConversionError("encrypted in a way that cannot be read") from error
        if code in (pdfium.raw.FPDF_ERR_SUCCESS, pdfium.raw.FPDF_ERR_FILE):
            raise ConversionError("the PDF has no pages") from error
        raise ConversionError("not a PDF, or truncated or damaged") from error
    except OSError as error:
        raise ConversionError(f"cannot be opened: {error.strerror or error}") from error
    if len(document) == 0:
        document.close()
        raise ConversionError("the PDF has no pages")
    return document


def _read_pages(document: Any, tagged: bool) -> tuple[list[PageText], list[str]]:
    reader, ruler = PageReader(tagged), RuleReader()
    pages: list[PageText] = []
    broken: list[int] = []
    for number in range(len(document)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            broken.append(number + 1)
            pages.append(PageText(number, 612, 792))
            continue
        try:
            rules, images = ruler.read(page)
            text = reader.read(page, number, rules)
            text.images = images
            if tagged:
                text.tags = page_tags(page)
        finally:
            page.close()
        pages.append(text)
    warnings = []
    if broken:
        warnings.append(f"{name_pages(broken)} could not be read")
    return pages, warnings


def _warn_of_letters(pages: list[PageText]) -> list[str]:
    strange = [p.number + 1 for p in pages if not p.legible]
    if not strange:
        return []
    which = "much of the text" if 2 * len(strange) > len(pages) else f"the text of {name_pages(strange)}"
    why = "its fonts do not say which letters they draw"
    return [f"{which} cannot be read: {why}; --ocr force reads the pages as images"]


def _flow(pages: list[PageText]) -> list[Item]:
    """The lines and tables of all pages in reading order."""
    set_line_numbers_aside(pages)
    set_running_heads_aside(pages)
    flow: list[Item] = []
    carried: list[Line] | None = None
    for page in pages:
        tables = take_tables(page)
        items = reading_order([*page.lines, *tables])
        carried = mark_contents(page, [i for i in items if isinstance(i, Line)], carried)
        flow.extend(items)
    mark_unpaged_contents(flow)
    return flow


def read_metadata(document: Any) -> dict[str, Any]:
    """Title, author, subject, keywords and dates, as far as they are stated."""
    result: dict[str, Any] = {}
    for key in ("Title", "Author", "Subject", "Keywords"):
        try:
            value = " ".join(document.get_metadata_value(key).replace("\x00", "").split())
        except UnicodeDecodeError:
            continue
        if value:
            result[key.lower()] = value
    for key, name in (("CreationDate", "created"), ("ModDate", "modified")):
        try:
            date = iso_date(document.get_metadata_value(key))
        except UnicodeDecodeError:
            continue
        if date:
            result[name] = date
    return result


def iso_date(text: str) -> str | None:
    """A PDF date such as ``D:20220301120000+01'00'`` in ISO form; None if it is invalid."""
    match = _DATE.match(text.strip())
    if not match:
        return None
    year, month, day, hour, minute, second = (int(g) if g else None for g in match.groups()[:6])
    try:
        moment = datetime(year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0)
    except ValueError:
        return None
    if match[7]:
        moment = moment.replace(tzinfo=timezone.utc)
    elif match[8]:
        offset = timedelta(hours=int(match[9]), minutes=int(match[10] or 0))
        if offset < timedelta(days=1):
            moment = moment.replace(tzinfo=timezone(-offset if match[8] == "-" else offset))
    return moment.isoformat()


# -- image files ------------------------------------------------------------------------------------------------


# More than any scanner produces; a small file can claim to be this large.
_HUGE = 200_000_000
_RESOLUTIONS = (100, 1200)
_PAGE_HEIGHT = 842.0
# Tesseract reads small type badly: screenshots are enlarged.
_SMALL = 4_000_000
_LARGER = 2.0


def convert_image(path: Path, ocr: Ocr | None = None) -> Converted:
    """Convert an image file, one page per image in it."""
    from PIL import Image

    ocr = ocr or Ocr()
    if reason := refusal(ocr):
        raise ConversionError(f"an image. {reason}", again=True)
    Image.MAX_IMAGE_PIXELS = _HUGE
    with Image.open(path, formats=("PNG", "JPEG", "TIFF")) as image:
        count = getattr(image, "n_frames", 1)
        tried = min(count, ocr.max_pages)
        scans = read_sheets(_sheets(image, tried), tried, ocr)
    if not any(page.lines for page in scans.pages):
        raise ConversionError("no text found on the image")
    pages = {page.number: page for page in scans.pages}
    warnings = describe(scans, list(range(1, count + 1)), count, ocr)
    return compose(
        [pages.get(number) or PageText(number, 612, 792) for number in range(count)],
        [],
        {IMAGE_PAGES: write_pages(scans.numbers)},
        warnings,
    )


def _sheets(image: Any, count: int) -> Iterator[Sheet]:
    for number in range(count):
        image.seek(number)
        yield _sheet(image, number)


def _sheet(image: Any, number: int) -> Sheet:
    from PIL import Image, ImageOps

    resolution = image.info.get("dpi", (0, 0))
    frame = ImageOps.exif_transpose(image)
    if frame.mode in ("RGBA", "LA", "PA") or "transparency" in frame.info:
        frame = frame.convert("RGBA")
        frame = Image.alpha_composite(Image.new("RGBA", frame.size, "white"), frame)
    if frame.mode.startswith("I;16"):
        # Pillow would clip 16 bits at 255.
        frame = Image.fromarray((np.asarray(frame) >> 8).astype(np.uint8))
    frame = frame.convert("L")
    pixels = frame.width * frame.height
    dots = float(resolution[1]) if isinstance(resolution, tuple) else 0.0
    known = _RESOLUTIONS[0] <= dots <= _RESOLUTIONS[1]
    scale = _LARGER if not known and pixels < _SMALL else min(1.0, (MOST_PIXELS / max(pixels, 1)) ** 0.5)
    if scale != 1.0:
        size = (max(1, round(frame.width * scale)), max(1, round(frame.height * scale)))
        frame = frame.resize(size, Image.Resampling.BICUBIC)
    picture: Picture = np.array(frame, dtype=np.uint8)
    unit = 72 / (dots * scale) if known else _PAGE_HEIGHT / max(picture.shape)
    return Sheet(number, picture, unit)
