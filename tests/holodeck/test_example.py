"""Our side of the example: the file that HoloDeck hands over loads, and starts a server with the tool it names."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.holodeck.pages import EXAMPLE, ROOT, shown

from loccit.agent import HierarchicalDocumentToolConfig, load_agent


def example_tool() -> dict[str, Any]:
    (tool,) = yaml.safe_load((EXAMPLE / "agent.yaml").read_text(encoding="utf-8"))["tools"]
    assert isinstance(tool, dict)
    return tool


def test_the_page_shows_the_tool_of_the_example() -> None:
    assert yaml.safe_load(shown("examples/holodeck/agent.yaml"))["tools"] == [example_tool()]


def test_the_file_for_loccit_loads() -> None:
    agent = load_agent(EXAMPLE / "loccit.yaml")
    (tool,) = agent.document_tools
    assert tool.source_path().resolve() == ROOT / "examples"
    tool.check_source()


def test_the_moved_tool_loads_and_means_the_same(tmp_path: Path) -> None:
    before = yaml.safe_load(shown("before"))["tools"][0]
    (tmp_path / "loccit.yaml").write_text(shown("after"), encoding="utf-8")
    (tool,) = load_agent(tmp_path / "loccit.yaml").document_tools
    settings = tool.settings()
    assert settings.index is not None
    assert settings.index.max_chunk_tokens == before["max_chunk_tokens"]
    assert settings.index.context_model == "anthropic:claude-haiku-5-5"
    for name in ("search_mode", "top_k", "semantic_weight", "keyword_weight", "exact_weight"):
        assert getattr(settings.search, name) == before[name], name
    assert settings.search.rerank_model == "llm:anthropic:claude-haiku-5-5"


def test_the_table_names_every_field_that_both_know() -> None:
    page = (ROOT / "docs/holodeck.md").read_text(encoding="utf-8")
    left = " ".join(re.findall(r"^\| (.*?) \| ", page, re.MULTILINE))
    ours = {
        "embedding_dimensions",
        "context_window_tokens",
        "context_max_cost",
        "rrf_k_constant",
        "dense_index",
        "exact_index",
        "index",
        "filters",
    }
    ours |= {"ocr", "ocr_languages", "ocr_max_pages"}
    ours |= {"token_budget", "ranking", "embedding", "reranker"}
    for name in set(HierarchicalDocumentToolConfig.model_fields) - ours:
        assert f"`{name}`" in left, name


def test_the_arguments_start_a_server_with_the_tool(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    shutil.copytree(EXAMPLE, tmp_path / "holodeck")
    (tmp_path / "act.md").write_text("# Act\n\n## Section 306\n\nReport within one hour.\n", encoding="utf-8")
    args = example_tool()["args"]
    assert args[:3] == ["--from", "./../../[mcp]", "loccit"]
    assert (EXAMPLE / "../../pyproject.toml").exists()
    names, text = asyncio.run(
        # uvx would install the clone; this interpreter has it.
        _ask(["-m", "loccit", *args[3:-1], str(tmp_path / "holodeck" / args[-1])])
    )
    assert "search_harbour" in names
    assert "Report within one hour." in text


async def _ask(args: list[str]) -> tuple[list[str], str]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(
        command=sys.executable, args=args, env={"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        answer = await session.call_tool("search_harbour", {"query": "report"})
        content: Any = answer.content[0]
        return [tool.name for tool in tools.tools], str(content.text)
