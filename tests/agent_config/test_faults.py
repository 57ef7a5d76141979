"""A fault names file, line and field, and says what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit.agent import ConfigError, check_agent, load_agent
from loccit.errors import UsageError

from .conftest import Check, Write

TOOL = """\
tools:
  - name: statutes
    description: Search the statutes.
    source: docs
"""

# What is added to the tool above on line 5, and what is said about it.
TOOL_FAULTS = [
    ("topk: 5", "tools[0].topk: unknown field (did you mean 'top_k'?)"),
    ("serch-mode: hybrid", "tools[0].serch-mode: unknown field (did you mean 'search_mode'?)"),
    ("mmr_enabled: true", "tools[0].mmr_enabled: belongs under ranking"),
    ("rerank_enabled: true", "tools[0].rerank_enabled: is called enable_reranking here"),
    ("ngram_dedup_enabled: false", "tools[0].ngram_dedup_enabled: belongs under ranking"),
    (
        "{chunk_overlap: 150, max_chunk_tokens: 120}",
        "tools[0].chunk_overlap: must be less than max_chunk_tokens, which is 120, not 150",
    ),
    (
        "{rrf_k_constant: 30, rrf_k: 20}",
        "tools[0].rrf_k_constant: rrf_k and rrf_k_constant mean the same: give only one",
    ),
    ("top_k: 500", "tools[0].top_k: must be a whole number between 1 and 100, not 500"),
    ("top_k: 2.5", "tools[0].top_k: must be a whole number between 1 and 100, not 2.5"),
    ("top_k: many", "tools[0].top_k: must be a whole number between 1 and 100, not 'many'"),
    ("top_k: [5]", "tools[0].top_k: must be a whole number between 1 and 100"),
    ("top_k:", "tools[0].top_k: has no value: must be a whole number between 1 and 100, or leave it out"),
    ("top_k: yes", "tools[0].top_k: must be a whole number between 1 and 100, not true"),
    ("min_score: .nan", "tools[0].min_score: must be a number between 0 and 1, not nan"),
    ("context_window_tokens: 9", "must be a whole number between 1,000 and 2,000,000, not 9"),
    ("defer_loading: 3", "tools[0].defer_loading: must be true or false, not 3"),
    ("defer_loading: maybe", "tools[0].defer_loading: must be true or false, not 'maybe'"),
    (
        "search_mode: hybird",
        "tools[0].search_mode: must be one of hybrid, semantic, keyword, exact, not 'hybird' (did you mean 'hybrid'?)",
    ),
    (
        "chunking_strategy: page",
        "tools[0].chunking_strategy: must be one of structure, token, not 'page'",
    ),
    ("index: on", "tools[0].index: must be text, not true: put it in quotes"),
    ("index: ' '", "tools[0].index: must not be empty"),
    (
        "filters: draft",
        "tools[0].filters: must be a block of fields, one per line, indented below, not a text",
    ),
    ("filters: {after: soon}", "tools[0].filters: after: 'soon' is not a date; write it as 2025-01-31"),
    ("filters: {tags: {a: b}}", "tools[0].filters: the filter tags must be a value or a list of values"),
    ("filters: {tags: []}", "tools[0].filters: The filter 'tags' has no value"),
    ("context_model: [a]", "tools[0].context_model: must be text or a block of fields"),
    (
        "context_model: agent",
        "tools[0].context_model: the agent has no model: set model, or name a model here",
    ),
    ("context_model: {name: x}", "tools[0].context_model.provider: is required: Who runs the model"),
    (
        "context_model: {provider: claude, name: x}",
        "context_model.provider: must be one of anthropic, openai",
    ),
    (
        "context_model: {provider: anthropic, name: x, temprature: 1}",
        "tools[0].context_model.temprature: unknown field (did you mean 'temperature'?)",
    ),
    (
        "context_model: {provider: openai_compatible, name: x}",
        "tools[0].context_model: endpoint is required with the provider openai_compatible",
    ),
    (
        "context_model: {provider: openai, name: x, api_version: y}",
        "tools[0].context_model: api_version is for the provider azure_openai only",
    ),
    (
        "context_model: {provider: openai, name: x, endpoint: a, base_url: b}",
        "tools[0].context_model: endpoint and base_url mean the same",
    ),
    ("ranking: {top_k: 5}", "tools[0].ranking.top_k: belongs to the tool itself, as top_k"),
    (
        "ranking: {rerank_top_n: 5}",
        "tools[0].ranking.rerank_top_n: belongs to the tool itself, as reranker.top_n",
    ),
    ("ranking: {mmr_lamda: 1}", "tools[0].ranking.mmr_lamda: unknown field (did you mean 'mmr_lambda'?)"),
    ("ranking: {mmr_lambda: 2}", "tools[0].ranking.mmr_lambda: must be a number between 0 and 1, not 2"),
    (
        "ranking: {fusion: rff}",
        "tools[0].ranking.fusion: must be one of scores, rrf, not 'rff' (did you mean 'rrf'?)",
    ),
    (
        "ranking: {disabled: [spel]}",
        "unknown stage 'spel' (did you mean 'spelling'?); available: spelling, expansion",
    ),
    ("ranking: {disabled: mmr}", "tools[0].ranking.disabled: must be a list, with each item on its own line"),
    (
        "ranking: {boosts: {title: -1}}",
        "tools[0].ranking.boosts: the boost of title must be between 0 and 100",
    ),
    ("embedding: {provider: openai}", "tools[0].embedding: name is required: which embedding model"),
    ("embedding: {provider: openai_compatible, name: x}", "tools[0].embedding: endpoint is required"),
    ("embedding: {endpoint: http://h, name: x}", "tools[0].embedding: endpoint needs a provider"),
    (
        "{embedding_model: a, embedding: {name: b}}",
        "tools[0].embedding_model: embedding_model and embedding.name name two models",
    ),
    (
        "{embedding_dimensions: 3, embedding: {dimensions: 4}}",
        "tools[0].embedding_dimensions: embedding_dimensions and embedding.dimensions differ",
    ),
    ("enable_reranking: true", "tools[0].enable_reranking: reranker_model is required with this"),
    ("reranker: {provider: tei}", "tools[0].reranker: endpoint is required with the provider tei"),
    ("reranker: {provider: cohere}", "tools[0].reranker: name is required"),
    (
        "reranker: {name: x, api_key: y}",
        "tools[0].reranker: endpoint and api_key need a provider that is not local",
    ),
    (
        "{reranker_model: a, reranker: {name: b}}",
        "tools[0].reranker_model: reranker_model and reranker.name name two",
    ),
    ("database: main", "tools[0].database: no database is called 'main'; available: none"),
    (
        "database: {provider: sqlite}",
        "tools[0].database.provider: must be one of embedded, in-memory, postgres",
    ),
    (
        "database: {provider: postgress}",
        "not 'postgress' (did you mean 'postgres'?)",
    ),
    ("database: {provider: 5}", "tools[0].database.provider: must be one of embedded, in-memory"),
    (
        "database: {provider: qdrant, url: 'http://a', connection_string: 'http://b'}",
        "tools[0].database: connection_string and url mean the same: give only one",
    ),
    (
        "database: {provider: qdrant, collection: My Laws}",
        "tools[0].database.collection: 'My Laws' is not a valid name for a collection: use 3 to 48",
    ),
    (
        "database: {provider: qdrant, native: both}",
        "tools[0].database.native: must be one of none, keyword, hybrid, not 'both'",
    ),
    (
        "database: {provider: qdrant, timeout: 0}",
        "tools[0].database.timeout: must be a number between 0.1 and 3600, not 0",
    ),
    (
        "database: {provider: postgres, connection_strng: x}",
        "tools[0].database.connection_strng: unknown field (did you mean 'connection_string'?)",
    ),
    (
        "type: hierarchical_documents",
        "unknown type of tool (did you mean 'hierarchical_document'?); available:",
    ),
]

# Whole files, and what is said about them.
FILE_FAULTS = [
    ("nam: a", "agent.yaml:1: nam: unknown field (did you mean 'name'?)"),
    (
        "xyzzy: a",
        "xyzzy: unknown field; available: databases, description, embedding, instructions, model, name, tools",
    ),
    ("name: no", "agent.yaml:1: name: must be text, not false: put it in quotes"),
    ("tools: 5", "agent.yaml:1: tools: must be a list, with each item on its own line after '- '"),
    ("tools:", "agent.yaml:1: tools: has no value: must be a list, or leave it out"),
    ("tools: [5]", "agent.yaml:1: tools[0]: must be a block of fields, one per line, indented below, not 5"),
    (
        "tools:\n- name: a b\n  description: c\n  source: docs",
        "tools[0].name: must be letters, digits and underscores only, not 'a b'; 'a_b' would do",
    ),
    (
        "tools:\n- name: a\n  description: b",
        "agent.yaml:2: tools[0].source: is required: File, folder or pattern",
    ),
    (
        "tools:\n- description: b\n  source: docs",
        "agent.yaml:2: tools[0].name: is required: Name of the tool",
    ),
    (
        "tools:\n- name: a\n  type: mcpp",
        "agent.yaml:3: tools[0].type: unknown type of tool (did you mean 'mcp'?)",
    ),
    (
        "tools:\n- name: a b\n  type: mcp",
        "agent.yaml:2: tools[0].name: must be letters, digits and underscores",
    ),
    ("tools:\n- type: mcp", "agent.yaml:2: tools[0].name: is required"),
    (
        "model: gpt",
        "agent.yaml:1: model: must be a block of fields, one per line, indented below, not a text",
    ),
    ("model: {provider: openai}", "agent.yaml:1: model.name: is required: Name of the model"),
    (
        "model: {provider: openai, name: x, temperature: 3}",
        "model.temperature: must be a number between 0 and 2, not 3",
    ),
    (
        "model: {provider: openai, name: x, max_tokens: 0}",
        "model.max_tokens: must be a whole number of at least 1, not 0",
    ),
    ("model: {provider: openai, name: x, api_key: true}", "model.api_key: must be text: put it in quotes"),
    ("instructions: {inline: a, file: b}", "agent.yaml:1: instructions: give either inline or file"),
    ("instructions: {}", "agent.yaml:1: instructions: give either inline or file"),
    ("instructions: {file: gone.md}", "agent.yaml:1: instructions.file: Cannot read the instructions"),
    ("instructions: [a]", "agent.yaml:1: instructions: must be text or a block of fields"),
    (
        "databases: {main: {provder: qdrant}}",
        "databases.main.provder: unknown field (did you mean 'provider'?)",
    ),
    (
        "databases: {main: qdrant}",
        "databases.main: must be a block of fields, one per line, indented below, not a text",
    ),
    ("databases: [main]", "databases: must be a block of fields, one per line, indented below, not a list"),
    ("embedding: {provider: local, modell: x}", "embedding.modell: unknown field"),
]


@pytest.mark.parametrize(("line", "message"), TOOL_FAULTS, ids=[line for line, _ in TOOL_FAULTS])
def test_faults_of_a_tool(check: Check, line: str, message: str) -> None:
    lines = line[1:-1].split(", ", 1) if line.startswith("{") else [line]
    checked = check(TOOL + "".join(f"    {line}\n" for line in lines))
    (fault,) = checked.faults
    assert fault.line == 5
    assert str(fault).startswith("agent.yaml:5: tools[0].")
    assert message in str(fault)
    assert not checked.ok
    assert checked.config is None


@pytest.mark.parametrize(("text", "message"), FILE_FAULTS, ids=[text for text, _ in FILE_FAULTS])
def test_faults_of_a_file(check: Check, text: str, message: str) -> None:
    (fault,) = check(text).faults
    assert message in str(fault)


def test_all_faults_are_said_at_once(check: Check) -> None:
    checked = check(
        """\
        nmae: a
        databases:
          main: {provider: redis}
        tools:
          - name: one
            description: d
            source: nowhere
            top_k: 0
            enable_reranking: true
            database: other
          - name: one
            description: "${NOT_SET_ANYWHERE}"
            source: docs
          - type: unheard_of
          - name: one
            description: d
            source: docs
            search_mode: exact
            exact_index: false
            context_model: agent
        """
    )
    assert [(fault.line, fault.field) for fault in checked.faults] == [
        (1, "nmae"),
        (3, "databases.main.provider"),
        (7, "tools[0].source"),
        (8, "tools[0].top_k"),
        (9, "tools[0].enable_reranking"),
        (10, "tools[0].database"),
        (11, "tools[1].name"),
        (12, "tools[1].description"),
        (14, "tools[2].type"),
        (15, "tools[3].name"),
        (18, "tools[3].search_mode"),
        (20, "tools[3].context_model"),
    ]


def test_a_name_used_twice_is_refused(check: Check) -> None:
    (fault,) = check(TOOL + "  - {name: statutes, type: mcp}\n").faults
    assert str(fault) == "agent.yaml:5: tools[1].name: two tools are called statutes: names must be unique"


@pytest.mark.parametrize("source", ["gone", "../gone/further", "gone*.md", "docs/**/*.pdf"])
def test_a_missing_source_is_named_by_check_and_by_the_tool(write: Write, source: str) -> None:
    path = write(TOOL.replace("source: docs", f"source: '{source}'"))
    (fault,) = check_agent(path).faults
    assert fault.line == 4
    assert source in fault.message
    agent = load_agent(path)
    with pytest.raises(UsageError, match=r"no file"):
        agent.document_tool().check_source()


@pytest.mark.parametrize("source", ["docs", "./docs/act.md", "docs/*.md", "**/a?t.md"])
def test_sources_are_relative_to_the_file(
    write: Write, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(TOOL.replace("source: docs", f"source: '{source}'"))
    monkeypatch.chdir("/")
    assert check_agent(path).ok
    assert load_agent(path).document_tool().source_path() == tmp_path / source


def test_load_raises_every_fault_as_one_error(write: Write) -> None:
    path = write(TOOL + "    top_k: 0\n    topk: 1\n")
    with pytest.raises(ConfigError) as caught:
        load_agent(path)
    assert isinstance(caught.value, UsageError)
    assert str(caught.value).splitlines() == [
        f"{path}:5: tools[0].top_k: must be a whole number between 1 and 100, not 0",
        f"{path}:6: tools[0].topk: unknown field (did you mean 'top_k'?)",
    ]


@pytest.mark.parametrize(
    ("lines", "field", "message"),
    [
        ("semantic_weight: 0.9", "semantic_weight", "the three weights add up to 1.4, not 1"),
        ("reranker_model: cohere:x", "reranker_model", "has no effect without enable_reranking: true"),
        ("reranker: {name: x}", "reranker", "has no effect without enable_reranking: true"),
        (
            "contextual_embeddings: false\n    context_model: ollama:x",
            "context_model",
            "has no effect with contextual_embeddings: false",
        ),
        (
            "dense_index: false\n    context_model: ollama:x",
            "context_model",
            "has no effect with dense_index: false",
        ),
        (
            "database: {provider: in-memory, collection: laws, timeout: 3}",
            "database",
            "collection and timeout: no effect with the provider in-memory",
        ),
        (
            "dense_index: false\n    database: {provider: faiss}",
            "database",
            "stays empty with dense_index: false",
        ),
    ],
)
def test_doubts_are_warnings(check: Check, lines: str, field: str, message: str) -> None:
    checked = check(f"{TOOL}    {lines}\n")
    assert checked.ok
    (warning,) = checked.warnings
    assert warning.field == f"tools[0].{field}"
    assert warning.line >= 5
    assert message in warning.message
