"""Microsoft Agent Framework: the functions of a document tool as tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, create_model

from pinakes.errors import MissingExtraError

try:
    from agent_framework import FunctionTool
except ImportError as error:
    raise MissingExtraError("The Agent Framework adapter", "agent-framework") from error

if TYPE_CHECKING:
    from pinakes.tools.document_tool import HierarchicalDocumentTool, ToolFunction


def agent_framework_tools(tool: HierarchicalDocumentTool) -> list[FunctionTool]:
    """Return the functions of a tool, for ``Agent(tools=…)``."""
    return [
        FunctionTool(
            name=function.name,
            description=function.description,
            func=partial(_call, tool, function.name),
            input_model=_open_model(function),
        )
        for function in tool.functions
    ]


def _open_model(function: ToolFunction) -> type[BaseModel]:
    """Return a model that shows the schema and lets every argument through: the tool itself says what is wrong.

    The framework would answer an invented name with "Invalid arguments" and no more.
    """

    def show(schema: dict[str, Any]) -> None:
        schema.clear()
        schema.update(function.parameters)

    return create_model(
        f"{function.name}_arguments", __config__=ConfigDict(extra="allow", json_schema_extra=show)
    )


async def _call(tool: HierarchicalDocumentTool, name: str, /, **arguments: Any) -> str:
    return await tool.call(name, arguments)
