"""Citing: a place in a document written down as plain text, Markdown or BibTeX."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from pinakes.model import DocumentInfo

STYLES = ("plain", "markdown", "bibtex")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def cite_place(info: DocumentInfo, chain: list[str], where: str, style: str) -> str:
    """Return a citation of a document, of the section that a chain of headings leads to, of lines or pages."""
    title = _one_line(info.title)
    section = _one_line(chain[-1]) if chain else ""
    if where:
        # A heading that ends as a sentence does not do so before a comma.
        section = section.removesuffix(".")
    place = ", ".join(filter(None, [section, where]))
    if style == "bibtex":
        return _bibtex(info, title, place)
    authors = " and ".join(_authors(info.metadata))
    year = _year(info)
    shown = f"*{_escaped(title)}*" if style == "markdown" else title
    head = f"{authors}, {shown}" if authors else shown
    # A year that the title has already is not said twice.
    head += f" ({year})" if year and year not in title else ""
    tail = _escaped(place) if style == "markdown" else place
    return f"{head}, {tail}" if tail else head


def _bibtex(info: DocumentInfo, title: str, place: str) -> str:
    authors, year = _authors(info.metadata), _year(info)
    fields = {
        "author": " and ".join(authors),
        "title": "{" + _tex(title) + "}",
        "year": year,
        "publisher": _first(info.metadata, "publisher", "organization", "organisation"),
        "url": _first(info.metadata, "url", "source_url"),
        "note": place,
    }
    key = re.sub(r"[^A-Za-z0-9]+", "", (authors[0].split()[-1] if authors else "") or title.title())[:24]
    key = f"{key or re.sub(r'[^A-Za-z0-9]+', '', PurePath(info.source_path).stem)}{year}"
    lines = [
        f"  {name} = {{{value if name == 'title' else _tex(value)}}},"
        for name, value in fields.items()
        if value
    ]
    return "\n".join([f"@misc{{{key or 'document'},", *lines, "}"])


def _authors(metadata: dict[str, Any]) -> list[str]:
    for name in ("author", "authors", "creator"):
        value = metadata.get(name)
        if isinstance(value, str) and value.strip():
            return [_one_line(part) for part in re.split(r"\s*;\s*", value) if part.strip()]
        if isinstance(value, list):
            found = [_one_line(str(item)) for item in value if str(item).strip()]
            if found:
                return found
    return []


def _year(info: DocumentInfo) -> str:
    """Return the year that the document gives; what the file says of itself only where its title says nothing."""
    metadata, own = info.metadata, ("date", "year", "published")
    for name in own if _YEAR.search(info.title) else (*own, "created"):
        found = _YEAR.search(str(metadata.get(name) or ""))
        if found:
            return found[0]
    return ""


def _first(metadata: dict[str, Any], *names: str) -> str:
    values = (metadata.get(name) for name in names)
    return next((_one_line(value) for value in values if isinstance(value, str) and value.strip()), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)
