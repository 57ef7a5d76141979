"""The store that keeps everything in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loccit.index.settings import DatabaseSettings
from loccit.library import Library
from loccit.testing.libraries import HashEmbedder, LibraryConformance
from loccit.testing.places import Place
from loccit.testing.stores import StoreConformance


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


@pytest.mark.parametrize(
    ("collections", "seen"),
    [
        (({}, {}), 1),
        (({"collection": "tides"}, {"collection": "tides"}), 2),
        (({}, {"collection": "sea"}), 1),
    ],
)
def test_libraries_share_a_collection_only_where_they_name_the_same(
    collections: tuple[dict[str, Any], dict[str, Any]], seen: int, tmp_path: Path
) -> None:
    for name in ("moon", "wind"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} moves the water.\n", encoding="utf-8")
    first, second = (
        Library("unused", database=DatabaseSettings("in-memory", **names), embedder=HashEmbedder())
        for names in collections
    )
    with first, second:
        first.index([tmp_path / "moon.md"])
        second.index([tmp_path / "wind.md"])
        second.follow()
        assert len(second.documents()) == seen
        first.follow()
        assert len(first.documents()) == seen
