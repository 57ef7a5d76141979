"""Pinakes: structure-aware document search for agents and people.

>>> from pinakes import Library
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.version import __version__

if TYPE_CHECKING:
    from pinakes.config import IndexSettings, SearchSettings, Settings
    from pinakes.errors import PinakesError
    from pinakes.library import Library

__all__ = ["IndexSettings", "Library", "PinakesError", "SearchSettings", "Settings", "__version__"]

_HOMES = {
    "Library": "pinakes.library",
    "PinakesError": "pinakes.errors",
    "IndexSettings": "pinakes.config",
    "SearchSettings": "pinakes.config",
    "Settings": "pinakes.config",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import pinakes`` is fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pinakes' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names for completion before they are imported."""
    return sorted(__all__)
