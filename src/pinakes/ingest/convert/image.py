"""Image files: photographs and scans of pages, read by Tesseract in the same stages as those of a PDF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pinakes.errors import ConversionError
from pinakes.ingest.convert.ocr import Ocr, Picture
from pinakes.ingest.convert.pdf import compose
from pinakes.ingest.convert.pdf.page import PageText
from pinakes.ingest.convert.pdf.scans import MOST_PIXELS, Sheet, describe, read_sheets, refusal
from pinakes.model.document import IMAGE_PAGES, Converted, write_pages

# More than any scanner gives; a small file can say that it is this large.
_HUGE = 200_000_000
_RESOLUTIONS = (100, 1200)
_PAGE_HEIGHT = 842.0
# Tesseract reads small type badly: pictures of a screen are drawn larger.
_SMALL = 4_000_000
_LARGER = 2.0


def convert_image(path: Path, ocr: Ocr | None = None) -> Converted:
    """Convert an image file, a page for each picture in it."""
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
        # Pillow would cut 16 bits off at 255.
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
