"""With an agent file, each document tool appears under its own name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, ListToolsResult
from tests.server.conftest import ask, call, served, text_of, write_documents

from loccit.cli.mcp import make_registry
from loccit.errors import UsageError
from loccit.server.mcp.server import make_server
from loccit.server.services import ToolService, tool_services

AGENT = """
name: harbour-registry
description: Answers questions about the harbour.
tools:
  - name: harbour_law
    description: The law of the harbour.
    type: hierarchical_document
    source: docs/act.md
    top_k: 2
    token_budget: 700
  - name: pump_manual
    description: How the pump works.
    type: hierarchical_document
    source: docs
    filters: {path: manual.md}
    defer_loading: false
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agent")
    write_documents(folder / "docs")
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def agent(home: Path) -> Iterator[str]:
    """Where the tools of the agent file are served."""
    registry = make_registry(None, home / "agent.yaml", write=True, token_budget=None, output="both")
    with served(registry) as address:
        yield f"{address}/mcp"


def test_each_tool_appears_under_its_name_with_its_description(agent: str) -> None:
    listed: ListToolsResult = ask(agent, lambda client: client.list_tools())
    tools = {tool.name: tool for tool in listed.tools}
    assert list(tools)[:2] == ["harbour_law", "pump_manual"]
    assert "search_documents" not in tools
    assert (tools["harbour_law"].description or "").startswith("The law of the harbour.")
    assert "tool" not in tools["harbour_law"].input_schema["properties"]
    assert tools["read_section"].input_schema["properties"]["tool"]["enum"] == ["harbour_law", "pump_manual"]


def test_each_tool_searches_its_own_documents_with_its_own_settings(agent: str) -> None:
    law = call(agent, "harbour_law", {"query": "harbour pump"})
    assert len(law.structured_content["results"]) <= 2
    assert {Path(found["source_path"]).name for found in law.structured_content["results"]} == {"act.md"}
    manual = call(agent, "pump_manual", {"query": "harbour pump"})
    assert {Path(found["source_path"]).name for found in manual.structured_content["results"]} == {
        "manual.md"
    }
    assert manual.structured_content["tool"] == "pump_manual"


def test_the_other_tools_ask_all_libraries_or_the_one_that_is_named(agent: str) -> None:
    async def talk(client: Client) -> dict[str, CallToolResult]:
        return {
            "anywhere": await client.call_tool("read_section", {"reference": "Section 22"}),
            "elsewhere": await client.call_tool(
                "read_section", {"reference": "Section 22", "tool": "pump_manual"}
            ),
            "defined": await client.call_tool("define_term", {"term": "vessel"}),
            "listed": await client.call_tool("list_documents", {}),
            "one list": await client.call_tool("list_documents", {"library": "pump_manual"}),
            "outline": await client.call_tool("list_outline", {"document": "manual.md"}),
            "cited": await client.call_tool("follow_references", {"reference": "Section 21"}),
            "status": await client.call_tool("index_status", {}),
            "nobody": await client.call_tool("list_documents", {"tool": "kitchen"}),
        }

    answers = ask(agent, talk)
    assert answers["anywhere"].structured_content["tool"] == "harbour_law"
    assert answers["elsewhere"].is_error
    assert "means every description" in text_of(answers["defined"])
    names = [Path(item["source_path"]).name for item in answers["listed"].structured_content["documents"]]
    assert names == ["act.md", "manual.md"], "what the filters leave out is not listed"
    assert answers["one list"].structured_content["total"] == 1
    assert answers["outline"].structured_content["total"] == 1
    assert [item["section_label"] for item in answers["cited"].structured_content["cited_by"]] == [
        "Section 22"
    ]
    assert len(answers["status"].structured_content["indexes"]) == 2
    assert "harbour_law, pump_manual" in text_of(answers["nobody"])
    with pytest.raises(MCPError, match="harbour_law"):
        call(agent, "search_documents", {"query": "pump"})


def test_a_document_that_a_tool_leaves_out_cannot_be_opened_as_a_resource(agent: str) -> None:
    listed = ask(agent, lambda client: client.list_resources()).resources
    assert all("visitors" not in resource.uri for resource in listed)
    assert all("?tool=" in resource.uri for resource in listed)
    with pytest.raises(MCPError, match="No document of this tool is called"):
        ask(agent, lambda client: client.read_resource("loccit://document/visitors.md?tool=pump_manual"))


def test_the_budget_of_a_tool_holds_for_its_answers(home: Path) -> None:
    law, manual = tool_services(home / "agent.yaml")
    assert (law.defaults["token_budget"], manual.defaults.get("token_budget")) == (700, None)
    law.close()
    manual.close()


def test_indexing_reads_the_sources_again(agent: str, home: Path) -> None:
    async def talk(client: Client) -> tuple[CallToolResult, CallToolResult, CallToolResult]:
        await client.call_tool("harbour_law", {"query": "harbour"})
        with (home / "docs/act.md").open("a", encoding="utf-8") as file:
            file.write("\n### Section 23. Seals\n\nThe grey seal has right of way.\n")
        done = await client.call_tool("index_documents", {"tool": "harbour_law"})
        refused = await client.call_tool("index_documents", {"paths": [str(home)]})
        return done, refused, await client.call_tool("harbour_law", {"query": "grey seal"})

    done, refused, found = ask(agent, talk)
    assert "1 updated" in text_of(done)
    assert refused.is_error
    assert "right of way" in text_of(found)


def test_documents_that_take_long_to_read_are_not_waited_for(home: Path) -> None:
    from loccit.agent import load_agent
    from loccit.errors import LoccitError
    from loccit.tools.document_tool import HierarchicalDocumentTool

    loaded = load_agent(home / "agent.yaml")
    service = ToolService(
        HierarchicalDocumentTool(loaded.document_tools[0], base_dir=loaded.base_dir), wait_seconds=0
    )
    with pytest.raises(LoccitError, match=r"being read.*Ask again"):
        service.search("harbour")
    service.close()


def test_a_tool_may_not_take_the_name_of_another(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    write_documents(tmp_path / "docs")
    file.write_text(AGENT.replace("harbour_law", "read_section"), encoding="utf-8")
    registry = make_registry(None, file, write=False, token_budget=None, output="both")
    with pytest.raises(UsageError, match="may not be called read_section"):
        make_server(registry)
    registry.close()


def test_an_agent_without_document_tools_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("name: empty\ndescription: Nothing.\ntools: []\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no document tool"):
        make_registry(None, file, write=False, token_budget=None, output="both")
