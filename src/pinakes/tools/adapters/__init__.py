"""Document tools in the shapes that agent frameworks expect; each module needs the package it is named after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinakes.model import SearchResult


def citation_metadata(result: SearchResult) -> dict[str, Any]:
    """Return plain values that say where a result stands and how it was found."""
    values: dict[str, Any] = {
        "source": result.source_path,
        "title": result.document_title,
        "location": result.location,
        "section_id": result.section_id,
        "section_label": result.section_label,
        "heading": result.heading,
        "parent_chain": list(result.parent_chain),
        "chunk_id": result.chunk_id,
        "chunk_type": result.chunk_type,
        "rank": result.rank,
        "score": result.fused_score,
        "matched_by": list(result.matched_by),
        "lines": list(result.lines) if result.lines else None,
        "pages": list(result.pages) if result.pages else None,
        "from_image": result.from_image or None,
    }
    return {name: value for name, value in values.items() if value not in (None, "", [])}
