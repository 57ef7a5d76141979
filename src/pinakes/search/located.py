"""Located: definitions with the lines and pages that say so, for whoever cites them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pinakes.model import Definition, SearchResult
from pinakes.search.corpus import Corpus
from pinakes.stores.embedded.reading_lookup import ReadingLookup


def located(definitions: Iterable[Definition], corpus: Corpus, lookup: ReadingLookup) -> list[Definition]:
    """Return definitions with their places; those of a document that was removed meanwhile without."""
    return [_located(definition, corpus, lookup) for definition in definitions]


def locate_definitions(
    results: list[SearchResult], corpus: Corpus, lookup: ReadingLookup
) -> list[SearchResult]:
    """Return results whose definitions have their places."""
    # Several results carry the same ones.
    shown = list(dict.fromkeys(entry for result in results for entry in result.definitions_context))
    if not shown:
        return results
    places = dict(zip(shown, located(shown, corpus, lookup), strict=True))
    return [
        replace(result, definitions_context=[places[entry] for entry in result.definitions_context])
        for result in results
    ]


def _located(definition: Definition, corpus: Corpus, lookup: ReadingLookup) -> Definition:
    entry = corpus.by_path(definition.source_path)
    if entry is None:
        return definition
    lines, pages = lookup.place(entry.id, definition.start, definition.end)
    return replace(definition, lines=lines, pages=pages)
