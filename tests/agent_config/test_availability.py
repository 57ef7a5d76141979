"""``config check`` finds models, rerankers, packages and lengths that cannot be had, and doubts what is hardly meant."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from loccit.models.embedding.registry import BUNDLED_MODEL

from .conftest import Check

TOOL = """\
model: {provider: anthropic, name: claude-haiku-5-5}
tools:
  - name: docs
    description: d
    source: docs
"""


@pytest.fixture(autouse=True)
def _addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def tool(*fields: str) -> str:
    return TOOL + "".join(f"    {field}\n" for field in fields)


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        (["embedding_model: ./nowhere"], "embedding_model", "There is no model folder"),
        (["embedding_model: org/no-such-model"], "embedding_model", "hf download org/no-such-model"),
        (["embedding_model: nomic"], "embedding_model", "Unknown embedding model 'nomic'"),
        (["embedding_dimensions: 512"], "embedding_dimensions", "vectors of 384 dimensions, not 512"),
        (
            ["embedding_model: text-embedding-3-small", "embedding_dimensions: 3072"],
            "embedding_dimensions",
            "at most 1536 dimensions, not 3072",
        ),
        (
            ["embedding: {provider: openai, name: text-embedding-ada-002, dimensions: 512}"],
            "embedding",
            "vectors of 1536 dimensions, not 512",
        ),
        (["context_model: gpt-5"], "context_model", "Unknown language model 'gpt-5'"),
        (["enable_reranking: true", "reranker_model: ./nowhere"], "reranker_model", "no model folder"),
        (["enable_reranking: true", "reranker_model: best"], "reranker_model", "Unknown reranker 'best'"),
        (["enable_reranking: true", "reranker: {name: org/none}"], "reranker", "hf download org/none"),
        (
            ["enable_reranking: true", "reranker_model: llm:clever"],
            "reranker_model",
            "Unknown language model",
        ),
    ],
)
def test_what_cannot_be_had_is_a_fault(check: Check, fields: list[str], field: str, message: str) -> None:
    (fault,) = check(tool(*fields)).faults
    assert fault.field == f"tools[0].{field}"
    assert message in fault.message


def test_the_agents_own_embedding_is_looked_for_too(check: Check) -> None:
    (fault,) = check(TOOL.replace("tools:", "embedding: {name: ./nowhere}\ntools:")).faults
    assert (fault.field, fault.line) == ("embedding", 2)


@pytest.mark.parametrize(
    "fields",
    [
        [f"embedding_model: {BUNDLED_MODEL}", "embedding_dimensions: 384"],
        ["embedding_model: text-embedding-3-large", "embedding_dimensions: 256"],
        [
            "embedding: {provider: openai_compatible, name: own, endpoint: 'http://localhost:1/v1', dimensions: 9000}"
        ],
        ["embedding_model: ./nowhere", "dense_index: false"],
        ["context_model: gpt-5", "dense_index: false"],
        ["reranker_model: best"],
        ["enable_reranking: true", "reranker_model: llm:ollama:qwen3"],
        ["context_model: agent"],
    ],
)
def test_what_can_be_had_or_is_not_needed_is_no_fault(check: Check, fields: list[str]) -> None:
    assert not check(tool(*fields)).faults


@pytest.mark.parametrize(
    ("package", "extra", "fields"),
    [
        ("openai", "openai", ["embedding_model: text-embedding-3-small"]),
        ("openai", "openai", ["context_model: openai:gpt-5"]),
        ("anthropic", "anthropic", ["context_model: agent"]),
        (
            "anthropic",
            "anthropic",
            ["enable_reranking: true", "reranker_model: llm:anthropic:claude-haiku-5-5"],
        ),
        ("pydantic_ai", "chat", []),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    check: Check, monkeypatch: pytest.MonkeyPatch, package: str, extra: str, fields: list[str]
) -> None:
    found = importlib.util.find_spec

    def without(name: str, *rest: Any) -> Any:
        return None if name == package else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    checked = check(tool(*fields))
    (said,) = checked.warnings if extra == "chat" else checked.faults
    assert f"pip install 'loccit[{extra}]'" in said.message


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        (
            "model: {provider: anthropic, name: gpt-5}",
            "model",
            "gpt-5 does not look like a model of anthropic",
        ),
        (
            "model: {provider: openai, name: claude-haiku-5-5}",
            "model",
            "does not look like a model of openai: anthropic has",
        ),
        (
            tool("context_model: openai:llama3.3"),
            "tools[0].context_model",
            "ollama has models with such names",
        ),
        (
            tool("enable_reranking: true", "reranker_model: {provider: openai, name: gemini-3-pro}"),
            "tools[0].reranker_model",
            "google has",
        ),
        (
            tool("embedding_model: text-embedding-4-huge"),
            "tools[0].embedding_model",
            "it has text-embedding-3-small",
        ),
    ],
)
def test_models_of_others_are_doubted(check: Check, text: str, field: str, message: str) -> None:
    (warning,) = check(text).warnings
    assert warning.field == field
    assert message in warning.message


@pytest.mark.parametrize(
    "text",
    [
        "model: {provider: openai, name: claude-haiku-5-5, endpoint: 'https://gateway.example/v1'}",
        "model: {provider: openai, name: my-fine-tune}",
        "model: {provider: azure_openai, name: llama-deployment, endpoint: 'https://x.openai.azure.com'}",
        "model: {provider: ollama, name: gpt-oss:20b}",
        tool("embedding: {provider: openai, name: own, endpoint: 'https://gateway.example/v1'}"),
    ],
)
def test_what_may_well_be_there_is_not_doubted(check: Check, text: str) -> None:
    checked = check(text)
    assert (checked.faults, checked.warnings) == ([], [])


@pytest.mark.parametrize(
    ("fields", "doubted"),
    [
        (["rrf_k: 60"], True),
        (["rrf_k: 60", "ranking: {fusion: rrf}"], False),
        (["rrf_k: 60", "search_mode: keyword"], False),
        (["rrf_k: 20"], False),
        ([], False),
    ],
)
def test_a_default_that_changes_the_fusion_is_doubted(check: Check, fields: list[str], doubted: bool) -> None:
    warnings = check(tool(*fields)).warnings
    assert [warning.field for warning in warnings] == ["tools[0].rrf_k"] * doubted
    assert all("ranking.fusion: rrf" in warning.message for warning in warnings)


@pytest.mark.parametrize(
    ("fields", "hinted"),
    [
        (["contextual_embeddings: true"], "contextual_embeddings"),
        (["context_max_tokens: 80"], "context_max_tokens"),
        (["contextual_embeddings: true", "context_model: agent"], None),
        (["contextual_embeddings: true", "dense_index: false"], None),
        (["contextual_embeddings: false"], None),
        ([], None),
    ],
)
def test_contexts_that_the_agents_model_could_write_are_hinted_at(
    check: Check, fields: list[str], hinted: str | None
) -> None:
    warnings = check(tool(*fields)).warnings
    assert [warning.field for warning in warnings] == ([f"tools[0].{hinted}"] if hinted else [])
    assert all(
        "context_model: agent would have anthropic:claude-haiku-5-5" in item.message for item in warnings
    )


def test_without_a_model_the_settings_of_contexts_have_no_effect(check: Check) -> None:
    text = tool("contextual_embeddings: true", "context_max_tokens: 80").partition("\n")[2]
    (warning,) = check(text).warnings
    assert warning.field == "tools[0].context_max_tokens"
    assert "no effect without context_model" in warning.message


def test_a_source_elsewhere_is_to_be_copied(check: Check) -> None:
    (fault,) = check(TOOL.replace("source: docs", "source: s3://bucket/acts")).faults
    assert "copy the documents here" in fault.message


def test_a_folder_of_a_model_beside_the_file_is_found(check: Check, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_bytes(b"")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 32}), encoding="utf-8")
    assert not check(tool("embedding_model: small", "embedding_dimensions: 32")).faults
    (fault,) = check(tool("embedding_model: small", "embedding_dimensions: 64")).faults
    assert "vectors of 32 dimensions, not 64" in fault.message


KEYS = (
    "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_PROFILE ANTHROPIC_IDENTITY_TOKEN ANTHROPIC_CUSTOM_HEADERS "
    "ANTHROPIC_CONFIG_DIR "
    "OPENAI_API_KEY OPENAI_ADMIN_KEY AZURE_OPENAI_API_KEY AZURE_OPENAI_ENDPOINT"
).split()


@pytest.fixture
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))  # where profiles of Anthropic's SDK are


NEEDS = "anthropic:claude-haiku-5-5 needs an API key: set ANTHROPIC_API_KEY."


@pytest.mark.usefixtures("without_keys")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([], [("model", NEEDS)]),
        (["context_model: agent"], [("model", NEEDS)]),
        (
            ["context_model: openai:gpt-5-mini"],
            [
                ("model", NEEDS),
                ("tools[0].context_model", "openai:gpt-5-mini needs an API key: set OPENAI_API_KEY."),
            ],
        ),
        (
            ["context_model: {provider: azure_openai, name: own, max_tokens: 90}"],
            [
                ("model", NEEDS),
                (
                    "tools[0].context_model",
                    "azure:own needs an API key: set AZURE_OPENAI_API_KEY (and AZURE_OPENAI_ENDPOINT).",
                ),
            ],
        ),
        (["context_model: {provider: ollama, name: qwen3}"], [("model", NEEDS)]),
        (
            ["context_model: {provider: openai_compatible, name: own, endpoint: 'http://localhost:1/v1'}"],
            [("model", NEEDS)],
        ),
        (["context_model: {provider: anthropic, name: claude-haiku-5-5, api_key: k}"], [("model", NEEDS)]),
        (
            ["enable_reranking: true", "reranker_model: llm:openai:gpt-5-mini"],
            [
                ("model", NEEDS),
                ("tools[0].reranker_model", "openai:gpt-5-mini needs an API key: set OPENAI_API_KEY."),
            ],
        ),
    ],
)
def test_a_missing_key_is_warned_of(check: Check, fields: list[str], expected: list[tuple[str, str]]) -> None:
    checked = check(tool(*fields))
    assert checked.ok
    assert [(said.field, said.message) for said in checked.warnings] == expected


@pytest.mark.usefixtures("without_keys")
def test_a_missing_key_of_an_embedding_service_is_warned_of(check: Check) -> None:
    checked = check(tool("embedding_model: text-embedding-3-small").partition("\n")[2])
    (warning,) = checked.warnings
    assert warning.field == "tools[0].embedding_model"
    assert "needs an API key" in warning.message and "OPENAI_API_KEY" in warning.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_AUTH_TOKEN", "k"),
        ("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer k"),
    ],
)
@pytest.mark.usefixtures("without_keys")
def test_whatever_a_service_takes_for_a_key_is_none_missing(
    check: Check, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert not check(tool("context_model: agent")).warnings
