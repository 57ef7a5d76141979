"""The store that keeps everything in memory."""

from __future__ import annotations

from typing import Any

import pytest
from tests.stores.conformance.library import LibraryConformance
from tests.stores.conformance.place import Place
from tests.stores.conformance.suite import StoreConformance

from pinakes.stores.settings import DatabaseSettings


class _Memory(Place):
    persistent = shared = guarded = stoppable = False

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        return DatabaseSettings(provider="in-memory", collection=collection, **changes)


@pytest.fixture
def place() -> Place:
    return _Memory()


class TestMemory(StoreConformance):
    """It does what every store does."""


class TestMemoryLibrary(LibraryConformance):
    """A library in it does what every library does."""
