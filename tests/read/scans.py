"""Scans for tests: pages are set in type, drawn, and only the pictures are kept."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from loccit.read.ocr import find_program, installed_languages

needs_tesseract = pytest.mark.skipif(
    find_program() is None or "eng" not in installed_languages(find_program() or ""),
    reason="Tesseract with English is not installed (apt-get install tesseract-ocr)",
)


class Set(NamedTuple):
    """A line of type."""

    text: str
    size: float = 11
    bold: bool = False


PROSE = (
    "The harbour master keeps a register of all vessels that enter the port",
    "and notes the day of their arrival, the cargo that they carry and the",
    "name of the agent. Every entry is signed by the pilot before the ship",
    "may leave her berth. Corrections are made in red ink.",
)
CHARTER = (
    Set("HARBOUR REGULATIONS", 20, True),
    Set("1. Register", 15, True),
    *map(Set, PROSE),
    Set("2. Pilotage", 15, True),
    *map(Set, PROSE[:3]),
)


def pictures(*pages: Sequence[Set], dpi: int = 200, turn: int = 0, noise: int = 0) -> list[Image.Image]:
    """Draw pages; ``turn`` is clockwise, ``noise`` how far grey values stray."""
    made = []
    document = pypdfium2.PdfDocument(typeset(*pages))
    for page in document:
        image = page.render(scale=dpi / 72).to_pil().convert("L").rotate(-turn, expand=True)
        if noise:
            grain = np.random.default_rng(7).integers(-noise, noise, (image.height, image.width))
            image = Image.fromarray(np.clip(np.asarray(image).astype(int) + grain, 0, 255).astype(np.uint8))
        made.append(image)
    document.close()
    return made


def typeset(*pages: Sequence[Set]) -> bytes:
    """Return a PDF with a text layer."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842))
    for page in pages:
        y = 770.0
        for line in page:
            if line.size > 12:
                y -= line.size
            canvas.setFont("Helvetica-Bold" if line.bold else "Times-Roman", line.size)
            canvas.drawString(72, y, line.text)
            y -= 1.35 * line.size
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def scan(path: Path, *pages: Sequence[Set], dpi: int = 200, **options: Any) -> Path:
    """Write a PDF whose pages are pictures and nothing else."""
    first, *rest = pictures(*pages, dpi=dpi, **options)
    first.save(path, "PDF", save_all=True, append_images=rest, resolution=dpi)
    return path


def append(path: Path, *documents: bytes) -> None:
    """Write the pages of several PDFs as one."""
    whole = pypdfium2.PdfDocument.new()
    for data in documents:
        whole.import_pages(pypdfium2.PdfDocument(data))
    whole.save(str(path))
