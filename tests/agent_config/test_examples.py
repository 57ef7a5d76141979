"""Configurations of the shapes that users bring along load as they are."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from loccit.agent import (
    AgentConfig,
    ConfigError,
    ModelConfig,
    OtherToolConfig,
    SearchMode,
    check_agent,
    load_agent,
)

from .conftest import Check, Write

EXAMPLES = Path(__file__).parents[2] / "examples"

# A tool with its context model, and nothing around it: no agent's name, no description.
FRAGMENT = """
    tools:
      - name: statutes
        type: hierarchical_document
        source: ./docs

        contextual_embeddings: true
        context_model:
          provider: anthropic
          name: claude-haiku-5-5  # quick and cheap
          temperature: 0.0
        context_max_tokens: 100
        context_concurrency: 10
"""

# Every field that a document tool has in the data model, none left at its default.
EVERY_FIELD = """
    tools:
      - name: statutes_2
        description: Search the statutes.
        type: hierarchical_document
        source: docs/act.md
        chunking_strategy: token
        max_chunk_tokens: 2000
        chunk_overlap: 200
        search_mode: exact
        top_k: 100
        min_score: 1.0
        semantic_weight: 0.0
        keyword_weight: 1.0
        exact_weight: 0
        rrf_k: 1000
        embedding_model: text-embedding-3-small
        embedding_dimensions: 512
        contextual_embeddings: false
        context_model: {provider: ollama, name: qwen3, max_tokens: 90}
        context_max_tokens: 200
        context_concurrency: 50
        extract_definitions: false
        extract_cross_references: false
        enable_reranking: true
        reranker_model: cohere:rerank-v3.5
        database: {provider: postgres, connection_string: "postgresql://localhost/search"}
        defer_loading: false
"""

WHOLE_AGENT = """
    name: legal-research
    description: Answers from the statutes
    model:
      provider: azure_openai
      name: gpt-5
      endpoint: https://example.openai.azure.com
      api_version: "2024-10-21"
      api_key: ${AZURE_KEY}
      temperature: 0.2
      max_tokens: 2000
    instructions:
      inline: |
        Cite what you say.
    databases:
      main:
        provider: qdrant
        connection_string: ${QDRANT_URL:-http://localhost:6333}
    tools:
      - name: statutes
        description: Search the statutes.
        type: hierarchical_document
        source: ./docs
        database: main
      - name: notes
        description: Search the notes.
        type: vectorstore
        source: notes/
        embedding_model: text-embedding-3-small
      - name: today
        description: What day it is
        type: function
        file: tools/today.py
        function: today
      - name: files
        description: Reads files
        type: mcp
        command: npx
        args: ["-y", "server-filesystem"]
      - name: summarise
        description: Summarises a text
        type: prompt
        template: "Summarise: {{text}}"
        parameters: {text: {type: string}}
"""


def test_a_fragment_without_description_loads_with_a_warning(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "loccit"):
        agent = load_agent(write(FRAGMENT))
    (tool,) = agent.document_tools
    assert isinstance(tool.context_model, ModelConfig)
    assert tool.settings().index is not None
    assert tool.settings().index.context_model == "anthropic:claude-haiku-5-5"  # type: ignore[union-attr]
    assert "statutes" in tool.description
    (record,) = caplog.records
    assert "agent.yaml:3: tools[0].description: is missing" in record.getMessage()


def test_every_field_of_a_document_tool_is_taken_over(write: Write) -> None:
    path = write(EVERY_FIELD)
    (tool,) = load_agent(path).document_tools
    written = yaml.safe_load(path.read_text(encoding="utf-8"))["tools"][0]
    read = tool.model_dump(mode="json", exclude_unset=True)
    assert set(read) == set(written)
    for name in set(written) - {"context_model", "database"}:
        assert read[name] == written[name], name
    assert tool.search_mode is SearchMode.EXACT


def test_a_whole_agent_with_tools_of_every_type_loads(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", "the-key")
    path = write(WHOLE_AGENT)
    agent = load_agent(path)
    assert agent.model is not None
    assert agent.model.key == "the-key"
    assert [tool.name for tool in agent.document_tools] == ["statutes"]
    others = [tool for tool in agent.tools if isinstance(tool, OtherToolConfig)]
    assert [tool.type for tool in others] == ["vectorstore", "function", "mcp", "prompt"]
    assert others[2].model_dump()["args"] == ["-y", "server-filesystem"]
    assert agent.instructions_text() == "Cite what you say.\n"
    assert agent.base_dir == path.parent


def test_a_type_that_is_left_out_is_that_of_documents(check: Check) -> None:
    checked = check("tools: [{name: a, description: b, source: docs}]")
    assert checked.config is not None
    assert checked.config.document_tools[0].type == "hierarchical_document"


@pytest.mark.parametrize(
    "file", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda path: path.parent.name + path.name
)
def test_the_bundled_examples_are_fine(file: Path) -> None:
    checked = check_agent(file)
    assert not checked.faults
    assert not checked.warnings


def test_the_bundled_example_answers() -> None:
    agent = load_agent(EXAMPLES / "agent.yaml")
    assert [tool.name for tool in agent.document_tools] == ["harbour_law", "service_agreement", "pump_manual"]
    assert agent.document_tool("pump_manual").source_path() == EXAMPLES / "pump-manual.md"
    assert agent.document_tool("pump_manual").index_path() == EXAMPLES / ".loccit" / "pump_manual"


def test_a_tool_is_chosen_by_name(write: Write) -> None:
    agent = load_agent(write(WHOLE_AGENT.replace("${AZURE_KEY}", "k")))
    assert agent.document_tool().name == agent.document_tool("statutes").name == "statutes"
    with pytest.raises(Exception, match="no document tool 'notes'; it has statutes"):
        agent.document_tool("notes")


def test_agents_made_in_python_are_validated_alike() -> None:
    tool: dict[str, Any] = {"name": "a", "description": "b", "source": "c"}
    with pytest.raises(ValueError, match="two tools are called a"):
        AgentConfig.model_validate({"tools": [tool, tool]})


def test_nothing_secret_is_printed(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", "sk-very-secret")
    monkeypatch.setenv("QDRANT_URL", "https://user:pass-secret@db")
    checked = check(WHOLE_AGENT)
    for text in (
        repr(checked.config),
        str(checked.config),
        checked.config and checked.config.model_dump_json(),
    ):
        assert "secret" not in str(text)
    broken = (
        WHOLE_AGENT.replace("temperature: 0.2", "temperature: ${AZURE_KEY}") + "    modle: ${AZURE_KEY}\n"
    )
    broken = broken.replace("provider: qdrant", "provider: ${QDRANT_URL}").replace(
        "legal-research", "['${AZURE_KEY}']"
    )
    checked = check(broken)
    assert len(checked.faults) == 4
    assert "secret" not in str(ConfigError(checked.faults))
    assert "not the value of ${AZURE_KEY}" in str(checked.faults)
