"""What an agent file says about models arrives at the services that run them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.models.embedding.test_openai import KEY as EMBEDDING_KEY
from tests.models.embedding.test_openai import Service as EmbeddingService
from tests.models.llm.services import KEY as LLM_KEY
from tests.models.llm.services import ChatHandler
from tests.models.llm.services import Service as LLMService
from tests.models.llm.services import running as running_llm
from tests.models.rerank.service import KEY as RERANKER_KEY
from tests.models.rerank.service import Service as RerankService
from tests.models.rerank.service import running as running_reranker

from loccit.agent import (
    AgentConfig,
    EmbeddingConfig,
    EmbeddingProvider,
    HierarchicalDocumentToolConfig,
    ModelConfig,
    ModelProvider,
)
from loccit.errors import UsageError
from loccit.models.embedding import Embedder, load_embedder
from loccit.tools.document_tool import HierarchicalDocumentTool

DOCUMENT = "---\nlanguage: en\n---\n\n# Report\n\n" + "\n\n".join(
    f"## Part {number}\n\nThe quay number {number} was repaired. " + "The tide was high that day. " * 4
    for number in range(8)
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "COHERE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/report.md").write_text(DOCUMENT, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder()


@pytest.fixture
def llm() -> Iterator[LLMService]:
    pytest.importorskip("openai")
    with running_llm(ChatHandler) as service:
        yield service


@pytest.fixture
def embeddings() -> Iterator[EmbeddingService]:
    pytest.importorskip("openai")
    with EmbeddingService() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def reranker() -> Iterator[RerankService]:
    with running_reranker() as service:
        yield service


def agent(
    home: Path, *, around: dict[str, Any] | None = None, **fields: Any
) -> HierarchicalDocumentToolConfig:
    tool = {"name": "docs", "description": "d", "source": "docs", **fields}
    return AgentConfig.model_validate({"tools": [tool], **(around or {})}).moved_to(home).document_tool()


def block(service: LLMService, **fields: Any) -> dict[str, Any]:
    address = {"provider": "openai_compatible", "endpoint": f"{service.address}/v1", "api_key": LLM_KEY}
    return {**address, "name": "small", **fields}


def test_the_context_model_writes_contexts_as_configured(
    home: Path, llm: LLMService, embedder: Embedder
) -> None:
    llm.answer = lambda shared, text: "It concerns the zanzibar pier."
    config = agent(
        home,
        context_model=block(llm, temperature=0.7),
        context_concurrency=1,
        max_chunk_tokens=100,
    )
    with HierarchicalDocumentTool(config, embedder=embedder) as tool:
        found = tool.search_sync("zanzibar", mode="keyword")
    assert len(found.results) > 1
    assert {request["model"] for request in llm.requests} == {"small"}
    assert {request["temperature"] for request in llm.requests} == {0.7}
    assert llm.most_open == 1


@pytest.mark.parametrize(
    ("fields", "limit"), [({"context_max_tokens": 60}, 60), ({"context_max_tokens": 150}, 150)]
)
def test_the_length_of_contexts_is_asked_for(
    home: Path, llm: LLMService, fields: dict[str, Any], limit: int
) -> None:
    from loccit.models.llm import Prompt

    model = agent(home, context_model=block(llm), **fields).build_context_model()
    assert model is not None
    index = agent(home, context_model=block(llm), **fields).settings().index
    assert index is not None
    assert index.context_max_tokens == limit
    model.complete(Prompt("", "", "Situate this.", max_tokens=limit))
    shorter = agent(home, context_model=block(llm, max_tokens=51), **fields).build_context_model()
    assert shorter is not None
    shorter.complete(Prompt("", "", "Situate this.", max_tokens=limit))
    first, second = (request["max_tokens"] for request in llm.requests)
    assert first - second == limit - 51


def test_several_contexts_are_asked_for_at_a_time(home: Path, llm: LLMService, embedder: Embedder) -> None:
    together = threading.Barrier(3, timeout=20)

    def answer(shared: str, text: str) -> str:
        together.wait()
        return "It is about the quay."

    config = agent(home, context_model=block(llm), context_concurrency=3, max_chunk_tokens=100)
    with HierarchicalDocumentTool(config, embedder=embedder) as tool:
        # One prompt goes ahead to fill the cache of the service; the rest come in threes.
        counted = iter(range(1000))
        llm.answer = lambda shared, text: answer(shared, text) if 0 < next(counted) <= 6 else "It is there."
        tool.initialize_sync()
    assert llm.most_open == 3


def test_the_window_limits_what_the_context_model_is_shown(
    home: Path, llm: LLMService, embedder: Embedder
) -> None:
    long = DOCUMENT + "\n\n## Annex\n\n" + "The annex lists what was paid for each of the stones. " * 90
    (home / "docs/report.md").write_text(long, encoding="utf-8")
    lengths = {}
    for window in (1000, 100_000):
        llm.requests.clear()
        config = agent(
            home,
            context_model=block(llm),
            context_window_tokens=window,
            index=f"index-{window}",
        )
        with HierarchicalDocumentTool(config, embedder=embedder) as tool:
            tool.initialize_sync()
        lengths[window] = max(len(str(request["messages"])) for request in llm.requests)
    assert lengths[1000] < lengths[100_000] * 0.9


def test_without_a_context_model_nothing_is_sent_even_if_the_agent_has_a_model(
    home: Path, llm: LLMService
) -> None:
    around = {"model": block(llm)}
    assert agent(home, around=around).build_context_model() is None
    off = agent(home, around=around, context_model="agent", contextual_embeddings=False)
    assert off.build_context_model() is None
    own = agent(home, around=around, context_model="agent")
    assert own.build_context_model() is not None
    index = own.settings().index
    assert index is not None
    assert index.context_model == "openai:small"
    named = agent(home, context_model="ollama:qwen3").settings().index
    assert named is not None
    assert named.context_model == "ollama:qwen3"


def test_the_embedding_block_reaches_the_service(home: Path, embeddings: EmbeddingService) -> None:
    given = {
        "provider": "openai_compatible",
        "name": "tiny",
        "endpoint": embeddings.url,
        "api_key": EMBEDDING_KEY,
        "dimensions": 3,
        "batch_size": 2,
        "query_prefix": "ask: ",
        "document_prefix": "read: ",
    }
    with HierarchicalDocumentTool(agent(home, embedding=given, max_chunk_tokens=100)) as tool:
        assert tool.search_sync("quay", mode="semantic").results
        assert tool.library.status().dimension == 3
    assert {request["model"] for request in embeddings.requests} == {"tiny"}
    assert {request["dimensions"] for request in embeddings.requests} == {3}
    texts = [text for request in embeddings.requests for text in request["input"]]
    assert "ask: quay" in texts
    assert all(text.startswith(("ask: ", "read: ")) for text in texts)
    assert max(len(request["input"]) for request in embeddings.requests) == 2


def test_tools_without_an_embedding_of_their_own_use_the_agents(
    home: Path, embeddings: EmbeddingService
) -> None:
    around = {
        "embedding": {
            "provider": "openai_compatible",
            "name": "tiny",
            "base_url": embeddings.url,
            "api_key": EMBEDDING_KEY,
        }
    }
    embedder = agent(home, around=around, embedding_dimensions=3).build_embedder()
    assert embedder is not None
    assert embedder.name == "tiny@3"
    embedder.embed_query("quay")
    assert embeddings.requests[0]["dimensions"] == 3
    own = agent(home, around=around, embedding={"provider": "local"})
    assert own.build_embedder() is None
    other = agent(home, around=around, embedding_model="other").settings().index
    assert other is not None
    assert other.embedding_model == "openai:other"


@pytest.mark.parametrize(
    ("fields", "spec"),
    [
        ({}, ""),
        ({"embedding_model": "text-embedding-3-small"}, "openai:text-embedding-3-small"),
        ({"embedding_model": "openai:text-embedding-3-large"}, "openai:text-embedding-3-large"),
        ({"embedding_model": "bundled"}, "bundled"),
        ({"embedding_model": "org/model"}, "org/model"),
        ({"embedding": {"provider": "azure_openai", "name": "deployed"}}, "azure:deployed"),
        ({"embedding": {"provider": "ollama", "name": "ollama:nomic"}}, "ollama:nomic"),
        ({"embedding": {"provider": "openai", "name": "x"}, "embedding_model": "x"}, "openai:x"),
    ],
)
def test_embedding_models_are_named_as_the_registry_does(
    home: Path, fields: dict[str, Any], spec: str
) -> None:
    index = agent(home, **fields).settings().index
    assert index is not None
    assert index.embedding_model == spec


@pytest.mark.parametrize(
    ("fields", "spec"),
    [
        ({"reranker_model": "cohere:rerank-v3.5"}, "cohere:rerank-v3.5"),
        ({"reranker": {"provider": "cohere", "name": "rerank-v3.5"}}, "cohere:rerank-v3.5"),
        ({"reranker": {"provider": "tei", "endpoint": "http://h:1"}}, "tei:http://h:1"),
        (
            {"reranker": {"provider": "http", "endpoint": "http://h:1/rerank", "name": "m"}},
            "http://h:1/rerank#m",
        ),
        ({"reranker": {"provider": "llm", "name": "ollama:qwen3"}}, "llm:ollama:qwen3"),
        ({"reranker": {"name": "org/cross-encoder"}}, "org/cross-encoder"),
        ({"reranker_model": "./rerankers/tiny"}, "HOME/rerankers/tiny"),
    ],
)
def test_rerankers_are_named_as_the_registry_does(home: Path, fields: dict[str, Any], spec: str) -> None:
    search = agent(home, enable_reranking=True, **fields).settings().search
    assert search.rerank_enabled
    assert search.rerank_model == spec.replace("HOME", str(home))


def test_the_reranker_block_reaches_the_service(
    home: Path, reranker: RerankService, embedder: Embedder
) -> None:
    given = {
        "provider": "cohere",
        "name": "rerank-v3.5",
        "endpoint": reranker.url + "/v2/rerank",
        "api_key": RERANKER_KEY,
        "top_n": 3,
        "timeout": 9.5,
    }
    config = agent(home, enable_reranking=True, reranker=given, max_chunk_tokens=100)
    assert config.settings().search.rerank_timeout == 9.5
    with HierarchicalDocumentTool(config, embedder=embedder) as tool:
        found = tool.search_sync("quay number 5 was repaired")
        off = tool.search_sync("quay number 5 was repaired", rerank=False)
    assert not found.note
    (request,) = reranker.requests
    assert request["body"]["model"] == "rerank-v3.5"
    assert len(request["body"]["documents"]) == 3
    assert [result.fused_score for result in found.results] != [result.fused_score for result in off.results]


def test_a_tool_that_wants_the_agents_model_without_one_says_so(home: Path) -> None:
    alone = HierarchicalDocumentToolConfig.model_validate(
        {"name": "a", "description": "b", "source": "docs", "context_model": "agent"}
    )
    with pytest.raises(UsageError, match="the agent has no model"):
        alone.settings()


@pytest.mark.parametrize("endpoint", ("http://gpu:11434", "http://gpu:11434/", "http://gpu:11434/v1"))
def test_of_an_ollama_server_the_address_is_enough(endpoint: str) -> None:
    pytest.importorskip("openai")
    from loccit.models.llm import load_model

    model = ModelConfig(provider=ModelProvider.OLLAMA, name="qwen3", endpoint=endpoint)
    assert load_model(model.spec, **model.options()).base_url == "http://gpu:11434/v1"  # type: ignore[attr-defined]
    embedding = EmbeddingConfig(provider=EmbeddingProvider.OLLAMA, name="nomic-embed-text", endpoint=endpoint)
    assert embedding.options()["base_url"] == "http://gpu:11434/v1"
