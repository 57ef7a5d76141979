"""Addresses of documents and sections as MCP resources: ``loccit://section/k7q2m9xt``, by the id of the place.

The path of the document and the id of the section in it do as well: ``loccit://section/act.md/sec_306``.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

from loccit.errors import NotFoundError
from loccit.model.place_ids import is_place_id

SCHEME = "loccit"
DOCUMENT_TEMPLATE = "loccit://document/{document}"
SECTION_TEMPLATE = "loccit://section/{place_id}"
TOOL_PARAMETER = "{?tool}"


class Place(NamedTuple):
    """What an address names: a document or a section of it, and the tool whose library has it.

    A section that goes by its id in the library has no document.
    """

    document: str
    section_id: str = ""
    tool: str | None = None


def document_uri(document: str, tool: str | None = None) -> str:
    """Return the address of a document, which goes by its path."""
    return f"{SCHEME}://document/{quote(document, safe='')}{_query(tool)}"


def section_uri(place_id: str, tool: str | None = None) -> str:
    """Return the address of a section."""
    return f"{SCHEME}://section/{place_id}{_query(tool)}"


def parse_uri(uri: str) -> Place:
    """Return what an address names; slashes in the document's path may be written as they are.

    >>> parse_uri("loccit://section/laws%2Fact.md/sec_306")
    Place(document='laws/act.md', section_id='sec_306', tool=None)
    """
    parts = urlsplit(uri)
    path = parts.path.removeprefix("/") if parts.path.startswith("/") else parts.path
    tool = next(iter(parse_qs(parts.query).get("tool", ())), None)
    if parts.scheme == SCHEME and parts.netloc == "document" and path:
        return Place(unquote(path), "", tool)
    if parts.scheme == SCHEME and parts.netloc == "section" and "/" in path:
        document, _, section = path.rpartition("/")
        if document and section:
            return Place(unquote(document), unquote(section), tool)
    if parts.scheme == SCHEME and parts.netloc == "section" and is_place_id(path):
        return Place("", path, tool)
    raise NotFoundError(
        f"{uri} is not an address here; they look like {DOCUMENT_TEMPLATE} and {SECTION_TEMPLATE}."
    )


def place_of(reference: str) -> Place | None:
    """Return what a reference names that was printed as a whole: an address, or a path with the id of a section.

    >>> place_of("laws/act.md#sec_306"), place_of("Section 306 of the C# Act")
    (Place(document='laws/act.md', section_id='sec_306', tool=None), None)
    """
    reference = reference.strip()
    if reference.startswith(f"{SCHEME}://"):
        return parse_uri(reference)
    document, _, section = reference.rpartition("#")
    return Place(document, section) if document and section and not section[0].isspace() else None


def _query(tool: str | None) -> str:
    return f"?tool={quote(tool, safe='')}" if tool else ""
