"""smolagents: the functions of a document tool as tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loccit.errors import MissingExtraError

try:
    from smolagents import Tool
except ImportError as _error:
    raise MissingExtraError("The smolagents adapter", "smolagents") from _error

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool, ToolFunction


def smolagents_tools(tool: HierarchicalDocumentTool) -> list[Tool]:
    """Return the functions of a tool, for ``ToolCallingAgent(tools=…)`` and ``CodeAgent(tools=…)``."""
    return [DocumentFunction(tool, function) for function in tool.functions]


class DocumentFunction(Tool):  # type: ignore[misc]
    """A function of a document tool; plain functions do not work, because smolagents reads their source."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, tool: HierarchicalDocumentTool, function: ToolFunction) -> None:
        required = function.parameters.get("required", ())
        self.name: str = function.name
        self.description: str = function.description
        self.inputs: dict[str, dict[str, Any]] = {
            name: {"description": "", **schema, **({} if name in required else {"nullable": True})}
            for name, schema in function.parameters["properties"].items()
        }
        self._tool = tool
        super().__init__()

    def forward(self, **arguments: Any) -> str:
        """Answer a call."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return self._tool.call_sync(self.name, given)
