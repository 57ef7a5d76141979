"""JSON Schemas: tools for the APIs of OpenAI and Anthropic, and what tools answer, from the dataclasses of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pinakes.tools.document_tool import HierarchicalDocumentTool

_TRUNCATED = {"type": "boolean", "description": "Whether the token budget cut the answer."}
_TOOL = {"type": "string", "description": "The tool whose library answered, where there are several."}


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


def values_of(
    kind: Any,
    required: Sequence[str] = (),
    *,
    within: Mapping[str, Mapping[str, Any]] | None = None,
    **properties: Any,
) -> dict[str, Any]:
    """Return the schema of a result as values; ``within`` says what is added to results that it holds.

    What is empty is left out of an answer, so only what is always said is ``required``.
    """
    from pydantic import TypeAdapter

    schema = TypeAdapter(kind).json_schema(mode="serialization")
    _plain(schema)
    for name, more in (within or {}).items():
        schema["$defs"][name]["properties"] |= more
    return _with(schema, required, properties)


def list_of(name: str, kind: Any, **properties: Any) -> dict[str, Any]:
    """Return the schema of a list of results under a name."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(list[kind]).json_schema(mode="serialization")
    _plain(schema)
    items = {"type": "array", "items": schema.pop("items")}
    whole = {
        "type": "object",
        "properties": {name: items},
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }
    return _with(whole, (name,), properties)


def _with(schema: dict[str, Any], required: Sequence[str], properties: dict[str, Any]) -> dict[str, Any]:
    more = {"truncated": _TRUNCATED, "tool": _TOOL, **properties}
    return {**schema, "properties": {**schema["properties"], **more}, "required": list(required)}


def _plain(node: Any) -> None:
    """Take out what only a Python reader needs: titles, defaults, docstrings, required fields."""
    if isinstance(node, list):
        for item in node:
            _plain(item)
        return
    if not isinstance(node, dict):
        return
    for name in ("title", "default", "required", "description"):
        if name in node and not isinstance(node[name], dict):
            del node[name]
    for item in list(node.values()):
        _plain(item)
