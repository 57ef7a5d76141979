"""PowerPoint: one section a slide, with its text, tables, charts and notes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pinakes.ingest.convert.tables import markdown_table, trim
from pinakes.ingest.convert.zips import open_zip
from pinakes.model.document import Converted, PageStart

_MAX_GROUPS = 20


def convert_pptx(path: Path) -> Converted:
    """Convert a presentation; slide numbers are its pages."""
    from pptx.package import Package

    with open_zip(path):
        # Only checks the sizes: python-pptx opens the file itself.
        pass
    # Not `pptx.Presentation`, which refuses slide shows and templates for their content type alone.
    presentation = Package.open(str(path)).main_document_part.presentation
    parts: list[str] = []
    pages: list[PageStart] = []
    offset = 0
    for number, slide in enumerate(presentation.slides, start=1):
        pages.append(PageStart(offset, number))
        part = _slide(slide, number)
        parts.append(part)
        offset += len(part)
    return Converted("".join(parts), pages=tuple(pages), metadata=_metadata(presentation.core_properties))


def _slide(slide: Any, number: int) -> str:
    title_shape = slide.shapes.title
    title = " ".join(title_shape.text_frame.text.split()) if title_shape is not None else ""
    is_title_slide = number == 1 and bool(title) and _is_title_layout(title_shape)
    blocks = [f"{'#' if is_title_slide else '##'} {title or f'Slide {number}'}"]
    skip = title_shape.shape_id if title_shape is not None else None
    blocks += [_shape(shape) for shape in _in_reading_order(slide.shapes) if shape.shape_id != skip]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = _paragraphs(frame)
        if notes:
            blocks.append(f"**Notes:**\n\n{notes}")
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n\n"


def _is_title_layout(title: Any) -> bool:
    from pptx.enum.shapes import PP_PLACEHOLDER

    with contextlib.suppress(ValueError, AttributeError):
        return bool(title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE)
    return False


def _in_reading_order(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """Shapes from top to bottom and left to right, groups opened."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes") and depth < _MAX_GROUPS:
            yield from _in_reading_order(shape.shapes, depth + 1)
        else:
            yield shape


def _shape(shape: Any) -> str:
    if getattr(shape, "has_table", False):
        rows = [[cell.text_frame.text for cell in row.cells] for row in shape.table.rows]
        return markdown_table(trim(rows))
    if getattr(shape, "has_chart", False):
        # Charts come in more kinds than python-pptx knows; one it cannot read must not cost the slide.
        with contextlib.suppress(Exception):
            return _chart(shape.chart)
        return ""
    if getattr(shape, "has_text_frame", False):
        return _paragraphs(shape.text_frame, bullets=shape.is_placeholder)
    description = shape._element.xpath(".//p:cNvPr/@descr")
    return f"![{' '.join(description[0].split())}]()" if description and description[0].strip() else ""


def _paragraphs(frame: Any, *, bullets: bool = False) -> str:
    """Paragraphs; in placeholders, where slides have their lists, as list items by level."""
    found = [(paragraph.level, " ".join(paragraph.text.split())) for paragraph in frame.paragraphs]
    found = [(level, text) for level, text in found if text]
    if bullets and len(found) > 1:
        return "\n".join(f"{'  ' * min(level, 8)}- {text}" for level, text in found)
    return "\n\n".join(f"\\{text}" if text.startswith("#") else text for _, text in found)


def _chart(chart: Any) -> str:
    plot = chart.plots[0]
    series = list(plot.series)
    rows = [["", *(str(one.name) for one in series)]]
    for index, category in enumerate(plot.categories):
        rows.append(
            [
                str(category),
                *("" if one.values[index] is None else f"{one.values[index]:g}" for one in series),
            ]
        )
    title = chart.chart_title.text_frame.text.strip() if chart.has_title else ""
    return f"{title}\n\n{markdown_table(rows)}" if title else markdown_table(rows)


def _metadata(properties: Any) -> dict[str, Any]:
    found = {
        "title": properties.title if properties.title != "PowerPoint Presentation" else "",
        "author": properties.author,
        "description": properties.subject or properties.comments,
        "keywords": properties.keywords,
        "language": properties.language,
        "modified": properties.modified.isoformat() if properties.modified else "",
    }
    return {key: value for key, value in found.items() if value}
