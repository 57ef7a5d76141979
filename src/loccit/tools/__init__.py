"""What agents use: document tools, their schemas and adapters, and a selection among many tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool
    from loccit.tools.functions import python_functions
    from loccit.tools.schemas import anthropic_tools, openai_tools
    from loccit.tools.tool_index import ToolIndex, ToolMatch
    from loccit.tools.tool_sources import Tool

__all__ = [
    "HierarchicalDocumentTool",
    "Tool",
    "ToolIndex",
    "ToolMatch",
    "anthropic_tools",
    "openai_tools",
    "python_functions",
]

_HOMES = {
    "HierarchicalDocumentTool": "loccit.tools.document_tool",
    "Tool": "loccit.tools.tool_sources",
    "ToolIndex": "loccit.tools.tool_index",
    "ToolMatch": "loccit.tools.tool_index",
    "anthropic_tools": "loccit.tools.schemas",
    "openai_tools": "loccit.tools.schemas",
    "python_functions": "loccit.tools.functions",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'loccit.tools' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
