"""HTML to Markdown: the document without the site around it.

lxml parses. The tree is cleaned of navigation, banners, scripts and whatever is not shown, and put into a shape that
Markdown can express (``html_shape``); markitdown then writes it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from loccit.errors import ConversionError
from loccit.model.document import Converted, LineStart
from loccit.read.bold_lines import with_headings
from loccit.read.html_shape import mark_lines, read_marks, shape, unmarked, without_controls
from loccit.read.text import decode, normalise

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
_ALWAYS = tuple("script style template noscript iframe object embed svg canvas head link".split())
_CONTROLS = ("select", "textarea", "input", "datalist", "audio", "video", "map")
_SITE = ("nav", "aside", "dialog", "menu")
_SITE_ROLES = frozenset(
    "navigation banner contentinfo search complementary menu menubar toolbar dialog alertdialog tablist".split()
)
_SITE_NAMES = frozenset(
    "navbar sidebar sphinxsidebar breadcrumb breadcrumbs site-header site-footer site-nav page-footer global-nav "
    "skip-link skiplink skip-nav social-share share-buttons pagination navheader navfooter mw-jump-link "
    "mw-editsection".split()
)
_COOKIES = re.compile(
    r"(?:^|[\s_-])(?:cookie|consent|gdpr)s?[\s_-]?(?:banner|notice|bar|popup|modal|overlay|dialog|message|consent|law)",
    re.I,
)
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_SKIP = re.compile(r"skip to\b|jump to (?:content|navigation)", re.I)
_ANCHOR_SIGNS = frozenset(("¶", "#", "§", "🔗", ""))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def convert_html(path: Path) -> Converted:
    """Convert an HTML file."""
    page = html_to_markdown(path.read_bytes())
    text = with_headings(page.text)
    return Converted(text, metadata=page.metadata, warnings=page.warnings, line_starts=page.line_starts)


class Page(NamedTuple):
    """A page as Markdown, with the source line of each of its lines."""

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
    # Beyond its depth limit libxml2 silently drops what follows.
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
        # Escapes would hinder searching for snake_case and reading the passage.
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
    # Browsers read both as Windows-1252, so that is what authors wrote.
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


def clean(document: Any, *, site: bool) -> None:
    """Remove what is not content; ``site`` is false if a page stands alone, as in a book."""
    body = document.find("body")
    body = document if body is None else body
    for element in list(document.iter(*_ALWAYS, *_CONTROLS)):
        _remove(element)
    for element in list(body.iter("button")):
        # Accordions put their headings on buttons.
        if any(parent.tag in _HEADINGS for parent in element.iterancestors()):
            element.drop_tag()
        else:
            _remove(element)
    for element in list(body.iter("*")):
        if element is not body and _hidden(element):
            _remove(element)
    for link in list(body.iter("a")):
        if _is_anchor_sign(link) or (
            (link.get("href") or "").startswith("#") and _SKIP.match(unmarked(link.text_content()).strip())
        ):
            _remove(link)
    if site:
        _remove_site(body)


def main_content(document: Any) -> Any:
    """The element with the document: ``main`` or the only ``article``, if it has most of the text."""
    body = document.find("body")
    body = document if body is None else body
    total = _length(body)
    candidates = [*body.iter("main"), *body.xpath(".//*[@role='main']")]
    articles = list(body.iter("article"))
    if len(articles) == 1:
        candidates += articles
    for candidate in candidates:
        if _length(candidate) < 0.5 * total:
            continue
        # The title of the page is often above its main part.
        if not _has_h1(candidate) and (titles := list(body.iter("h1"))):
            tail, titles[0].tail = titles[0].tail, None
            _put_tail_back(titles[0], tail)
            candidate.insert(0, titles[0])
            titles[0].tail, candidate.text = candidate.text, None
        return candidate
    return body


def _remove_site(body: Any) -> None:
    total = max(_length(body), 1)
    for element in list(body.iter("*")):
        if element is body or not _is_site(element):
            continue
        if any(element.iter("main", "article")):
            continue
        if element.tag not in ("nav", "header", "footer") and _length(element) > 0.6 * total:
            # More than half of the text is not side matter, whatever it is called.
            continue
        if element.tag == "header" and _has_h1(element) and len(list(body.iter("h1"))) == 1:
            # The only title: it stays, and the rest of the header is removed.
            title = next(element.iter("h1"))
            title.tail = None
            element.clear(keep_tail=True)
            element.tag = "div"
            element.append(title)
            continue
        _remove(element)


def _is_site(element: Any) -> bool:
    tag = element.tag
    if tag in _SITE or (element.get("role") or "").lower() in _SITE_ROLES:
        return True
    if tag in ("header", "footer"):
        # Those of an article belong to it.
        return not any(
            parent.tag in ("article", "main", "section", "blockquote") for parent in element.iterancestors()
        )
    if tag in ("main", "article", "section", *_HEADINGS):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(names.strip()) and (
        not _SITE_NAMES.isdisjoint(names.lower().split()) or bool(_COOKIES.search(names))
    )


def _hidden(element: Any) -> bool:
    return (
        element.get("hidden") is not None
        or (element.get("aria-hidden") or "").lower() == "true"
        or bool(_HIDDEN.search(element.get("style") or ""))
    )


def _is_anchor_sign(link: Any) -> bool:
    """The ``¶`` beside headings that links to them."""
    return (
        (link.get("href") or "").startswith("#")
        and unmarked(link.text_content()).strip() in _ANCHOR_SIGNS
        and link.find(".//img") is None
        and any(parent.tag in _HEADINGS or parent.tag == "dt" for parent in link.iterancestors())
    )


def _remove(element: Any) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _put_tail_back(element: Any, tail: str | None) -> None:
    """Leave the text that follows a moved element where it was."""
    if not tail:
        return
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        previous.tail = (previous.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail


def _has_h1(element: Any) -> bool:
    return next(element.iter("h1"), None) is not None


def _length(element: Any) -> int:
    return sum(len(text.strip()) for text in element.itertext())
