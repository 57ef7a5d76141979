"""Two tools may share an index, and a source, as long as they want the same of it."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from loccit.agent import check_agent, load_agent
from loccit.tools.document_tool import close_tools, open_tools

from .conftest import Write

TOOL = "  - {{name: {name}, description: d, source: docs{more}}}\n"


def agent(*more: str) -> str:
    tools = (TOOL.format(name=f"tool_{number}", more=text) for number, text in enumerate(more))
    return "tools:\n" + "".join(tools)


@pytest.mark.parametrize(
    "more",
    (
        ("", ""),
        (", max_chunk_tokens: 300", ", max_chunk_tokens: 400"),
        (", index: one", ", index: one, top_k: 3, search_mode: keyword"),
        (", index: one", ", index: two, max_chunk_tokens: 300"),
        (", database: {provider: in-memory}", ", database: {provider: in-memory}, max_chunk_tokens: 300"),
        (", index: one", ", database: {provider: faiss, collection: laws}, max_chunk_tokens: 300"),
    ),
)
def test_tools_that_get_along(write: Write, more: tuple[str, ...]) -> None:
    checked = check_agent(write(agent(*more)))
    assert checked.ok
    assert [item for item in checked.warnings if "same index" in item.message] == []


@pytest.mark.parametrize(
    "other", ("index: ./one", "index: docs/../one", "index: one, database: {provider: embedded}")
)
def test_tools_that_would_make_each_others_index_anew(
    write: Write, caplog: pytest.LogCaptureFixture, other: str
) -> None:
    file = write(
        agent(", index: one", f", {other}, max_chunk_tokens: 300, extract_definitions: false", ", index: one")
    )
    with caplog.at_level(logging.WARNING, "loccit"):
        load_agent(file)
    message = (
        f"{file}:3: tools[1].index: tool_0 has the same index with another max_chunk_tokens and "
        "extract_definitions: each of them would rebuild it; give each its own folder"
    )
    assert caplog.messages == [message]
    assert [str(item) for item in check_agent(file).warnings] == [message]


def test_a_folder_belongs_to_one_database(write: Write) -> None:
    other = ", index: one, database: {provider: faiss}"
    (warning,) = check_agent(write(agent(", index: one", other))).warnings
    assert warning.field == "tools[1].index"
    assert warning.message.startswith("tool_0 has the same index in another database")


def test_an_index_beside_the_default_of_another(write: Write) -> None:
    checked = check_agent(write(agent("", ", index: .loccit/tool_0, chunk_overlap: 0")))
    assert ["same index" in item.message for item in checked.warnings] == [True]


def test_of_tools_that_cannot_all_be_made_none_stays_open(write: Write, tmp_path: Path) -> None:
    good = ", defer_loading: false"
    file = write("nowhere".join(agent(good, good).rsplit("docs", 1)))
    with pytest.raises(Exception, match="there is no file or folder 'nowhere'"):
        open_tools(load_agent(file))
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("loccit-load")]
    tools = open_tools(load_agent(write(agent(good, good))))
    try:
        for tool in tools:
            assert tool.initialize_sync().failed == []
            assert tool.search_sync("arrival").results
    finally:
        close_tools(tools)
    with pytest.raises(Exception, match="is closed"):
        tools[0].search_sync("arrival")
