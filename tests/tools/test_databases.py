"""Tools whose library a database holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loccit.errors import ModelMismatchError, UsageError
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings

from .conftest import ENGLISH, MakeTool
from .embedders import WatchedEmbedder

TEXTS = {"tides.md": "High water comes twice a day.", "fees.md": "A fee of 12 crowns is due at a berth."}


@pytest.fixture
def docs(make: MakeTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOCCIT_CONNECTION_STRING", "LOCCIT_DATABASE", "LOCCIT_DATABASE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(f"{ENGLISH}# {name}\n\n{text}\n", encoding="utf-8")
    return tmp_path / "docs"


def faiss(**fields: Any) -> dict[str, Any]:
    return {"provider": "faiss", "connection_string": "vectors", **fields}


def held(tmp_path: Path, collection: str) -> int:
    with load_store(DatabaseSettings("faiss", str(tmp_path / "vectors"), collection)) as store:
        return store.count() if store.dimension() is not None else 0


def found(tool: Any, query: str) -> list[str]:
    return [Path(result.source_path).name for result in tool.search_sync(query, mode="semantic").results]


def test_the_library_of_a_tool_is_in_its_database(make: MakeTool, docs: Path, tmp_path: Path) -> None:
    tool = make(database=faiss())
    assert tool.initialize_sync().added
    assert tool.library.status().database == "faiss, collection notes"
    assert found(tool, "when is high water")[0] == "tides.md"
    assert held(tmp_path, "notes") == 2
    tool.close()
    again = make(WatchedEmbedder(), database=faiss())
    assert again.initialize_sync().unchanged == 2


def test_tools_that_share_a_database_do_not_see_each_other(
    make: MakeTool, docs: Path, tmp_path: Path
) -> None:
    first = make(name="tides", source="docs/tides.md", database=faiss())
    second = make(name="fees", source="docs/fees.md", database=faiss())
    assert found(first, "water and fees") == ["tides.md"]
    assert found(second, "water and fees") == ["fees.md"]
    assert (held(tmp_path, "tides"), held(tmp_path, "fees")) == (1, 1)


def test_tools_that_share_a_collection_keep_to_their_source(
    make: MakeTool, docs: Path, tmp_path: Path
) -> None:
    shared = faiss(collection="laws")
    first = make(name="tides", source="docs/tides.md", database=shared)
    first.initialize_sync()
    second = make(name="fees", source="docs/fees.md", database=shared)
    second.initialize_sync()
    assert held(tmp_path, "laws") == 2
    assert found(first, "water and fees") == ["tides.md"]
    assert found(second, "water and fees") == ["fees.md"]


def test_a_shared_library_of_another_model_is_not_thrown_away(
    make: MakeTool, docs: Path, tmp_path: Path
) -> None:
    with make(database=faiss()) as tool:
        tool.initialize_sync()
    other = make(WatchedEmbedder("another"), database=faiss(), index="elsewhere")
    with pytest.raises(ModelMismatchError, match="another"):
        other.initialize_sync()
    again = make(WatchedEmbedder("another"), database=faiss())
    with pytest.raises(ModelMismatchError, match="another"):
        again.initialize_sync()
    assert held(tmp_path, "notes") == 2


def test_what_is_wrong_with_a_database_names_the_tool(make: MakeTool, docs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^Tool notes: database\.connection_string: .*postgres"):
        make(database={"provider": "postgres"})
    with make() as tool:
        tool.initialize_sync()
    with pytest.raises(UsageError, match=r"^Tool notes: The index at .* belongs to no database.*migrate"):
        make(database=faiss()).initialize_sync()


def test_in_memory_needs_no_address_and_leaves_nothing(make: MakeTool, docs: Path, tmp_path: Path) -> None:
    tool = make(database={"provider": "in-memory"})
    assert found(tool, "when is high water")[0] == "tides.md"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs"]
