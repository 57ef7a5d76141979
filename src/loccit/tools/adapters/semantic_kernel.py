"""Semantic Kernel: a document tool as a plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loccit.ask.catalog import TOOLS
from loccit.errors import MissingExtraError

try:
    from semantic_kernel.functions import (
        KernelFunctionFromMethod,
        KernelParameterMetadata,
        KernelPlugin,
        kernel_function,
    )
except ImportError as _error:
    raise MissingExtraError("The Semantic Kernel adapter", "semantic-kernel") from _error

if TYPE_CHECKING:
    from loccit.tools.document_tool import HierarchicalDocumentTool, ToolFunction

_KIND = "loccit_kind"


class _ForgivingFunction(KernelFunctionFromMethod):
    """A function that shows a model its schema, but also accepts the names that models invent.

    The kernel checks the arguments of a call against ``parameters``, and shows a model those of the metadata.
    """

    def __init__(
        self, kind: str, method: Callable[..., Any], plugin_name: str, shown: list[KernelParameterMetadata]
    ) -> None:
        super().__init__(
            method=method, plugin_name=plugin_name, parameters=shown, additional_metadata={_KIND: kind}
        )

    @property
    def parameters(self) -> list[KernelParameterMetadata]:
        """The arguments that a call may have."""
        takes = TOOLS[(self.metadata.additional_properties or {})[_KIND]].takes
        names = {name for item in takes for name in (item.name, *item.aliases.split())}
        return [KernelParameterMetadata(name=name, is_required=False) for name in sorted(names)]


def semantic_kernel_plugin(tool: HierarchicalDocumentTool) -> KernelPlugin:
    """Return a plugin for ``kernel.add_plugin``; its functions are ``search``, ``section`` and so on."""
    return KernelPlugin(
        name=tool.name,
        description=tool.description,
        functions=[_function(tool, function) for function in tool.functions],
    )


def _function(tool: HierarchicalDocumentTool, function: ToolFunction) -> KernelFunctionFromMethod:
    # A model sees PLUGIN-FUNCTION, so the name of the tool need not be repeated.
    short = function.name.removeprefix(tool.name).lstrip("_") or "search"

    description = function.description.replace(f"{tool.name}_section", f"{tool.name}-section")

    @kernel_function(name=short, description=description)
    async def call(**arguments: Any) -> str:
        return await tool.call(function.name, arguments)

    required = function.parameters["required"]
    shown = [
        KernelParameterMetadata(
            name=name,
            description=schema.get("description", ""),
            type=schema["type"],
            is_required=name in required,
            default_value=schema.get("default"),
            schema_data=schema,
        )
        for name, schema in function.parameters["properties"].items()
    ]
    return _ForgivingFunction(function.kind, call, tool.name, shown)
