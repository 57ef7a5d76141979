"""Results of notebooks name the cells in which they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinakes.model import SearchResult
from pinakes.model.document import CELLS, cells_of
from pinakes.stores.embedded.lookup import Lookup


def name_cells(results: Sequence[SearchResult], lookup: Lookup) -> list[SearchResult]:
    """Return results with ``cells`` set where they are of notebooks."""
    notebooks = {result.source_path for result in results if result.source_path.endswith(".ipynb")}
    known = lookup.noted(notebooks, CELLS) if notebooks else {}
    return [
        replace(result, cells=cells_of(known[result.source_path], result.lines))
        if result.source_path in known
        else result
        for result in results
    ]
