"""Configuration: what a user may change, validated."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from loccit.config.settings import IndexSettings, SearchSettings, Settings

if TYPE_CHECKING:
    from loccit.agent import AgentConfig, HierarchicalDocumentToolConfig, load_agent

__all__ = [
    "AgentConfig",
    "HierarchicalDocumentToolConfig",
    "IndexSettings",
    "SearchSettings",
    "Settings",
    "load_agent",
]


def __getattr__(name: str) -> Any:
    # The models of agent files take Pydantic along, which not every caller of settings should wait for.
    if name in ("AgentConfig", "HierarchicalDocumentToolConfig", "load_agent"):
        return getattr(import_module("loccit.agent"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
