"""Documents and sections as resources that a client can list, open and attach."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import mcp_types as types

from loccit.ask.relative import relative, told_relative
from loccit.errors import IndexNotFoundError, UsageError
from loccit.model import DocumentInfo, OutlineNode, SectionView
from loccit.model.uris import (
    DOCUMENT_TEMPLATE,
    SECTION_TEMPLATE,
    TOOL_PARAMETER,
    document_uri,
    parse_uri,
    section_uri,
)
from loccit.server.mcp.calls import first_that_knows

if TYPE_CHECKING:
    from loccit.library import Library
    from loccit.server.services import LibraryRegistry, LibraryService

MARKDOWN = "text/markdown"
_DOCUMENTS_A_PAGE = 50
# Deeper sections have addresses too; listing them all would bury the documents.
_LEVELS = 2


def list_resources(registry: LibraryRegistry, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the documents, each followed by its top-level sections."""
    pairs = _documents(registry)
    state = _state(pairs)
    number, _, of = (cursor or f"0.{state}").partition(".")
    if not (number.isascii() and number.isdigit()):
        raise UsageError(f"{cursor!r} is not a cursor of this server; list the resources from the start.")
    if of != state:
        raise UsageError("The library has changed since this cursor; list the resources from the start.")
    start = int(number)
    found: list[types.Resource] = []
    for service, info in pairs[start : start + _DOCUMENTS_A_PAGE]:
        tool = service.name if registry.several else None
        found.append(
            types.Resource(
                uri=document_uri(info.source_path, tool),
                name=info.title or info.source_path,
                description=info.doc_summary or None,
                mime_type=MARKDOWN,
            )
        )
        found += _sections(service, info.source_path, info.title, tool)
    following = start + _DOCUMENTS_A_PAGE
    more = f"{following}.{state}" if following < len(pairs) else None
    return types.ListResourcesResult(resources=found, next_cursor=more)


def list_state(registry: LibraryRegistry) -> str:
    """Return a value that identifies this list of documents."""
    return _state(_documents(registry))


def _documents(registry: LibraryRegistry) -> list[tuple[LibraryService, DocumentInfo]]:
    found: list[tuple[LibraryService, DocumentInfo]] = []
    for service in registry.services.values():
        with suppress(IndexNotFoundError):
            found += [
                (service, info)
                for info in service.ask(lambda library: relative(library.documents(), library.root))
            ]
    return found


def _state(documents: list[tuple[LibraryService, DocumentInfo]]) -> str:
    names = "\0".join(f"{service.name}\0{info.source_path}\0{info.title}" for service, info in documents)
    return hashlib.blake2b(names.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _sections(service: LibraryService, path: str, title: str, tool: str | None) -> Iterator[types.Resource]:
    for outline in service.ask(lambda library: library.outline(library.below_root(path))):
        for node in _down_to(outline.nodes, _LEVELS):
            yield types.Resource(
                uri=section_uri(node.place_id, tool),
                name=node.heading or node.label,
                description=f"Section of {title}",
                mime_type=MARKDOWN,
            )


def _down_to(nodes: list[OutlineNode], levels: int) -> Iterator[OutlineNode]:
    for node in nodes:
        yield node
        if levels > 1:
            yield from _down_to(node.children, levels - 1)


def list_templates(registry: LibraryRegistry) -> types.ListResourceTemplatesResult:
    """Return the URI templates of documents and sections."""
    more = TOOL_PARAMETER if registry.several else ""
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=DOCUMENT_TEMPLATE + more,
                name="document",
                title="A document",
                description="The text of a document, by its path, its file name or its title.",
                mime_type=MARKDOWN,
            ),
            types.ResourceTemplate(
                uri_template=SECTION_TEMPLATE + more,
                name="section",
                title="A section",
                description="The text of a section or clause, by the place_id of a result or of an outline.",
                mime_type=MARKDOWN,
            ),
        ]
    )


def read_resource(registry: LibraryRegistry, uri: str) -> types.ReadResourceResult:
    """Return the full text of a document or a section."""
    place = parse_uri(uri)

    def read(library: Library) -> SectionView:
        with told_relative(library):
            document = place.document and library.below_root(place.document)
            if place.section_id:
                return library.section(place.section_id, document=document or None)
            return library.document(document)

    _, view = first_that_knows(registry.choose(place.tool), lambda service: service.ask(read))
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=view.text)]
    )
