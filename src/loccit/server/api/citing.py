"""Citing: a place in a document, or a stretch of it with its words, as plain text, Markdown or BibTeX."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from loccit.answers.verbatim.quotations import as_quotation
from loccit.library import Library
from loccit.model import DocumentInfo, Lines, Pages, Place, TextPlace
from loccit.model.document import span
from loccit.server.api.fingerprints import BEGINNING, PATTERN, find_text, fingerprint
from loccit.server.api.operations import LIBRARY, OFFSETS, THE_DOC, Call, Catalog, Operation, Reply, utf16
from loccit.server.api.params import Param, choice, number, text
from loccit.server.api.problems import ProblemError
from loccit.server.api.schemas import CITATION

if TYPE_CHECKING:
    from loccit.answers.reading import DocumentView

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


def cite_place(info: DocumentInfo, name: str, where: str, style: str) -> str:
    """Return a citation of a document, of a place or range of places by its name, or of lines or pages."""
    title = _one_line(info.title)
    section = _one_line(name)
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
    """What is cited: its place, or a stretch of the text, and in what it is counted."""

    name: str = ""
    place_id: str = ""
    text: str = ""
    lines: Lines | None = None
    pages: Pages | None = None
    quotation: str = ""
    whole: bool = False


def cite(call: Call) -> Reply:
    """Answer with a citation of a document, a section, lines, pages or a selection, and with a link to it."""

    def ask(library: Library, catalog: Catalog) -> Reply:
        path = catalog.path(call["doc"])
        info = next((info for info in library.documents() if info.source_path == path), None)
        if info is None:
            raise ProblemError(404, "This document was removed from the library.")
        view = catalog.view(library, path)
        spot = _spot(call, view, catalog.generation)
        where = span(spot.lines, spot.pages, path)
        return Reply(
            {
                "citation": cite_place(info, spot.name, where, call["style"]),
                "style": call["style"],
                "address": _address(call, view, spot),
                "quotation": spot.quotation,
            }
        )

    return call.ask(ask)


def _spot(call: Call, view: DocumentView, generation: int) -> _Spot:
    """Return what a request refers to in the current document; for a fingerprint, where its words are now."""
    place, cited = _place(view, call["section_id"]), view.cited
    lines, pages = (_span(call[name]) for name in ("lines", "pages"))
    if call["start"] is not None or call["end"] is not None:
        excerpt = cited.excerpt(*_selected(call, view, generation), view.body_start)
        spot = _of(view, excerpt.place, lines=True, pages=True)
        return replace(spot, quotation=as_quotation(excerpt.quotation))
    if call["text"] is not None:

        def distance(found: tuple[int, int]) -> tuple[bool, int]:
            outside = place is None or not place.start <= found[0] < place.end
            return outside, abs(cited.positions.line(found[0]) - lines[0]) if lines else 0

        found = cited.cite(*_nearest(call["text"], view, distance))
        return _of(view, found, lines=bool(lines), pages=bool(pages))
    if lines is None:
        whole = _of(view, cited.cite(place.start, place.end)) if place else _Spot()
        return replace(whole, pages=Pages(*pages) if pages else None, whole=True)
    if place is not None and not (place.lines.first <= lines[1] and lines[0] <= place.lines.last):
        asked, has = (span(Lines(*these), None, view.source_path) for these in (lines, place.lines))
        raise ProblemError(
            409,
            f"{asked.capitalize()}: not in {place.name or 'that place'}, which has {has} now. Read it again.",
        )
    spans = cited.positions.spans_of_lines(lines) or [(len(view.text), len(view.text))]
    begin, end = spans[0][0], spans[-1][1]
    words = view.text[begin:end]
    begin, end = begin + len(words) - len(words.lstrip()), begin + len(words.rstrip())
    spot = _of(view, cited.cite(begin, max(begin, end)))
    return replace(spot, lines=Lines(*lines), pages=Pages(*pages) if pages else None)


def _of(view: DocumentView, found: TextPlace, *, lines: bool = False, pages: bool = False) -> _Spot:
    # Of a section that is cited alone, the title is told too.
    name = found.heading if found.name == found.section_label and _is_heading(view, found) else found.name
    return _Spot(
        name,
        found.place_id,
        found.text,
        found.lines if lines else None,
        found.pages if pages else None,
    )


def _is_heading(view: DocumentView, found: TextPlace) -> bool:
    return any(place.place_id == found.place_id and place.is_heading for place in view.places)


def _selected(call: Call, view: DocumentView, generation: int) -> tuple[int, int]:
    """Return the offsets of a selection; those of its words now, if the library has changed since it was made."""
    start, end = call["start"], call["end"]
    if start is None or end is None or end <= start:
        raise ProblemError(422, "Give both start and end, the end after the start.")
    if call["offsets"] == "utf16" and (turn := utf16(view.text)) is not None:
        start, end = (bisect_left(range(len(view.text)), wanted, key=turn) for wanted in (start, end))
    if call["generation"] in (None, generation):
        return start, min(end, len(view.text))
    if call["text"] is None:
        raise ProblemError(409, "The library has changed since this was selected. Read it again.")
    return _nearest(call["text"], view, lambda found: abs(found[0] - start))


def _nearest(mark: str, view: DocumentView, distance: Callable[[tuple[int, int]], Any]) -> tuple[int, int]:
    """Return where the words of a fingerprint are now."""
    found = min(find_text(view.text, mark), key=distance, default=None)
    if found is None:
        raise ProblemError(
            409, "These words are no longer in the document: they were changed or removed. Read it again."
        )
    return found


def _place(view: DocumentView, section_id: str | None) -> Place | None:
    if section_id is None:
        return None
    for place in view.places:
        if section_id in (place.section_id, place.place_id):
            return place
    raise ProblemError(404, "There is no section with this id in the document.")


def _address(call: Call, view: DocumentView, spot: _Spot) -> str:
    """Return the link; the page builds the same ones."""
    parts = {
        "doc": call["doc"],
        "place": spot.place_id or (view.places[0].place_id if view.places else ""),
        "lines": f"{spot.lines.first}-{spot.lines.last}" if spot.lines else "",
        "text": fingerprint(spot.text, BEGINNING if spot.whole else None),
        "library": call["library"] or "",
    }
    return f"/read?{urlencode({name: value for name, value in parts.items() if value})}"


MAX_OFFSET = 10**12
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
        "A citation of a document, a section, lines or pages, or of a selection with its words.",
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
            number("start", "Where a selection begins in the text of the document.", 0, MAX_OFFSET),
            number("end", "Where it ends.", 0, MAX_OFFSET),
            OFFSETS,
            number("generation", "The state of the index in which it was selected.", 0, MAX_OFFSET),
            choice("style", "How it is written.", STYLES, "plain"),
            LIBRARY,
        ),
        cite,
        {"application/json": CITATION},
        may=(404, 409),
    ),
)
