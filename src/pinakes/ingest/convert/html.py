"""HTML to Markdown: the document without the site around it.

lxml parses and the tree is cleaned (``html_clean``) and put into a shape that Markdown can express
(``html_shape``); markitdown then writes it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from pinakes.errors import ConversionError
from pinakes.ingest.convert.encoding import decode
from pinakes.ingest.convert.html_clean import clean, main_content
from pinakes.ingest.convert.html_lines import mark_lines, read_marks, without_controls
from pinakes.ingest.convert.html_shape import shape
from pinakes.ingest.convert.text import normalise
from pinakes.model.document import Converted, LineStart

_CHARSET = re.compile(
    rb"""<(?:meta[^>]{0,500}?charset|\?xml[^>]{0,200}?encoding)\s*=\s*["']?([\w:.-]+)""", re.I
)
_DEPTH_ERROR = "nests its elements too deeply to be a document"
_META = {
    "description": ("description", "og:description", "dc.description", "dcterms.description"),
    "author": ("author", "dc.creator", "dcterms.creator", "article:author"),
    "keywords": ("keywords", "dc.subject"),
    "date": ("article:published_time", "date", "dc.date", "dcterms.date", "dcterms.issued", "pubdate"),
    "modified": ("article:modified_time", "dcterms.modified", "last-modified", "revised"),
}


def convert_html(path: Path) -> Converted:
    """Convert an HTML file."""
    page = html_to_markdown(path.read_bytes())
    return Converted(page.text, metadata=page.metadata, warnings=page.warnings, line_starts=page.line_starts)


class Page(NamedTuple):
    """A page as Markdown, and which of its lines that came from."""

    text: str
    metadata: dict[str, Any]
    warnings: tuple[str, ...]
    line_starts: tuple[LineStart, ...] = ()


def html_to_markdown(data: bytes | str, *, whole_page: bool = True) -> Page:
    """Return a page. A part of a book (``whole_page=False``) has no site around it."""
    warnings: tuple[str, ...] = ()
    if isinstance(data, bytes):
        declared = _CHARSET.search(data[:4096])
        decoded = decode(
            data, _browser_encoding(declared[1].decode("ascii", "replace")) if declared else None
        )
        data, warnings = decoded.text, decoded.warnings
    if not data.strip():
        return Page("", {}, warnings)
    try:
        document = _parse(data)
        if document is None:
            return Page("", {}, warnings)
        metadata = _metadata(document)
        mark_lines(document)
        clean(document, site=whole_page)
        root = main_content(document) if whole_page else document
        shape(root)
        text, line_starts = read_marks(_write(root))
        return Page(text, metadata, warnings, line_starts)
    except RecursionError as error:
        raise ConversionError(_DEPTH_ERROR) from error


def _parse(text: str) -> Any:
    import lxml.html
    from lxml import etree

    parser = lxml.html.HTMLParser(encoding="utf-8", remove_pis=False, huge_tree=True)
    data = without_controls(normalise(text)).encode("utf-8", "replace")
    try:
        document = lxml.html.document_fromstring(data, parser=parser)
    except etree.ParserError:
        # No element and no text at all.
        return None
    # Past its limit of depth libxml2 drops what follows without failing.
    if any("xcessive depth" in entry.message for entry in parser.error_log):
        raise ConversionError(_DEPTH_ERROR)
    return document


def _write(root: Any) -> str:
    import lxml.html
    from markitdown.converters import HtmlConverter

    markup = lxml.html.tostring(root, encoding="unicode", with_tail=False)
    result = HtmlConverter().convert_string(
        f"<body>{markup}</body>",
        strict=True,
        # Escapes would stand in the way of whoever searches for snake_case or reads the passage.
        escape_asterisks=False,
        escape_underscores=False,
        bullets="-",
        table_infer_header=True,
        code_language_callback=lambda element: element.get("data-language"),
        keep_inline_images_in=["td", "th", "h1", "h2", "h3", "h4", "h5", "h6"],
    )
    text = re.sub(r"\n{3,}", "\n\n", str(result.markdown).replace("\r\n", "\n").replace("\r", "\n"))
    return text.strip("\n") + "\n" if text.strip() else ""


def _browser_encoding(name: str) -> str:
    # Browsers read both as Windows-1252, so that is what their authors wrote.
    return "cp1252" if name.lower() in ("iso-8859-1", "latin1", "us-ascii") else name


def _metadata(document: Any) -> dict[str, Any]:
    found: dict[str, str] = {}
    for meta in document.iter("meta"):
        name = (meta.get("name") or meta.get("property") or meta.get("http-equiv") or "").lower()
        content = " ".join((meta.get("content") or "").split())
        if name and content:
            found.setdefault(name, content)
    title = document.find(".//head/title")
    if title is None:
        title = document.find(".//title")
    text = " ".join(title.text_content().split()) if title is not None else ""
    metadata: dict[str, Any] = {}
    if text := text or found.get("og:title", "") or found.get("dc.title", ""):
        metadata["title"] = text
    for key, names in _META.items():
        if value := next((found[name] for name in names if name in found), ""):
            metadata[key] = value
    attributes = document.attrib
    language = attributes.get("lang") or attributes.get("xml:lang") or found.get("content-language", "")
    if language.strip():
        metadata["language"] = language.strip()
    return metadata
