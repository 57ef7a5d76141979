"""Microsoft Agent Framework: the functions of a document tool as tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from loccit.errors import MissingExtraError
from loccit.tools.adapters import open_model

try:
    from agent_framework import FunctionTool
except ImportError as _error:
    raise MissingExtraError("The Agent Framework adapter", "agent-framework") from _error

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool


def agent_framework_tools(tool: HierarchicalDocumentTool) -> list[FunctionTool]:
    """Return the functions of a tool, for ``Agent(tools=…)``."""
    return [
        FunctionTool(
            name=function.name,
            description=function.description,
            func=partial(_call, tool, function.name),
            input_model=open_model(function),
        )
        for function in tool.functions
    ]


async def _call(tool: HierarchicalDocumentTool, name: str, /, **arguments: Any) -> str:
    return await tool.call(name, arguments)
