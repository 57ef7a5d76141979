"""What agents use: document tools, their schemas and adapters, and a selection among many tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinakes.tools.document_tool import HierarchicalDocumentTool
    from pinakes.tools.functions import python_functions
    from pinakes.tools.schemas import anthropic_tools, openai_tools
    from pinakes.tools.tool_index import ToolIndex, ToolMatch
    from pinakes.tools.tool_sources import Tool

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
    "HierarchicalDocumentTool": "pinakes.tools.document_tool",
    "Tool": "pinakes.tools.tool_sources",
    "ToolIndex": "pinakes.tools.tool_index",
    "ToolMatch": "pinakes.tools.tool_index",
    "anthropic_tools": "pinakes.tools.schemas",
    "openai_tools": "pinakes.tools.schemas",
    "python_functions": "pinakes.tools.functions",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pinakes.tools' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
