"""OpenDocument text, RTF and PowerPoint, with one section per slide: its text, tables, charts and notes."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loccit.errors import ConversionError
from loccit.model.document import Converted, PageStart
from loccit.read.written import markdown_table, trim
from loccit.read.zips import open_zip, parse_xml, read_part

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_MAX_DEPTH = 60
_SPACES = frozenset((f"{_TEXT}tab", f"{_TEXT}s", f"{_TEXT}line-break"))
_CONTAINERS = frozenset((f"{_TEXT}section", f"{_TEXT}index-body", f"{_TEXT}numbered-paragraph"))


def convert_odt(path: Path) -> Converted:
    """OpenDocument text: outline levels are headings, lists and tables kept."""
    with open_zip(path) as archive:
        try:
            content = parse_xml(read_part(archive, "content.xml"), "content.xml")
        except KeyError as error:
            raise ConversionError("the file is damaged: content.xml is missing") from error
        if "META-INF/manifest.xml" in archive.namelist():
            manifest = read_part(archive, "META-INF/manifest.xml")
            if b"encryption-data" in manifest:
                raise ConversionError("is password protected; save a copy without a password")
        meta = (
            parse_xml(read_part(archive, "meta.xml"), "meta.xml")
            if "meta.xml" in archive.namelist()
            else None
        )
    body = content.find(".//{*}body/{*}text")
    if body is None:
        raise ConversionError("the file is damaged: it has no text")
    parents = {
        style.get(f"{_STYLE}name"): style.get(f"{_STYLE}parent-style-name")
        for style in content.iter(f"{_STYLE}style")
    }
    blocks = list(_blocks(body, parents, 0))
    return Converted("\n\n".join(blocks) + "\n" if blocks else "", metadata=_odt_metadata(meta))


def _blocks(parent: Any, styles: dict[str, str], depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise ConversionError("nests its elements too deeply to be a document")
    for element in parent:
        tag = element.tag
        if tag == f"{_TEXT}h":
            level = element.get(f"{_TEXT}outline-level") or "1"
            if text := _inline(element):
                yield f"{'#' * min(max(int(level) if level.isdigit() else 1, 1), 6)} {text}"
        elif tag == f"{_TEXT}p":
            if text := _inline(element):
                style = element.get(f"{_TEXT}style-name") or ""
                is_title = "Title" in (style, styles.get(style))
                yield f"# {text}" if is_title else f"\\{text}" if text.startswith("#") else text
        elif tag == f"{_TEXT}list":
            if lines := list(_list(element, styles, depth)):
                yield "\n".join(lines)
        elif tag == f"{_TABLE}table":
            if table := _table(element):
                yield table.rstrip("\n")
        elif tag in _CONTAINERS:
            yield from _blocks(element, styles, depth + 1)


def _list(element: Any, styles: dict[str, str], depth: int) -> Iterator[str]:
    for item in element:
        first = True
        for block in _blocks(item, styles, depth + 1):
            if block.startswith("#"):
                # Numbered headings are often stored inside lists.
                yield f"\n{block}\n"
                continue
            lines = block.split("\n")
            lead = "- " if first and not lines[0].startswith("- ") else "  "
            yield lead + lines[0]
            yield from (f"  {line}" for line in lines[1:])
            first = False


def _table(element: Any) -> str:
    rows: list[list[str]] = []
    for row in element.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            repeat = cell.get(f"{_TABLE}number-columns-repeated") or "1"
            text = " ".join(filter(None, (_inline(part) for part in cell.iter(f"{_TEXT}p", f"{_TEXT}h"))))
            cells += [text] * (min(int(repeat), 100) if repeat.isdigit() else 1)
        rows.append(cells[:100])
    return markdown_table(trim(rows))


def _inline(element: Any) -> str:
    """The text of a paragraph on one line, without comments and note numbers."""
    return " ".join("".join(_texts(element)).split())


def _texts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _SPACES:
            yield " "
        elif isinstance(child.tag, str) and not child.tag.endswith(("}annotation", "}note-citation")):
            yield from _texts(child)
        yield child.tail or ""


def _odt_metadata(meta: Any) -> dict[str, Any]:
    if meta is None:
        return {}
    wanted = {"title": "title", "creator": "author", "description": "description", "date": "modified"}
    wanted |= {"language": "language", "subject": "subject"}
    metadata: dict[str, Any] = {}
    for element in meta.iter("{http://purl.org/dc/elements/1.1/}*"):
        key = wanted.get(element.tag.rpartition("}")[2])
        if key and (text := (element.text or "").strip()):
            metadata.setdefault(key, text)
    return metadata


def convert_rtf(path: Path) -> Converted:
    """RTF as plain text: its headings cannot be told from formatting."""
    striprtf: Any = importlib.import_module("striprtf.striprtf")
    data = path.read_bytes().decode("latin-1")
    text = str(striprtf.rtf_to_text(data, errors="ignore")).replace("\r\n", "\n").replace("\x00", "")
    return Converted(text, markdown=False)


# -- PowerPoint -------------------------------------------------------------------------------------------------


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
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if frame is not None and (notes := _paragraphs(frame)):
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
        # Charts come in more kinds than python-pptx knows; an unreadable one must not cost the slide.
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
