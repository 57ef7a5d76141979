"""Tool schemas for the APIs of OpenAI and Anthropic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool


def openai_tools(
    tool: HierarchicalDocumentTool, *, api: Literal["chat", "responses"] = "chat"
) -> list[dict[str, Any]]:
    """Return the functions of a tool as ``tools=`` of OpenAI's chat completions, or of its responses API."""
    functions = [
        {"name": function.name, "description": function.description, "parameters": function.parameters}
        for function in tool.functions
    ]
    if api == "responses":
        return [{"type": "function", **function} for function in functions]
    return [{"type": "function", "function": function} for function in functions]


def anthropic_tools(tool: HierarchicalDocumentTool) -> list[dict[str, Any]]:
    """Return the functions of a tool as ``tools=`` of Anthropic's messages API."""
    return [
        {"name": function.name, "description": function.description, "input_schema": function.parameters}
        for function in tool.functions
    ]
