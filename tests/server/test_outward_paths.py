"""No answer, resource, prompt or error tells an outsider where on this machine a library lies."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp import Client, MCPError
from tests.server.conftest import index_registry

from loccit import Library
from loccit.agent import HierarchicalDocumentToolConfig
from loccit.ask.catalog import TOOLS
from loccit.ask.relative import told_relative
from loccit.errors import NotFoundError
from loccit.server.mcp.server import make_server
from loccit.server.services import IndexService, LibraryRegistry
from loccit.tools.document_tool import HierarchicalDocumentTool

ACT = '# Harbour Act\n\n## Section 1\n\n"Vessel" means a ship. See Section 2.\n\n## Section 2\n\nThe master shall report within 2 days.\n'
GIVEN: dict[str, list[dict[str, Any]]] = {
    "search_documents": [
        {"query": "report"},
        {"query": "report", "document": "act.md"},
        {"query": "report", "document": "none.md"},
        {"query": ""},
    ],
    "read_section": [
        {"document": "act.md"},
        {"document": "old/act.md"},
        {"reference": "Section 1", "document": "old/act.md"},
        {"reference": "Section 9"},
        {"reference": ["Section 2", "Section 9"]},
        {"reference": "loccit://document/old%2Fact.md"},
        {"reference": "old/act.md#sec_1"},
        {"reference": "Section 1", "step": "previous"},
        {"reference": "aaaaaaaa"},
    ],
    "define_term": [{"term": "vessel"}, {"term": "vessel", "document": "notes.md"}, {"term": "barge"}],
    "list_outline": [{}, {"document": "act.md"}, {"document": "none.md"}],
    "follow_references": [{"reference": "Section 2"}, {"reference": "Section 2", "document": "notes.md"}],
    "find_all": [
        {"pattern": "report"},
        {"pattern": "(", "kind": "regex"},
        {"pattern": "x", "document": "q.md"},
    ],
    "verify_quotes": [{"quotations": ["The master shall report within 3 days."]}, {"text": "no quotation"}],
    "compare": [
        {"old": "Harbour Act", "new": "Harbour Act"},
        {"old": "act.md", "new": "old/act.md"},
        {"old": "act.md", "new": "none.md"},
    ],
    "list_obligations": [{}, {"document": "none.md"}, {"unit": "day"}],
    "list_documents": [{}, {"filters": {"path": "old"}}, {"filters": {"colour": "red"}}],
    "index_status": [{}],
    "index_documents": [{"paths": ["/etc/hosts"]}, {}],
    "no_such_tool": [{}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outward")
    (folder / "docs" / "old").mkdir(parents=True)
    (folder / "docs" / "act.md").write_text(ACT, encoding="utf-8")
    (folder / "docs" / "old" / "act.md").write_text(ACT.replace("2 days", "3 days"), encoding="utf-8")
    (folder / "docs" / "notes.md").write_text(
        "# Notes\n\n## Section 2\n\nSee [it](act.md).\n", encoding="utf-8"
    )
    (folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    return folder


@pytest.fixture(scope="module", params=["inside", "outside"])
def index(folder: Path, request: pytest.FixtureRequest) -> Path:
    """An index beside its documents, and one elsewhere."""
    index = folder / ("docs/.loccit" if request.param == "inside" else "elsewhere/index")
    with Library(index) as library:
        library.index([folder / "docs"], embed=False)
    return index


def test_nothing_that_mcp_says_names_a_folder_of_this_machine(folder: Path, index: Path) -> None:
    registry = LibraryRegistry([IndexService(lambda: index, create_at=index)], write=True)
    assert set(TOOLS) <= set(GIVEN)
    said: list[tuple[str, str]] = []

    async def listen() -> None:
        async with Client(make_server(registry)) as client:
            said.append(("tools", (await client.list_tools()).model_dump_json()))
            said.append(("templates", (await client.list_resource_templates()).model_dump_json()))
            said.append(("prompts", (await client.list_prompts()).model_dump_json()))
            resources = await client.list_resources()
            said.append(("resources", resources.model_dump_json()))
            for resource in resources.resources:
                read = await client.read_resource(str(resource.uri))
                assert read.contents
                said.append((str(resource.uri), read.model_dump_json()))
            for uri in (
                "loccit://document/Harbour%20Act",
                "loccit://document/q.md",
                "loccit://section/q.md/sec_1",
            ):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                said.append((uri, str(refused.value)))
            for name, given in (
                ("answer_with_citations", {"question": "Who reports?"}),
                ("compare_two_sections", {"first": "Section 1", "second": "Section 2"}),
            ):
                said.append((name, (await client.get_prompt(name, given)).model_dump_json()))
            with pytest.raises(MCPError) as refused:
                await client.get_prompt("compare_two_sections", {"first": "Section 7", "second": "Section 2"})
            said.append(("prompt", str(refused.value)))
            for name, calls in GIVEN.items():
                for given in calls:
                    try:
                        answer = (await client.call_tool(name, given)).model_dump_json()
                    except MCPError as error:
                        answer = str(error)
                    said.append((f"{name} {given}", answer))

    asyncio.run(listen())
    registry.close()
    told = [what for what, text in said if str(folder) in text or str(folder.parent) in text]
    assert not told
    assert len(said) > 40


def test_an_address_leads_to_the_document_that_it_was_listed_for(folder: Path, index: Path) -> None:
    registry = LibraryRegistry([IndexService(lambda: index)])

    async def read() -> dict[str, str]:
        async with Client(make_server(registry)) as client:
            return {
                str(item.uri): (await client.read_resource(str(item.uri))).model_dump()["contents"][0]["text"]
                for item in (await client.list_resources()).resources
                if "/document/" in str(item.uri)
            }

    texts = asyncio.run(read())
    registry.close()
    assert len(texts) == 3
    assert [("3 days" in text) for uri, text in texts.items() if "act.md" in uri] == [
        "old" in uri for uri in texts if "act.md" in uri
    ]


def test_nor_does_a_tool_of_an_agent(folder: Path) -> None:
    config = HierarchicalDocumentToolConfig(
        name="law", description="Laws.", source=str(folder / "docs"), dense_index=False
    )
    with HierarchicalDocumentTool(config, base_dir=folder) as tool:
        for name, calls in GIVEN.items():
            for given in calls if name != "index_documents" else ():
                text = tool.call_sync(name, json.dumps(given))
                assert str(folder.parent) not in text, (name, given)


def test_nor_where_there_is_no_index(tmp_path: Path) -> None:
    registry = index_registry(tmp_path / "missing")

    async def ask() -> str:
        async with Client(make_server(registry)) as client:
            return (await client.call_tool("search_documents", {"query": "x"})).model_dump_json()

    assert str(tmp_path) not in asyncio.run(ask())


def test_the_words_of_a_document_stay_as_they_are(tmp_path: Path) -> None:
    sentence = f"The logs are kept in {tmp_path}/docs/logs/today.txt for a week."
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ops.md").write_text(f"# Ops\n\n## Section 1\n\n{sentence}\n", encoding="utf-8")
    with Library(tmp_path / "docs" / ".loccit") as library:
        library.index([tmp_path / "docs"], embed=False)
    registry = LibraryRegistry([IndexService(lambda: tmp_path / "docs" / ".loccit")])

    async def ask() -> list[str]:
        async with Client(make_server(registry)) as client:
            return [
                (await client.call_tool(name, given)).model_dump()["content"][0]["text"]
                for name, given in (
                    ("read_section", {"reference": "Section 1"}),
                    ("find_all", {"pattern": "kept in"}),
                )
            ]

    for text in asyncio.run(ask()):
        assert sentence in text and text.count(str(tmp_path)) == 1
    registry.close()


def test_documents_that_share_no_folder_are_told_apart() -> None:
    library = cast("Library", SimpleNamespace(root=os.sep))
    with pytest.raises(NotFoundError) as refused, told_relative(library):
        raise NotFoundError(
            "Several are called 'a.md': /home/ann/a.md, '/srv/docs/a.md'. Use /api and/or grep."
        )
    said = "Several are called 'a.md': home/ann/a.md, 'srv/docs/a.md'. Use /api and/or grep."
    assert str(refused.value) == said
