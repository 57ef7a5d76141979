"""Results that stand on pages which were read from images say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinakes.model import SearchResult
from pinakes.model.document import holds_any
from pinakes.stores.embedded.lookup import Lookup


def mark_images(results: Sequence[SearchResult], lookup: Lookup) -> list[SearchResult]:
    """Return results with ``from_image`` set where it holds."""
    paged = {result.source_path for result in results if result.pages}
    scanned = lookup.image_pages(paged) if paged else {}
    return [
        replace(result, from_image=True)
        if holds_any(scanned.get(result.source_path), result.pages)
        else result
        for result in results
    ]
