"""Tools as plain Python functions, which most agent frameworks accept directly."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Optional

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool, ToolFunction

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[str],
    "object": dict[str, Any],
}


def python_functions(tool: HierarchicalDocumentTool) -> list[Callable[..., str]]:
    """Return the functions of a tool as functions with a name, a docstring and typed arguments.

    They answer with text, as :meth:`HierarchicalDocumentTool.call` does.
    """
    return [_function(tool, function) for function in tool.functions]


def _function(tool: HierarchicalDocumentTool, function: ToolFunction) -> Callable[..., str]:
    properties: Mapping[str, Mapping[str, Any]] = function.parameters["properties"]
    required = function.parameters.get("required", ())
    # Frameworks use the order of the signature, and Python wants required arguments first.
    names = sorted(properties, key=lambda name: name not in required)
    signature = inspect.Signature(
        [_parameter(name, properties[name], name in required) for name in names], return_annotation=str
    )

    def call(*args: Any, **kwargs: Any) -> str:
        given = signature.bind(*args, **kwargs).arguments
        return tool.call_sync(
            function.name, {name: value for name, value in given.items() if value is not None}
        )

    call.__name__ = call.__qualname__ = function.name
    call.__doc__ = _docstring(function.description, {name: properties[name] for name in names})
    call.__annotations__ = {item.name: item.annotation for item in signature.parameters.values()} | {
        "return": str
    }
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _parameter(name: str, schema: Mapping[str, Any], required: bool) -> inspect.Parameter:
    kind: Any = Literal[tuple(schema["enum"])] if "enum" in schema else _TYPES[schema["type"]]
    if required:
        return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Optional[kind],  # noqa: UP045 - some frameworks do not know the operator
    )


def _docstring(description: str, properties: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a Google-style docstring, from which frameworks take the descriptions of arguments."""
    told = {name: _told(schema) for name, schema in properties.items()}
    lines = [f"    {name}: {text}" for name, text in told.items() if text]
    return "\n".join([description, "", "Args:", *lines]) if lines else description


def _told(schema: Mapping[str, Any]) -> str:
    default = f"{schema['default']} by default." if "default" in schema else ""
    return f"{schema.get('description', '')} {default}".strip()
