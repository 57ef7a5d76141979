"""Tools that share an index, and tools that are closed while somebody reads from them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.tools.conftest import ENGLISH, MakeTool
from tests.tools.embedders import WatchedEmbedder

from loccit.errors import NotFoundError
from loccit.models.embedding.protocol import Vectors
from loccit.tools.loading import ToolClosedError


class HeldEmbedder(WatchedEmbedder):
    """An embedder that waits before it embeds passages: documents are stored by then, and the index is locked."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.used.set()
        assert self.go_on.wait(60), "nobody let the embedder go on"
        return super().embed(texts)


def names(found: Any) -> set[str]:
    return {Path(item.source_path).name for item in found}


def test_a_tool_waits_for_another_that_is_making_their_index(make: MakeTool, docs: Path) -> None:
    held = HeldEmbedder()
    lamps = make(held, name="lamps", source="docs/lamps.md", index="shared")
    boats = make(name="boats", source="docs/boats.md", index="shared")
    again = make(name="again", source="docs/lamps.md", index="shared")
    first = lamps.start()
    assert held.used.wait(60)
    others = [boats.start(), again.start()]
    # Documents are there already, but not those of the one, and not all that is known of those of the other.
    assert not any(other.done() for other in others)
    held.go_on.set()
    assert [len(report.result(60).added) for report in (first, *others)] == [1, 1, 0]
    assert names(boats.search_sync("lamp or hull").results) == {"boats.md"}
    assert names(again.search_sync("lamp or hull").results) == {"lamps.md"}
    assert "no vectors yet" not in again.search_sync("lamp").note


def test_a_tool_that_is_closed_does_not_wait_for_its_turn(make: MakeTool, docs: Path) -> None:
    held = HeldEmbedder()
    first = make(held, name="first", index="shared")
    second = make(name="second", index="shared")
    loading = first.start()
    assert held.used.wait(60)
    waiting = second.start()
    second.close()
    with pytest.raises(ToolClosedError, match="second is closed"):
        waiting.result(60)
    held.go_on.set()
    assert len(loading.result(60).added) == 2


def test_what_is_asked_of_a_scope_concerns_only_its_documents(make: MakeTool, docs: Path) -> None:
    (docs / "old").mkdir()
    (docs / "old" / "lamps.md").write_text(
        f"{ENGLISH}# Old lamps\n\n## 1 Oil\n\nSee section 2.\n\n## 2 Wicks\n\nOf cotton.\n"
    )
    make(name="all", index="shared").initialize_sync()
    tool = make(name="old", source="docs/old", index="shared")
    tool.initialize_sync()
    scope = tool.ask(lambda library: library)
    assert names(scope.documents()) == names(scope.outline(None, clauses=False)) == {"lamps.md"}
    assert [outline.title for outline in scope.outline(None, clauses=True)] == ["Old lamps"]
    # In the whole library, two documents have this name.
    assert scope.document("lamps.md").document_title == "Old lamps"
    assert scope.references("2").cited_by[0].source_path == str(docs / "old" / "lamps.md")
    for ask in (scope.document, lambda name: scope.outline(name, clauses=False)):
        with pytest.raises(NotFoundError, match=r"^No document of this tool is called 'boats\.md'\.$"):
            ask("boats.md")


@pytest.mark.parametrize("source", ("notes [2024]", "notes [2024]/a?b*.md"))
def test_names_may_hold_signs_of_patterns(make: MakeTool, tmp_path: Path, source: str) -> None:
    folder = tmp_path / "notes [2024]"
    folder.mkdir()
    (folder / "a?b*.md").write_text(f"{ENGLISH}# Tides\n\n## 1 Ebb\n\nThe ebb runs for six hours.\n")
    (tmp_path / "docs" / "other.md").write_text(f"{ENGLISH}# Other\n\nThe ebb.\n")
    with_others = make(name="others", index="shared")
    with_others.initialize_sync()
    tool = make(source=source, index="shared")
    assert names(tool.search_sync("ebb").results) == {"a?b*.md"}
    assert names(tool.search_sync("ebb", document="Tides").results) == {"a?b*.md"}
    assert names(tool.search_sync("ebb", filters={"path": "a?b*"}).results) == {"a?b*.md"}
    assert tool.get_section_sync("1").heading == "1 Ebb"


def test_closing_waits_for_those_who_read(make: MakeTool, docs: Path) -> None:
    embedder = WatchedEmbedder()
    tool = make(embedder)
    tool.initialize_sync()
    embedder.gate.clear()
    with ThreadPoolExecutor(2) as threads:
        search = threads.submit(tool.search_sync, "lamp", mode="semantic")
        while not embedder.asked.wait(1):
            assert not search.done()
        closing = threads.submit(tool.close)
        while tool.loaded:
            pass
        with pytest.raises(ToolClosedError, match="The tool notes is closed"):
            tool.search_sync("lamp")
        assert not closing.done()
        embedder.gate.set()
        assert search.result(60).results
        closing.result(60)
