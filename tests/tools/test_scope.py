"""A tool searches as it is configured, and only in its own documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.tools.conftest import ENGLISH, MakeTool
from tests.tools.embedders import WatchedEmbedder

from loccit.errors import NotFoundError, UsageError


def titles(response: Any) -> list[str]:
    return [result.document_title for result in response.results]


def test_the_configuration_shapes_the_search(make: MakeTool, docs: Path) -> None:
    only_one = make(top_k=1)
    assert len(only_one.search_sync("lamp boat").results) == 1
    assert len(only_one.search_sync('"the"').results) == 1
    by_keyword = make(search_mode="keyword")
    assert by_keyword.search_sync("lamp").mode == "keyword"
    assert by_keyword.search_sync("lamp", mode="semantic").mode == "semantic"
    assert make(min_score=1.0).search_sync("boats of any colour").results == []


def test_an_index_that_is_off_is_not_made_nor_searched(make: MakeTool, docs: Path) -> None:
    embedder = WatchedEmbedder()
    tool = make(embedder, dense_index=False)
    response = tool.search_sync("lamp")
    assert response.results and embedder.embedded == 0
    assert all("semantic" not in result.matched_by for result in response.results)
    with pytest.raises(UsageError, match="hybrid, keyword, exact"):
        tool.search_sync("lamp", mode="semantic")
    assert "hybrid, keyword, exact" in tool.call_sync("notes", {"query": "lamp", "mode": "semantic"})


def test_one_of_several_documents_can_be_searched_and_read(make: MakeTool, docs: Path) -> None:
    tool = make()
    for name in ("boats.md", "Boats", str(docs / "boats.md")):
        assert set(titles(tool.search_sync("lamp or hull", document=name))) == {"Boats"}
    with pytest.raises(NotFoundError, match="no document 'trains'"):
        tool.search_sync("lamp", document="trains")
    assert tool.get_section_sync("1", document="boats.md").heading == "1 Hulls"
    assert "1 Oil" in tool.call_sync("notes_section", {"ref": 1, "file": "lamps.md"})


def test_configured_filters_hold_whatever_is_asked_for(make: MakeTool, docs: Path) -> None:
    tool = make(filters={"title": "Lamps"})
    assert set(titles(tool.search_sync("skiff hull boat"))) <= {"Lamps"}
    assert set(titles(tool.search_sync("lamp", filters={"type": "md"}))) == {"Lamps"}
    with pytest.raises(NotFoundError, match="passes these filters"):
        tool.search_sync("hull", filters={"title": "Boats"})
    for name in ("boats.md", "boat", "trains"):
        # Names that are near are not told: they may be those of documents that are not the tool's.
        with pytest.raises(NotFoundError, match=f"^No document of this tool is called '{name}'.$"):
            tool.search_sync("hull", document=name)
    assert tool.get_section_sync("1").heading == "1 Oil"
    assert tool.get_section_sync("1").alternatives == []
    for answer in (
        tool.call_sync("notes_section", {"reference": "Hulls"}),
        tool.call_sync("notes_section", {"reference": "Hull"}),
        tool.call_sync("notes_section", {"reference": "1", "document": "boats.md"}),
        tool.call_sync("notes_definition", {"term": "skiff"}),
        tool.call_sync("notes_definition", {"term": "skif"}),
    ):
        assert "No document of this tool" in answer
        assert "rower" not in answer and "Paint" not in answer


def test_a_section_is_found_behind_many_of_the_same_name(make: MakeTool, docs: Path) -> None:
    for number in range(25):
        (docs / f"{number:02}.md").write_text(f"{ENGLISH}# Book {number}\n\n## 7 Same\n\nText {number}.\n")
    tool = make(filters={"title": "Book 24"})
    assert tool.get_section_sync("7").document_title == "Book 24"


def test_tools_that_share_an_index_keep_to_their_sources(make: MakeTool, docs: Path) -> None:
    lamps = make(name="lamps", source="docs/lamps.md", index="shared")
    boats = make(name="boats", source="docs/boats.md", index="shared")
    assert lamps.search_sync("lamp").results
    assert set(titles(boats.search_sync("lamp or hull"))) == {"Boats"}
    assert set(titles(lamps.search_sync("lamp or hull"))) == {"Lamps"}


def test_a_source_that_was_changed_to_a_pattern_leaves_nothing_of_the_old_one(
    make: MakeTool, docs: Path
) -> None:
    make().initialize_sync()
    tool = make(source="docs/**/b*.md")
    assert (tool.initialize_sync().unchanged, tool.initialize_sync().added) == (1, [])
    assert set(titles(tool.search_sync("lamp or hull"))) == {"Boats"}
