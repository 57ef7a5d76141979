"""Models that need more than a name: an address, a key, a length of vectors, a temperature."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pinakes.config.agent.effects import settings
from pinakes.config.agent.models import context_model, embedding_block, embedding_spec, reranker_spec
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.config.agent.document_tool import HierarchicalDocumentToolConfig
    from pinakes.config.agent.services import ModelConfig
    from pinakes.config.agent.surroundings import Surroundings
    from pinakes.embedding import Embedder
    from pinakes.llm import LanguageModel
    from pinakes.llm.protocol import Completion, Prompt
    from pinakes.rerank import Reranker


def build_embedder(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> Embedder | None:
    """Return the embedder where the name of the model does not say it all, else None."""
    from pinakes.embedding import load_embedder

    block = embedding_block(tool, around)
    length = tool.embedding_dimensions or (block.dimensions if block else None)
    options = block.options() if block else {}
    spec = embedding_spec(tool, around)
    if not length and not options:
        return None
    remote = spec.startswith(("openai:", "azure:", "ollama:"))
    if remote and length:
        options["dimensions"] = length
    embedder = load_embedder(spec or None, **options)
    if not remote and length and embedder.dimension != length:
        raise UsageError(
            f"Tool {tool.name}: the embedding model {embedder.name} makes vectors of {embedder.dimension} numbers, not "
            f"{length}. Leave embedding_dimensions out."
        )
    return embedder


def build_reranker(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> Reranker | None:
    """Return the reranker where its name does not say it all, else None."""
    options = tool.reranker.options() if tool.reranker else {}
    if not tool.enable_reranking or not options:
        return None
    from pinakes.rerank import load_reranker

    timeout = settings(tool, around).search.rerank_timeout
    return load_reranker(reranker_spec(tool, around), timeout=timeout, **options)


def build_context_model(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> LanguageModel | None:
    """Return the model that writes contexts where its name does not say it all, else None."""
    model = context_model(tool, around) if tool.contextual_embeddings else None
    if model is None or isinstance(model, str):
        return None
    from pinakes.llm import load_model

    return _Configured(load_model(model.spec, **model.options()), model)


class _Configured:
    """A language model that answers at the temperature and length of its configuration."""

    def __init__(self, model: LanguageModel, config: ModelConfig) -> None:
        self._model = model
        self._config = config

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, prompt: Prompt) -> Completion:
        if self._config.temperature is not None:
            prompt = replace(prompt, temperature=self._config.temperature)
        if self._config.max_tokens is not None:
            prompt = replace(prompt, max_tokens=min(prompt.max_tokens, self._config.max_tokens))
        return self._model.complete(prompt)
