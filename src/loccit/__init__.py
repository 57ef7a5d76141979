"""Loccit: structure-aware document search for agents and people.

>>> from loccit import Library
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loccit.version import __version__

if TYPE_CHECKING:
    from loccit.config import IndexSettings, SearchSettings, Settings
    from loccit.errors import LoccitError
    from loccit.library import Library
    from loccit.tools import HierarchicalDocumentTool

__all__ = [
    "HierarchicalDocumentTool",
    "IndexSettings",
    "Library",
    "LoccitError",
    "SearchSettings",
    "Settings",
    "__version__",
]

_HOMES = {
    "HierarchicalDocumentTool": "loccit.tools",
    "Library": "loccit.library",
    "LoccitError": "loccit.errors",
    "IndexSettings": "loccit.config",
    "SearchSettings": "loccit.config",
    "Settings": "loccit.config",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import loccit`` is fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'loccit' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names for completion before they are imported."""
    return sorted(__all__)
