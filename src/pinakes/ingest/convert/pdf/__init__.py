"""PDF to Markdown with headings, tables and page starts, through pdfium.

The stages, in the order in which a document meets them: ``words`` with ``letters`` and ``glyphs``; ``read``
(spans, lines) with ``rules``, ``fences`` and ``tags``; ``scans`` with ``scan_type`` and ``section_signs`` (pages that
are images); ``furniture`` (running heads go aside);
``tables``; ``layout`` (reading order); ``contents``; ``headings``, which asks ``outline``, ``tagged``, then
``candidates``, ``front``, ``selection`` and ``runins``, and ``levels``; ``paragraphs``; ``asides``; ``render``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from pinakes.errors import ConversionError
from pinakes.ingest.convert.ocr import Ocr
from pinakes.model.document import IMAGE_PAGES, Converted, write_pages

from .asides import add_asides
from .candidates import find_body
from .contents import mark_contents
from .flow import Item
from .furniture import set_furniture_aside
from .headings import mark_headings
from .layout import reading_order
from .metadata import read_metadata
from .outline import Bookmark, is_useful, read_outline
from .page import Line, PageText, name_pages
from .paragraphs import make_blocks
from .read import PageReader
from .render import render
from .rules import RuleReader
from .scans import read_scans
from .tables import take_tables
from .tags import page_tags
from .title import find_title

__all__ = ["compose", "convert_pdf"]


def convert_pdf(path: Path, ocr: Ocr | None = None) -> Converted:
    """Convert a PDF file; raises ``ConversionError`` with the reason when it cannot be read."""
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
        raise ConversionError(f"the PDF holds no text{hint}")
    if scanned:
        metadata[IMAGE_PAGES] = write_pages(scanned)
    return compose(pages, marks, metadata, warnings)


def compose(
    pages: list[PageText], marks: Sequence[Bookmark], metadata: dict[str, Any], warnings: list[str]
) -> Converted:
    """Make a text of the lines of pages: in reading order, with headings and paragraphs."""
    flow = _flow(pages)
    body = find_body(item for item in flow if isinstance(item, Line))
    title = find_title(metadata.pop("title", None), flow, body)
    if title:
        metadata = {"title": title, **metadata}
    blocks = make_blocks(mark_headings(flow, pages, marks, body), body)
    text, starts = render(add_asides(blocks, pages), len(pages))
    return Converted(text=text, pages=starts, metadata=metadata, warnings=tuple(warnings))


def _open(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise ConversionError("the file is empty")
        # PDFium sets no error for a document without pages, and leaves that of an earlier file: this one is known.
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
    set_furniture_aside(pages)
    flow: list[Item] = []
    carried = False
    for page in pages:
        tables = take_tables(page)
        items = reading_order([*page.lines, *tables])
        carried = mark_contents(page, [i for i in items if isinstance(i, Line)], carried)
        flow.extend(items)
    return flow
