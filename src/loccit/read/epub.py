"""EPUB books: the chapters in reading order."""

from __future__ import annotations

import posixpath
import re
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from loccit.errors import ConversionError
from loccit.model.document import Converted
from loccit.read.html import html_to_markdown
from loccit.read.zips import open_zip, parse_xml, read_part

_DC = "{http://purl.org/dc/elements/1.1/}"
_HEADING = re.compile(r"^ {0,3}#{1,6} ", re.M)
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def convert_epub(path: Path) -> Converted:
    """Convert a book; a chapter without a heading takes its name from the table of contents."""
    with open_zip(path) as archive:
        names = set(archive.namelist())
        if "META-INF/encryption.xml" in names and "META-INF/rights.xml" in names:
            raise ConversionError("is protected by DRM and cannot be read")
        package_path = _package_path(archive)
        package = parse_xml(_part(archive, package_path), package_path)
        manifest = {
            item.get("id"): (_resolve(package_path, item.get("href") or "", names), item)
            for item in package.iterfind(".//{*}manifest/{*}item")
        }
        labels = _contents(archive, manifest, names)
        parts: list[str] = []
        warnings: list[str] = []
        for reference in package.iterfind(".//{*}spine/{*}itemref"):
            name, item = manifest.get(reference.get("idref"), ("", None))
            if item is None or "nav" in (item.get("properties") or "").split():
                continue
            if item.get("media-type") not in _PAGES:
                continue
            if name not in names:
                warnings.append(f"chapter {name} is missing from the file")
                continue
            try:
                text, _, cautions, _ = html_to_markdown(read_part(archive, name), whole_page=False)
            except ConversionError as error:
                # One bad chapter does not fail the book.
                warnings.append(f"chapter {name} was left out: {error}")
                continue
            warnings += cautions
            if not text.strip():
                continue
            if name in labels and not _HEADING.search(text):
                text = f"# {labels[name]}\n\n{text}"
            parts.append(text)
    return Converted("\n".join(parts), metadata=_metadata(package), warnings=tuple(dict.fromkeys(warnings)))


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return read_part(archive, name)
    except KeyError as error:
        raise ConversionError(f"the file is damaged: {name} is missing") from error


def _package_path(archive: zipfile.ZipFile) -> str:
    container = parse_xml(_part(archive, "META-INF/container.xml"), "META-INF/container.xml")
    root = container.find(".//{*}rootfile")
    if root is None or not root.get("full-path"):
        raise ConversionError("the file is damaged: it does not say where the book begins")
    return str(root.get("full-path"))


def _resolve(base: str, href: str, names: set[str]) -> str:
    """The part that a link points to; links are percent-encoded, names in the archive mostly are not."""
    href = href.partition("#")[0]
    joined = [
        posixpath.normpath(posixpath.join(posixpath.dirname(base), part)) for part in (unquote(href), href)
    ]
    return next((name for name in joined if name in names), joined[0])


def _contents(archive: zipfile.ZipFile, manifest: dict[str, Any], names: set[str]) -> dict[str, str]:
    """First label for each part, from the navigation document or the older NCX."""
    labels: dict[str, str] = {}
    for name, item in manifest.values():
        is_nav = "nav" in (item.get("properties") or "").split()
        if name not in names or not (is_nav or item.get("media-type") == "application/x-dtbncx+xml"):
            continue
        root = parse_xml(read_part(archive, name), name)
        if is_nav:
            found = [(link.get("href") or "", "".join(link.itertext())) for link in root.iterfind(".//{*}a")]
        else:
            found = [
                (point.find("{*}content").get("src") or "", "".join(point.find("{*}navLabel").itertext()))
                for point in root.iterfind(".//{*}navPoint")
                if point.find("{*}content") is not None and point.find("{*}navLabel") is not None
            ]
        for href, label in found:
            if href and label.strip():
                labels.setdefault(_resolve(name, href, names), " ".join(label.split()))
    return labels


def _metadata(package: Any) -> dict[str, Any]:
    def texts(tag: str) -> list[str]:
        found = [" ".join("".join(element.itertext()).split()) for element in package.iter(_DC + tag)]
        return [text for text in found if text]

    metadata: dict[str, Any] = {}
    for key, tag in (
        ("title", "title"),
        ("language", "language"),
        ("date", "date"),
        ("publisher", "publisher"),
    ):
        if values := texts(tag):
            metadata[key] = values[0]
    if authors := texts("creator"):
        metadata["author"] = ", ".join(authors)
    if descriptions := texts("description"):
        metadata["description"] = re.sub(r"<[^>]*>", "", descriptions[0])
    return metadata
