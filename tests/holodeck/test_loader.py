"""HoloDeck's own loader takes the example; skipped where the package holodeck-ai is not installed.

It needs packages of other versions than this project, so it is run from an environment of its own; see docs/holodeck.md.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.holodeck.pages import EXAMPLE, shown

pytest.importorskip("holodeck", reason="holodeck-ai is not installed")


def loader() -> Any:
    return import_module("holodeck.config.loader").ConfigLoader()


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    # Whatever is configured for all agents on this machine must not help.
    monkeypatch.setenv("HOME", str(tmp_path))
    return loader().load_agent_yaml(str(EXAMPLE / "agent.yaml"))


def test_the_loader_takes_the_agent_and_its_tool(agent: Any) -> None:
    (tool,) = agent.tools
    assert (tool.type, tool.transport.value, tool.command.value) == ("mcp", "stdio", "uvx")
    assert tool.args[:4] == ["--from", "./../../[mcp]", "loccit", "mcp"]
    assert tool.is_retrieval
    assert agent.model.provider.value == "anthropic"


@pytest.mark.parametrize("backend", ["claude", "openai"])
def test_the_backends_start_loccit_with_the_file_beside_the_agent(agent: Any, backend: str) -> None:
    args = _args_for_claude(agent) if backend == "claude" else _args_for_openai(agent)
    clone = f"{EXAMPLE.parents[1].resolve()}/[mcp]"
    assert args[:-1] == ["--from", clone, "loccit", "mcp", "--config"]
    assert Path(args[-1]) == (EXAMPLE / "loccit.yaml").resolve()
    assert Path(args[-1]).is_file()


def test_the_agent_before_it_is_moved_is_one(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(shown("before"), encoding="utf-8")
    (tool,) = loader().load_agent_yaml(str(tmp_path / "agent.yaml")).tools
    assert tool.type == "hierarchical_document"


def test_the_table_names_every_field() -> None:
    config = import_module("holodeck.models.tool").HierarchicalDocumentToolConfig
    page = (EXAMPLE.parents[1] / "docs/holodeck.md").read_text(encoding="utf-8")
    left = " ".join(re.findall(r"^\| (.*?) \| ", page, re.MULTILINE))
    for name in config.model_fields:
        assert f"`{name}`" in left, name


def test_another_command_is_refused(tmp_path: Path) -> None:
    written = (EXAMPLE / "agent.yaml").read_text(encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(written.replace("command: uvx", "command: loccit"), encoding="utf-8")
    with pytest.raises(Exception, match="uvx"):
        loader().load_agent_yaml(str(tmp_path / "agent.yaml"))


def _args_for_claude(agent: Any) -> list[str]:
    # HoloDeck 0.7.1 imports it and does not ask for it to be installed.
    pytest.importorskip("exceptiongroup")
    agent_base_dir = import_module("holodeck.config.context").agent_base_dir
    bridge = import_module("holodeck.lib.backends.mcp_bridge")
    token = agent_base_dir.set(str(EXAMPLE))
    try:
        (server,) = bridge.build_claude_mcp_configs(agent.tools).values()
    finally:
        agent_base_dir.reset(token)
    assert server["command"] == "uvx"
    return list(server["args"])


def _args_for_openai(agent: Any) -> list[str]:
    pytest.importorskip("exceptiongroup")
    pytest.importorskip("agents", reason="openai-agents is not installed")
    server = import_module("holodeck.lib.backends.openai_agents_mcp")._build_stdio_server(
        agent.tools[0], EXAMPLE
    )
    assert server.params.command == "uvx"
    return list(server.params.args)
