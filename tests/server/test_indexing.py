"""index_documents: there only when it is wanted, with progress, and it can be stopped."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult
from tests.server.conftest import ask, index_registry, served, text_of, write_documents

from loccit import Library


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_documents(tmp_path / "docs")
    return tmp_path


def test_an_index_is_made_and_progress_is_told(home: Path) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)
        assert total == 100
        assert message

    async def talk(client: Client) -> tuple[list[str], CallToolResult, str]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        done = await client.call_tool(
            "index_documents", {"paths": [str(home / "docs")]}, progress_callback=hear
        )
        return names, done, text_of(await client.call_tool("search_documents", {"query": "collision"}))

    with served(index_registry(home, write=True)) as address:
        names, done, found = ask(f"{address}/mcp", talk)
    assert "index_documents" in names
    assert not done.is_error, text_of(done)
    assert len(done.structured_content["added"]) == 3
    assert "3 added" in text_of(done)
    assert heard == sorted(set(heard))
    assert heard[-1] > 90
    assert "within one hour" in found


def test_only_folders_that_were_offered_are_read(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.md"
    secret.write_text("# Secret\n\nThe code is 1234.", encoding="utf-8")
    (home / "docs/link.md").symlink_to(secret)

    async def talk(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool("index_documents", {"paths": [path]})
            for path in (str(secret), str(home / "docs" / ".." / ".." / ".."), str(home / "docs/link.md"))
        ]

    with served(index_registry(home, write=True)) as address:
        answers = ask(f"{address}/mcp", talk)
    for answer in answers:
        assert answer.is_error
        assert "may read" in text_of(answer)


def test_a_cancelled_run_stops_keeps_what_it_has_and_can_go_on(home: Path) -> None:
    for number in range(25):
        page = home / f"docs/page{number}.md"
        page.write_text(f"# Page {number}\n\n" + f"Words of page {number}. " * 30, encoding="utf-8")

    async def talk(client: Client) -> tuple[int, CallToolResult]:
        async with anyio.create_task_group() as group:

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                if progress > 5:
                    group.cancel_scope.cancel()

            async def index() -> None:
                await client.call_tool(
                    "index_documents", {"paths": [str(home / "docs")]}, progress_callback=hear
                )
                raise AssertionError("was not cancelled")

            group.start_soon(index)
        waiting = text_of(await client.call_tool("index_status", {}))
        assert "documents in" in waiting
        with Library(home / ".loccit", create=False) as library:
            kept = library.status().passages - library.status().pending_passages
        # The writer's lock is free again, or will be in a moment: this waits for it.
        return kept, await client.call_tool("index_documents", {})

    with served(index_registry(home, write=True)) as address:
        kept, finished = ask(f"{address}/mcp", talk)
    assert not finished.is_error, text_of(finished)
    with Library(home / ".loccit", create=False) as library:
        status = library.status()
    assert status.documents == 28
    assert status.pending_passages == 0
    assert kept < status.passages
