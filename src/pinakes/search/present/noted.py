"""What was noted about a document when it was read, said by its results: scanned pages, cells of a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinakes.model import SearchResult
from pinakes.model.document import CELLS, cells_of, holds_any
from pinakes.port.records import Records


def mark_images(results: Sequence[SearchResult], lookup: Records) -> list[SearchResult]:
    """Return results with ``from_image`` set where it holds."""
    paged = {result.source_path for result in results if result.pages}
    scanned = lookup.image_pages(paged) if paged else {}
    return [
        replace(result, from_image=True)
        if holds_any(scanned.get(result.source_path), result.pages)
        else result
        for result in results
    ]


def name_cells(results: Sequence[SearchResult], lookup: Records) -> list[SearchResult]:
    """Return results with ``cells`` set where they are of notebooks."""
    notebooks = {result.source_path for result in results if result.source_path.endswith(".ipynb")}
    known = lookup.noted(notebooks, CELLS) if notebooks else {}
    return [
        replace(result, cells=cells_of(known[result.source_path], result.lines))
        if result.source_path in known
        else result
        for result in results
    ]
