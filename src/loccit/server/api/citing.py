"""Citing: a place in a document as plain text, Markdown or BibTeX."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from loccit.library import Library
from loccit.model import DocumentInfo, Lines, Pages, Place, line_of
from loccit.model.document import span
from loccit.server.api.fingerprints import BEGINNING, PATTERN, find_text, fingerprint
from loccit.server.api.operations import LIBRARY, THE_DOC, Call, Catalog, Operation, Reply
from loccit.server.api.params import Param, choice, text
from loccit.server.api.problems import ProblemError
from loccit.server.api.schemas import CITATION

if TYPE_CHECKING:
    from loccit.search.links.reading import DocumentView

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
    """Return a citation of a document, of a section given by its chain of headings, or of lines or pages."""
    title = _one_line(info.title)
    section = _one_line(chain[-1]) if chain else ""
    if where:
        # A heading's final full stop is dropped before a comma.
        section = section.removesuffix(".")
    place = ", ".join(filter(None, [section, where]))
    if style == "bibtex":
        return _bibtex(info, title, place)
    authors = " and ".join(_authors(info.metadata))
    year = _year(info)
    shown = f"*{_escaped(title)}*" if style == "markdown" else title
    head = f"{authors}, {shown}" if authors else shown
    # A year in the title is not repeated.
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
    """Return the year stated in the document; the file's own metadata counts only if the title has none."""
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


@dataclass(frozen=True, slots=True)
class _Spot:
    """What is cited: a place, and optionally part of its text, from ``start`` to ``end``."""

    place: Place | None
    start: int = 0
    end: int = 0
    lines: Lines | None = None
    pages: Pages | None = None


def cite(call: Call) -> Reply:
    """Answer with a citation of a document, a section, lines or pages, and with a link to it."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.path(call["doc"])
        info = next((info for info in library.documents() if info.source_path == path), None)
        if info is None:
            raise ProblemError(404, "This document was removed from the library.")
        view = catalog.view(library, path)
        spot = _spot(call, view)
        chain = _chain(library, info, spot.place)
        where = span(spot.lines, spot.pages, path)
        return Reply(
            {
                "citation": cite_place(info, chain, where, call["style"]),
                "style": call["style"],
                "address": _address(call, view, spot),
            }
        )

    return call.ask(ask)


def _spot(call: Call, view: DocumentView) -> _Spot:
    """Return what a request refers to in the current document; for a fingerprint, where its words are now."""
    place = _place(view, call["section_id"])
    lines, pages = (_span(call[name]) for name in ("lines", "pages"))
    if call["text"] is not None:
        return _found(call["text"], view, place, lines, pages)
    if lines is None:
        return _Spot(place, pages=Pages(*pages) if pages else None)
    if place is not None and not (place.lines.first <= lines[1] and lines[0] <= place.lines.last):
        asked, has = (span(Lines(*these), None, view.source_path) for these in (lines, place.lines))
        raise ProblemError(
            409,
            f"{asked.capitalize()}: not in {place.name or 'that place'}, which has {has} now. Read it again.",
        )
    begin, end = _offset(view, lines[0]), _offset(view, lines[1] + 1)
    return _Spot(place, begin, end, Lines(*lines), Pages(*pages) if pages else None)


def _found(
    mark: str,
    view: DocumentView,
    place: Place | None,
    lines: tuple[int, int] | None,
    pages: tuple[int, int] | None,
) -> _Spot:
    def distance(found: tuple[int, int]) -> tuple[bool, int]:
        outside = place is None or not place.start <= found[0] < place.end
        return outside, abs(_line(view, found[0]) - lines[0]) if lines else 0

    found = min(find_text(view.text, mark), key=distance, default=None)
    if found is None:
        raise ProblemError(
            409, "These words are no longer in the document: they were changed or removed. Read it again."
        )
    start, end = found
    if place is None or not place.start <= start < place.end:
        # The innermost place begins last, a clause after the heading it is under.
        inside = [one for one in view.places if one.parent is not None and one.start <= start < one.end]
        place = max(inside, key=lambda one: (one.start, one.ordinal), default=None)
    return _Spot(
        place,
        start,
        end,
        Lines(_line(view, start), _line(view, end - 1)) if lines else None,
        Pages(_page(view, start), _page(view, end - 1)) if pages and view.pages else None,
    )


def _place(view: DocumentView, section_id: str | None) -> Place | None:
    if section_id is None:
        return None
    for place in view.places:
        if section_id in (place.section_id, place.place_id):
            return place
    raise ProblemError(404, "There is no section with this id in the document.")


def _chain(library: Library, info: DocumentInfo, place: Place | None) -> list[str]:
    """Return the headings from the document's title down to a section."""
    if place is None:
        return []
    found = library.section(place.section_id, document=info.source_path)
    return [name for name in found.parent_chain if name != info.title]


def _line(view: DocumentView, offset: int) -> int:
    return line_of(view.line_starts, view.text, 0, 1, offset)


def _offset(view: DocumentView, line: int) -> int:
    """Return the offset of a line of the file, or of a paragraph."""
    begins = [0, *(match.end() for match in re.finditer("\n", view.text)), len(view.text)]
    return begins[min(bisect_left(begins, line, key=partial(_line, view)), len(begins) - 1)]


def _page(view: DocumentView, offset: int) -> int:
    return max(1, bisect_right(view.pages, offset))


def _address(call: Call, view: DocumentView, spot: _Spot) -> str:
    """Return the link; the page builds the same ones."""
    place = spot.place or (view.places[0] if view.places else None)
    words = view.text[spot.start : spot.end] if spot.end else ""
    if not words and spot.place is not None:
        words = view.text[spot.place.start : spot.place.end]
    parts = {
        "doc": call["doc"],
        "place": place.place_id if place else "",
        "lines": f"{spot.lines.first}-{spot.lines.last}" if spot.lines else "",
        "text": fingerprint(words, None if spot.end else BEGINNING),
        "library": call["library"] or "",
    }
    return f"/read?{urlencode({name: value for name, value in parts.items() if value})}"


_SPAN = {"type": "string", "pattern": "^[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?$"}


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
            Param(
                "text",
                "Fingerprint of the cited words, as in addresses of the page: the citation gets the lines and pages "
                "where the words are now, and fails if they are gone.",
                {"type": "string", "pattern": PATTERN},
            ),
            choice("style", "How it is written.", STYLES, "plain"),
            LIBRARY,
        ),
        cite,
        {"application/json": CITATION},
        may=(404, 409),
    ),
)
