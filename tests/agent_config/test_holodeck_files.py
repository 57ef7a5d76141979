"""Agent files that were written for HoloDeck: what means the same is taken over, the rest is named with what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.llm.services import ChatHandler
from tests.models.llm.services import Service as LLMService
from tests.models.llm.services import running as running_llm

from loccit.agent import check_agent, load_agent
from loccit.agent.holodeck import translate
from loccit.tools.document_tool import HierarchicalDocumentTool

from .conftest import Check, Write

# The fields of an agent that HoloDeck runs, as its samples use them.
AGENT = """\
name: harbour_lawyer
author: The port authority
model:
  provider: anthropic
  name: claude-sonnet-5
  temperature: 0.1
  top_p: 0.9
  auth_provider: oauth_token
embedding_provider:
  provider: azure_openai
  name: vectors
  endpoint: ${AZURE_ENDPOINT}
  api_key: ${AZURE_KEY}
  api_version: 2024-10-21
  temperature: 0.0
claude: {permission_mode: acceptAll, max_turns: 10}
execution: {llm_timeout: 600}
instructions: {inline: Cite the section.}
observability: {enabled: true, exporters: {otlp: {endpoint: "${COLLECTOR}"}}}
tools:
  - name: act_search
    type: hierarchical_document
    description: Search the act.
    source: docs
    document_domain: us_legislative
    max_subsection_depth: 3
    top_k: 5
    context_model:
      provider: azure_openai
      name: writer
      endpoint: ${AZURE_ENDPOINT}
      api_key: ${AZURE_KEY}
    enable_reranking: true
    reranker_model:
      provider: azure_openai
      name: judge
      endpoint: ${AZURE_ENDPOINT}
      api_key: ${AZURE_KEY}
      temperature: 0.0
    keyword_index:
      provider: opensearch
      endpoint: https://localhost:9200
      index_name: act
      password: ${SEARCH_PASSWORD}
  - {name: notes, type: vectorstore, description: Notes., source: docs, database: chromadb}
  - {name: files, type: mcp, description: Files., command: npx}
