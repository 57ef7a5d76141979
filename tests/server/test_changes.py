"""Changes of the library are announced to clients, whoever made them: over HTTP and stdio, in both protocols."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification
from tests.server.conftest import ask, index_registry, served, stdio, write_documents

from loccit import Library
from loccit.model.uris import document_uri

NEW = "# Tides\n\nHigh water is at noon.\n"
ACT_URI = document_uri("act.md")
CHAPTER = "loccit://section/act.md/sec_22"


def index(home: Path) -> None:
    with Library(home / ".loccit") as library:
        library.index([home / "docs"], embed=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_documents(tmp_path / "docs")
    index(tmp_path)
    return tmp_path


@pytest.fixture(params=["http", "stdio"])
def server(request: pytest.FixtureRequest, home: Path) -> Iterator[Any]:
    if request.param == "stdio":
        yield stdio("--index", str(home / ".loccit"), folder=home)
        return
    with served(index_registry(home)) as address:
        yield f"{address}/mcp"


def change(home: Path) -> None:
    """Another process adds a document and changes a section."""
    act = home / "docs" / "act.md"
    act.write_text(act.read_text().replace("gale warning", "storm warning"))
    (home / "docs" / "tides.md").write_text(NEW)
    index(home)


def test_a_client_that_shook_hands_is_told_what_it_listed_and_subscribed_to(home: Path, server: Any) -> None:
    heard: list[object] = []

    async def hear(message: object) -> None:
        heard.append(message)

    async def talk(client: Client) -> tuple[bool | None, bool | None]:
        told = client.server_capabilities.resources
        assert told
        await client.list_resources()
        for uri in (ACT_URI, CHAPTER, "loccit://section/act.md/sec_11", document_uri("manual.md")):
            await client.subscribe_resource(uri)
        await client.unsubscribe_resource(ACT_URI)
        await anyio.to_thread.run_sync(change, home)
        with anyio.fail_after(60):
            while len(heard) < 2:
                await anyio.sleep(0.05)
        return told.list_changed, told.subscribe

    assert ask(server, talk, mode="legacy", message_handler=hear) == (True, True)
    assert sum(isinstance(message, ResourceListChangedNotification) for message in heard) == 1
    updated = [str(note.params.uri) for note in heard if isinstance(note, ResourceUpdatedNotification)]
    assert updated == [CHAPTER]


def test_a_client_that_listens_is_told_what_it_asked_for(home: Path, server: Any) -> None:
    async def talk(client: Client) -> list[object]:
        heard: list[object] = []
        async with client.listen(
            resources_list_changed=True, resource_subscriptions=[CHAPTER, document_uri("manual.md")]
        ) as changes:
            await anyio.to_thread.run_sync(change, home)
            with anyio.fail_after(60):
                async for event in changes:
                    heard.append(event)
                    if len(heard) == 2:
                        break
        return heard

    heard = ask(server, talk)
    assert {type(event) for event in heard} == {ResourcesListChanged, ResourceUpdated}
    assert [event.uri for event in heard if isinstance(event, ResourceUpdated)] == [CHAPTER]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_is_announced_is_said_alike_in_every_protocol(server: Any, mode: str) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        return client.server_capabilities.model_dump(by_alias=True, exclude_none=True)

    assert ask(server, talk, mode=mode) == {
        "completions": {},
        "prompts": {"listChanged": False},
        "resources": {"listChanged": True, "subscribe": True},
        "tools": {"listChanged": False},
    }


def test_a_stream_promises_no_changes_of_lists_that_stay_the_same(server: Any) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as changes:
            assert changes.honored
            return changes.honored.model_dump(exclude_none=True)

    assert ask(server, talk) == {"resources_list_changed": True}


def test_what_does_not_exist_cannot_be_watched(home: Path) -> None:
    with served(index_registry(home)) as address, pytest.raises(MCPError, match=r"Did you mean: act\.md"):
        ask(f"{address}/mcp", lambda client: client.subscribe_resource(document_uri("atc.md")), mode="legacy")


def test_a_list_of_resources_comes_in_pages_of_one_state_of_the_library(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(120):
        (docs / f"note{number:03}.md").write_text(f"# Note {number}\n\nText.\n")
    index(tmp_path)

    async def talk(client: Client) -> tuple[list[int], str]:
        sizes, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            documents = [item for item in page.resources if item.uri.startswith("loccit://document/")]
            sizes.append(len(documents))
            if page.next_cursor is None:
                break
            cursor = page.next_cursor
        assert cursor
        (docs / "tides.md").write_text(NEW)
        await anyio.to_thread.run_sync(index, tmp_path)
        try:
            await client.list_resources(cursor=cursor)
        except MCPError as error:
            return sizes, str(error)
        return sizes, ""

    with served(index_registry(tmp_path)) as address:
        sizes, refused = ask(f"{address}/mcp", talk)
    assert sizes == [50, 50, 20]
    assert "The library has changed since this cursor" in refused
