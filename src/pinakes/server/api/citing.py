"""Citing: a place in a document written down as plain text, Markdown or BibTeX."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from pinakes.library import Library
from pinakes.model import DocumentInfo, Lines, Pages
from pinakes.model.document import span
from pinakes.server.api.operations import LIBRARY, THE_DOC, Call, Catalog, Operation, Reply
from pinakes.server.api.params import Param, choice, text
from pinakes.server.api.problems import ProblemError
from pinakes.server.api.schemas import CITATION

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


_SPAN = {"type": "string", "pattern": "^[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?$"}


def cite(call: Call) -> Reply:
    """Answer with a citation of a document, a section of it, or some lines or pages."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.path(call["doc"])
        info = next((info for info in library.documents() if info.source_path == path), None)
        if info is None:
            raise ProblemError(404, "This document was removed from the library.")
        citation = cite_place(
            info, _chain(library, info, call["section_id"]), _where(call, path), call["style"]
        )
        return Reply({"citation": citation, "style": call["style"]})

    return call.ask(ask)


def _chain(library: Library, info: DocumentInfo, section_id: str | None) -> list[str]:
    """Return the headings from the document's own down to a section."""
    if section_id is None:
        return []
    found = library.section(section_id, document=info.source_path)
    if found.section_id != section_id:
        raise ProblemError(404, "There is no section with this id in the document.")
    return [name for name in found.parent_chain if name != info.title]


def _where(call: Call, path: str) -> str:
    lines, pages = (_span(call[name]) for name in ("lines", "pages"))
    return span(Lines(*lines) if lines else None, Pages(*pages) if pages else None, path)


def _span(value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    first, _, last = value.partition("-")
    return min(int(first), int(last or first)), max(int(first), int(last or first))


OPERATIONS = (
    Operation(
        "GET",
        "/api/cite",
        "cite",
        "A citation of a document, a section, lines or pages.",
        (
            THE_DOC,
            text("section_id", "Id of a section or clause of the document."),
            Param("lines", "A line, or the first and last: 12-18.", _SPAN),
            Param("pages", "A page, or the first and last: 3-4.", _SPAN),
            choice("style", "How it is written.", STYLES, "plain"),
            LIBRARY,
        ),
        cite,
        {"application/json": CITATION},
    ),
)