response_format: {type: object}
evaluations: {model: {provider: openai, name: gpt-5, api_key: "${JUDGE_KEY}"}}
test_cases: [{input: Define vessel, expected_tools: [act_search]}]
test_cases_file: cases.yaml
deployment: {environment: {KEY: "${DEPLOYED_KEY}"}}
"""


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_ENDPOINT", "https://port.openai.azure.com")
    monkeypatch.setenv("AZURE_KEY", "sesame")


def test_a_file_for_holodeck_can_be_used_and_names_what_is_not_honoured(check: Check) -> None:
    checked = check(AGENT)
    assert checked.ok, checked.faults
    named = {warning.field: warning for warning in checked.warnings}
    assert set(named) == {
        *("model.top_p", "model.auth_provider", "embedding_provider.temperature"),
        *("claude", "execution", "observability", "response_format", "evaluations"),
        *("test_cases", "test_cases_file", "deployment"),
        *("tools[0].document_domain", "tools[0].max_subsection_depth", "tools[0].keyword_index"),
        *("tools[0].reranker_model.temperature", "tools[1].type"),
    }
    lines = AGENT.splitlines()
    for field, warning in named.items():
        assert field.rpartition(".")[2] in lines[warning.line - 1], warning
    assert "set ANTHROPIC_API_KEY" in named["model.auth_provider"].message
    assert "opensearch, name it under database" in named["tools[0].keyword_index"].message
    assert "hierarchical_document with the same name" in named["tools[1].type"].message


def test_what_means_the_same_takes_effect(write: Write) -> None:
    agent = load_agent(write(AGENT))
    assert agent.embedding is not None
    assert (agent.embedding.api_version, agent.embedding.key) == ("2024-10-21", "sesame")
    settings = agent.document_tool().settings()
    assert settings.index is not None
    assert settings.index.embedding_model == "azure:vectors"
    assert settings.index.context_model == "azure:writer"
    assert settings.search.rerank_model == "llm:azure:judge"
    assert agent.document_tool().keyword_index


def test_a_fault_in_a_renamed_block_is_named_as_the_file_has_it(check: Check) -> None:
    checked = check(
        AGENT.replace("  name: vectors\n", "").replace(
            "${AZURE_KEY}\n  api_version", "${NO_KEY}\n  api_version"
        )
    )
    assert [fault.field for fault in checked.faults] == ["embedding_provider", "embedding_provider.api_key"]
    assert "name is required" in checked.faults[0].message


def test_variables_are_missed_only_where_they_are_needed(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_KEY")
    faults = check(AGENT).faults
    assert {fault.field for fault in faults} == {
        "embedding_provider.api_key",
        "tools[0].context_model.api_key",
        "tools[0].reranker_model.api_key",
    }
    assert not any(".env" in fault.message for fault in faults)
    Path(".env").write_text("AZURE_KEY=sesame\n", encoding="utf-8")
    assert all(". ./.env" in fault.message for fault in check_agent("agent.yaml").faults)


def test_loading_such_a_file_says_nothing(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    load_agent(write(AGENT))
    assert not caplog.records


@pytest.mark.parametrize(
    ("written", "missed"),
    [
        ("openai: {api_key: '${OPENAI_API_KEY}', temperature: 0.3}", None),
        (
            "openai: {api_key: '${OPENAI_API_KEY}', endpoint: 'https://example.org'}",
            "endpoint from config.yaml",
        ),
        ("openai: {api_key: '${OTHER}', api_version: 1}", "api_key and api_version from config.yaml"),
        ("ollama: {endpoint: 'http://localhost:1'}", None),
        ("[", None),
    ],
)
def test_what_only_the_project_says_of_a_model_is_named(
    check: Check, tmp_path: Path, written: str, missed: str
) -> None:
    (tmp_path / "config.yaml").write_text(f"providers:\n  {written}\n", encoding="utf-8")
    said = [warning.message for warning in check("model: {provider: openai, name: gpt-5}").warnings]
    assert len(said) == bool(missed)
    assert not missed or missed in said[0]


@pytest.mark.parametrize("keywords", ["{provider: in-memory}", "{}"])
def test_harmless_values_raise_no_alarm(check: Check, keywords: str) -> None:
    checked = check(
        f"""\
        author: me
        model: {{provider: anthropic, name: claude-haiku-5-5, auth_provider: api_key, top_p: null}}
        tools:
          - name: docs
            description: d
            source: docs
            document_domain: none
            keyword_index: {keywords}
            contextual_embeddings: false
        """
    )
    assert (checked.faults, checked.warnings) == ([], [])


def test_a_file_of_our_own_is_left_as_it_is() -> None:
    data = {
        "name": "clerk",
        "model": {"provider": "openai", "name": "gpt-5"},
        "embedding": {"provider": "openai", "name": "text-embedding-3-small"},
        "tools": [{"name": "docs", "source": "docs", "keyword_index": True}, None, {"type": "mcp"}],
    }
    before = json.dumps(data)
    done = translate(data)
    assert json.dumps(data) == before
    assert not (done.notes or done.left_out or done.moved)


@pytest.mark.parametrize("broken", ["model: 3", "embedding_provider: 3", "tools: 3", "tools: [3]", "claude:"])
def test_what_is_broken_stays_a_fault_or_is_nothing(check: Check, broken: str) -> None:
    checked = check(broken)
    assert checked.ok == (broken == "claude:")
    assert not checked.warnings


@pytest.fixture
def llm() -> Iterator[LLMService]:
    pytest.importorskip("openai")
    with running_llm(ChatHandler) as service:
        yield service


def test_a_language_model_given_as_a_block_puts_results_in_order(
    write: Write, llm: LLMService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.models.llm.services import KEY

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    llm.answer = lambda shared, text: "[2, 1]"
    path = write(
        f"""\
        tools:
          - name: docs
            description: d
            source: docs
            enable_reranking: true
            reranker_model: {{provider: openai_compatible, name: judge, endpoint: {llm.address}/v1, api_key: {KEY}}}
        """
    )
    for number in range(2, 4):
        (path.parent / f"docs/act{number}.md").write_text(
            f"---\nlanguage: en\n---\n\n# Act {number}\n\n## Section {number}\n\nThe master reports berth {number}.\n",
            encoding="utf-8",
        )
    with HierarchicalDocumentTool.from_yaml(path) as tool:
        assert tool.search_sync("what does the master report").results
    assert {request["model"] for request in llm.requests} == {"judge"}
