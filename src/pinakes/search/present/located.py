"""Located: definitions with the lines and pages that say so, for whoever cites them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinakes.model import Definition, SearchResult
from pinakes.port.index import SearchIndex
from pinakes.port.names import Entry
from pinakes.port.records import Readings


def located(definitions: Sequence[Definition], index: SearchIndex) -> list[Definition]:
    """Return definitions with their places; those of a document that was removed meanwhile without."""
    entries = index.names.at({definition.source_path for definition in definitions})
    return [
        _located(definition, entries.get(definition.source_path), index.reading) for definition in definitions
    ]


def locate_definitions(results: list[SearchResult], index: SearchIndex) -> list[SearchResult]:
    """Return results whose definitions have their places."""
    # Several results carry the same ones.
    shown = list(dict.fromkeys(entry for result in results for entry in result.definitions_context))
    if not shown:
        return results
    places = dict(zip(shown, located(shown, index), strict=True))
    return [
        replace(result, definitions_context=[places[entry] for entry in result.definitions_context])
        for result in results
    ]


def _located(definition: Definition, entry: Entry | None, lookup: Readings) -> Definition:
    if entry is None:
        return definition
    lines, pages = lookup.place(entry.id, definition.start, definition.end)
    return replace(definition, lines=lines, pages=pages)
