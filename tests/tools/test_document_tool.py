"""A tool loads once, keeps up with its source, and answers awaited and waiting callers alike."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.tools.conftest import ENGLISH, MakeTool
from tests.tools.embedders import WatchedEmbedder

from loccit import Library
from loccit.ask.relative import relative
from loccit.errors import LoccitError, ModelMismatchError, UsageError
from loccit.index.folder.files import WriterLock
from loccit.model import Progress
from loccit.tools import HierarchicalDocumentTool


def titles(response: Any) -> list[str]:
    return [result.document_title for result in response.results]


def test_a_tool_is_built_from_an_agent_file(tmp_path: Path, docs: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(
        "name: helper\ntools:\n"
        "  - {name: notes, type: hierarchical_document, description: Notes., source: docs, top_k: 1}\n"
        "  - {name: boats, type: hierarchical_document, description: Boats., source: docs/boats.md}\n"
    )
    with HierarchicalDocumentTool.from_yaml(file, "notes") as tool:
        assert (tool.name, tool.description) == ("notes", "Notes.")
        assert not (tmp_path / ".loccit").exists(), "nothing is loaded before it is used"
        assert titles(tool.search_sync("how long does a lamp burn")) == ["Lamps"]
        assert (tmp_path / ".loccit" / "notes").is_dir()
    with HierarchicalDocumentTool.from_yaml(file, "boats") as tool:
        assert set(titles(tool.search_sync("lamp"))) <= {"Boats"}
    with pytest.raises(UsageError, match="notes, boats"):
        HierarchicalDocumentTool.from_yaml(file)


def test_without_defer_loading_the_source_is_indexed_from_the_start(make: MakeTool, docs: Path) -> None:
    embedder = WatchedEmbedder()
    make(embedder, defer_loading=False)
    assert embedder.used.wait(30)


def test_without_defer_loading_a_missing_source_is_refused_at_once(make: MakeTool) -> None:
    with pytest.raises(UsageError, match=r"notes: .*nowhere"):
        make(defer_loading=False, source="nowhere")


def test_a_missing_source_is_said_and_can_be_put_right(make: MakeTool, docs: Path) -> None:
    tool = make(source="docs/later.md")
    with pytest.raises(UsageError, match=r"later\.md"):
        tool.search_sync("lamp")
    assert "later.md" in tool.call_sync("notes", {"query": "lamp"})
    (docs / "later.md").write_text(f"{ENGLISH}# Later\n\nA lamp was lit.")
    assert titles(tool.search_sync("lamp")) == ["Later"]


def test_ten_at_once_index_once_and_all_hear_of_it(make: MakeTool, docs: Path) -> None:
    embedder = WatchedEmbedder()
    tool = make(embedder)
    heard: list[list[Progress]] = [[] for _ in range(10)]
    threads: set[int] = set()

    def listener(steps: list[Progress]) -> Any:
        def listen(step: Progress) -> None:
            threads.add(threading.get_ident())
            steps.append(step)

        return listen

    async def main() -> list[Any]:
        return await asyncio.gather(*(tool.initialize(listener(steps)) for steps in heard))

    reports = asyncio.run(main())
    assert len({id(report) for report in reports}) == 1
    assert len(reports[0].added) == 2
    assert embedder.embedded == reports[0].embedded
    assert threads == {threading.get_ident()}
    assert all({"read", "embed"} <= {step.stage for step in steps} for steps in heard)


def test_ten_threads_that_search_first_index_once(make: MakeTool, docs: Path) -> None:
    embedder = WatchedEmbedder()
    tool = make(embedder)
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(titles(tool.search_sync("lamp oil")))) for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10 and all(titles == found[0] for titles in found)
    assert embedder.embedded == tool.initialize_sync().embedded


def test_one_who_fails_or_stops_waiting_does_not_stop_the_others(make: MakeTool, docs: Path) -> None:
    tool = make()

    def listen(step: Progress) -> None:
        raise RuntimeError("no longer there")

    tool._loader.start(listen)

    async def main() -> Any:
        impatient = asyncio.create_task(tool.initialize())
        patient = asyncio.create_task(tool.initialize())
        await asyncio.sleep(0)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        return await patient

    assert len(asyncio.run(main()).added) == 2


def test_the_source_is_looked_at_again_on_start(make: MakeTool, docs: Path) -> None:
    make().initialize_sync()
    (docs / "kites.md").write_text(f"{ENGLISH}# Kites\n\nA kite needs wind.")
    (docs / "lamps.md").unlink()
    tool = make()
    report = tool.initialize_sync()
    assert [Path(path).name for path in report.added] == ["kites.md"]
    assert [Path(path).name for path in report.removed] == ["lamps.md"]
    assert report.unchanged == 1
    assert titles(tool.search_sync("kite", top_k=1)) == ["Kites"]


def test_refresh_looks_again_while_searches_go_on(make: MakeTool, docs: Path) -> None:
    tool = make()

    async def main() -> Any:
        await tool.initialize()
        (docs / "kites.md").write_text(f"{ENGLISH}# Kites\n\nA kite needs wind.")
        refreshing = asyncio.create_task(tool.refresh())
        await asyncio.sleep(0)
        assert (await tool.search("lamp")).results
        return await refreshing

    assert len(asyncio.run(main()).added) == 1
    assert titles(tool.search_sync("kite", top_k=1)) == ["Kites"]


def test_a_closed_tool_says_so_and_lets_go_of_its_index(make: MakeTool, docs: Path, tmp_path: Path) -> None:
    tool = make()
    tool.initialize_sync()
    tool.close()
    tool.close()
    with pytest.raises(LoccitError, match="closed"):
        tool.search_sync("lamp")
    assert "closed" in tool.call_sync("notes", {"query": "lamp"})
    assert "closed" in asyncio.run(tool.call("notes", {"query": "lamp"}))
    with Library(tmp_path / ".loccit" / "notes", create=False) as library:
        assert library.search("lamp").results


def test_closing_stops_an_index_in_the_making(make: MakeTool, docs: Path) -> None:
    tool = make()
    reached, closing = threading.Event(), threading.Event()

    def listen(step: Progress) -> None:
        reached.set()
        assert closing.wait(30)

    outcome: list[BaseException] = []

    def load() -> None:
        try:
            tool.initialize_sync(listen)
        except BaseException as error:
            outcome.append(error)

    loading = threading.Thread(target=load)
    loading.start()
    assert reached.wait(30)
    closer = threading.Thread(target=tool.close)
    closer.start()
    while "is closed" not in tool.call_sync("notes", {"query": "lamp"}):
        pass
    closing.set()
    closer.join()
    loading.join()
    assert "closed while it was loading" in str(outcome[0])


def test_an_index_that_another_process_writes_to_is_searched_as_it_is(
    make: MakeTool, docs: Path, tmp_path: Path
) -> None:
    make().initialize_sync()
    (docs / "kites.md").write_text(f"{ENGLISH}# Kites\n\nA kite needs wind.")
    with WriterLock(tmp_path / ".loccit" / "notes").held(wait=False):
        tool = make()
        report = tool.initialize_sync()
        assert (report.added, report.unchanged) == ([], 2)
        assert tool.search_sync("lamp").results
    assert len(tool.refresh_sync().added) == 1


def test_another_embedding_model_makes_the_tools_own_index_anew(make: MakeTool, docs: Path) -> None:
    make().initialize_sync()
    other = WatchedEmbedder("other-model")
    tool = make(other)
    assert len(tool.initialize_sync().added) == 2 and other.embedded
    assert tool.library.status().model == "other-model"


def test_an_index_that_was_named_is_not_thrown_away(make: MakeTool, docs: Path) -> None:
    make(index="shared").initialize_sync()
    with pytest.raises(ModelMismatchError, match="rebuild"):
        make(WatchedEmbedder("other-model"), index="shared").initialize_sync()


def test_a_database_that_cannot_be_used_is_refused_when_the_tool_is_made(make: MakeTool) -> None:
    with pytest.raises(UsageError, match=r"^Tool notes: database\.\w+: .*pinecone"):
        make(database={"provider": "pinecone", "connection_string": "x"})


def test_files_that_cannot_be_read_are_reported_and_the_others_found(
    make: MakeTool, docs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (docs / "broken.docx").write_bytes(b"PK\x03\x04" + os.urandom(300))
    tool = make()
    assert [Path(failure.path).name for failure in tool.initialize_sync().failed] == ["broken.docx"]
    assert "broken.docx" in caplog.text
    assert tool.search_sync("lamp").results


def test_the_event_loop_goes_on_while_a_search_runs(make: MakeTool, docs: Path) -> None:
    embedder = WatchedEmbedder()
    tool = make(embedder)

    async def main() -> None:
        await tool.initialize()
        embedder.gate.clear()
        asked = tool.search("lamp"), tool.call("notes", {"q": "lamp"})
        waiting = asyncio.gather(*asked)
        await asyncio.sleep(0)
        # The searches stand before the gate; only a loop that goes on can open it.
        asyncio.get_running_loop().call_soon(embedder.gate.set)
        response, text = await waiting
        assert response.results and "Lamps" in text

    asyncio.run(main())


def test_awaited_and_waiting_callers_get_the_same(tool: HierarchicalDocumentTool) -> None:
    async def main() -> tuple[Any, ...]:
        return await asyncio.gather(
            tool.search("dry running", top_k=3),
            tool.get_definition("vessel"),
            tool.get_section("4.2.2"),
            tool.call("handbook", {"query": "dry running", "top_k": 3}),
        )

    response, definition, section, text = asyncio.run(main())
    assert response.results == tool.search_sync("dry running", top_k=3).results
    assert definition == tool.get_definition_sync("vessel")
    assert section == tool.get_section_sync("4.2.2")
    assert text == tool.call_sync("handbook", {"query": "dry running", "top_k": 3})
    assert text == relative(response, tool.library.root).format()
