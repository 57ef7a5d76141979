"""Pydantic AI: the functions of a document tool as a toolset, or as a list of tools."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from loccit.errors import LoccitError, MissingExtraError

try:
    from pydantic_ai import FunctionToolset, RunContext, Tool
    from pydantic_ai.tools import ToolDefinition
except ImportError as _error:
    if tuple(sys.version_info) < (3, 11):
        raise LoccitError(
            f"Pydantic AI needs Python 3.11 or newer; this is {sys.version.split()[0]}."
        ) from _error
    raise MissingExtraError("The Pydantic AI adapter", "pydantic-ai") from _error

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool, ToolFunction


def pydantic_ai_tools(tool: HierarchicalDocumentTool) -> list[Tool[Any]]:
    """Return the functions of a tool, for ``Agent(tools=…)``."""
    return [open_tool(function, partial(tool.call, function.name)) for function in tool.functions]


def pydantic_ai_toolset(*tools: HierarchicalDocumentTool) -> FunctionToolset[Any]:
    """Return the functions of one or more tools, for ``Agent(toolsets=…)``."""
    return FunctionToolset([function for tool in tools for function in pydantic_ai_tools(tool)])


def open_tool(function: ToolFunction, answer: Callable[[dict[str, Any]], Awaitable[str]]) -> Tool[Any]:
    """Return a tool that shows a model the schema of a function, and passes any arguments on to ``answer``.

    The library only checks that the arguments are an object, and asks the model again if they are not.
    """

    async def call(**arguments: Any) -> str:
        return await answer(arguments)

    async def described(context: RunContext[Any], definition: ToolDefinition) -> ToolDefinition:
        return replace(definition, parameters_json_schema=function.parameters)

    return Tool(call, name=function.name, description=function.description, prepare=described)
