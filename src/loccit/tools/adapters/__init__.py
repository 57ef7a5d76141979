"""Document tools in the form that agent frameworks expect; each module needs the package it is named after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loccit.ask.catalog import SEARCH

if TYPE_CHECKING:
    from pydantic import BaseModel

    from loccit.model import SearchResult
    from loccit.tools.document_tool import ToolFunction


def citation_metadata(result: SearchResult) -> dict[str, Any]:
    """Return plain values that say where a result is and how it was found."""
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


def search_options(*given: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the arguments of a search besides the query, under their proper names; later ones win.

    An unknown or wrong argument is a UsageError: ignoring it would answer another question.
    """
    options: dict[str, Any] = {}
    for arguments in given:
        options |= SEARCH.read({**(arguments or {}), "query": "-"})
    options.pop("query", None)
    return options


def open_model(function: ToolFunction) -> type[BaseModel]:
    """Return a model that has the schema but accepts any argument: the tool itself explains what is wrong.

    A framework would answer an invented name with a bare "Invalid arguments".
    """
    from pydantic import ConfigDict, create_model

    def show(schema: dict[str, Any]) -> None:
        schema.clear()
        schema.update(function.parameters)

    return create_model(
        f"{function.name}_arguments", __config__=ConfigDict(extra="allow", json_schema_extra=show)
    )
