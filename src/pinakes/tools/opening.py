"""All document tools of an agent at once."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from pinakes.tools.document_tool import HierarchicalDocumentTool

if TYPE_CHECKING:
    from pinakes.config.agent import AgentConfig


def open_tools(agent: AgentConfig) -> list[HierarchicalDocumentTool]:
    """Return the document tools of an agent; when one of them cannot be made, none is left open."""
    with ExitStack() as made:
        tools = [
            made.enter_context(HierarchicalDocumentTool(config, base_dir=agent.base_dir))
            for config in agent.document_tools
        ]
        made.pop_all()
    return tools


def close_tools(tools: list[HierarchicalDocumentTool]) -> None:
    """Close tools, each even when another one fails to."""
    with ExitStack() as stack:
        for tool in tools:
            stack.callback(tool.close)
