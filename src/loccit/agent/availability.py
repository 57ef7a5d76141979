"""Whether the models that an agent file names can be had: made on this machine as a tool would, and not asked."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from loccit.agent.agent import AgentConfig
from loccit.agent.document_tool import HierarchicalDocumentToolConfig
from loccit.agent.effects import AGENT, REMOTE
from loccit.agent.faults import Place
from loccit.agent.services import ModelConfig, ModelProvider
from loccit.errors import LoccitError, MissingExtraError
from loccit.models.llm import load_model, missing_key


@dataclass(slots=True)
class Made:
    """What came of making the models: those that cannot be made, and those whose service wants a key that is not here.

    Each is a place and a sentence; a key that is missing is said once.
    """

    unavailable: list[tuple[Place, str]] = field(default_factory=list)
    keyless: list[tuple[Place, str]] = field(default_factory=list)

    def add(self, place: Place, make: Callable[[], object]) -> None:
        """Make a model, and note what is wrong with it."""
        try:
            missing = missing_key(make())
        except LoccitError as error:
            self.unavailable.append((place, str(error)))
            return
        if missing and missing not in (said for _, said in self.keyless):
            self.keyless.append((place, missing))


def make_models(config: AgentConfig) -> Made:
    """Make the models of the agent and of its document tools."""
    made = Made()
    if config.model is not None:
        made.add(("model",), partial(load_model, config.model.spec, **config.model.options()))
        # What it needs beside a key is said by those who converse with it.
        made.unavailable.clear()
    for number, tool in enumerate(config.tools):
        if not isinstance(tool, HierarchicalDocumentToolConfig):
            continue
        for place, make in _parts(tool, ("tools", number)):
            made.add(place, make)
    return made


def _parts(
    tool: HierarchicalDocumentToolConfig, place: Place
) -> Iterator[tuple[Place, Callable[[], object]]]:
    """Yield where each model of a tool is named, and what makes it."""
    if tool.dense_index:
        yield _embedding_place(tool, place), lambda: _make_embedder(tool)
        if tool.contextual_embeddings and tool.context_model:
            yield (*place, "context_model"), lambda: _make_context_model(tool)
    if tool.enable_reranking:
        yield (*place, "reranker_model" if tool.reranker_model else "reranker"), lambda: _make_reranker(tool)


def _embedding_place(tool: HierarchicalDocumentToolConfig, place: Place) -> Place:
    if tool.embedding_dimensions:
        return (*place, "embedding_dimensions")
    if tool.embedding_model:
        return (*place, "embedding_model")
    return (*place, "embedding") if tool.embedding else ("embedding",)


def _make_embedder(tool: HierarchicalDocumentToolConfig) -> object:
    from loccit.models.embedding import load_embedder

    settings = tool.settings().index
    spec = settings.embedding_model if settings else ""
    if spec.startswith(REMOTE) and importlib.util.find_spec("openai") is None:
        raise MissingExtraError(f"The embedding model {spec}", "openai")
    return tool.build_embedder() or (load_embedder(spec) if spec else None)


def _make_context_model(tool: HierarchicalDocumentToolConfig) -> object:
    settings = tool.settings().index
    return tool.build_context_model() or (load_model(settings.context_model) if settings else None)


def _make_reranker(tool: HierarchicalDocumentToolConfig) -> object:
    from loccit.models.rerank import load_reranker

    return tool.build_reranker() or load_reranker(tool.settings().search.rerank_model)


def doubtful(config: AgentConfig) -> Iterator[tuple[Place, str]]:
    """Yield the place and a sentence for each model that its provider hardly has."""
    models: list[tuple[Place, ModelConfig | str | None]] = [(("model",), config.model)]
    for number, tool in enumerate(config.tools):
        if isinstance(tool, HierarchicalDocumentToolConfig):
            models.append((("tools", number, "context_model"), tool.context_model))
            models.append((("tools", number, "reranker_model"), tool.reranker_model))
            yield from _doubtful_embedding(tool, ("tools", number))
    for place, model in models:
        if isinstance(model, str) and model != AGENT:
            provider, _, name = model.removeprefix("llm:").partition(":")
        elif isinstance(model, ModelConfig) and not model.endpoint:
            provider, name = model.provider.value, model.name
        else:
            continue
        maker = _maker(name)
        if provider in _MAKERS and maker not in (provider, None) and not _elsewhere(provider):
            yield (
                place,
                f"{name} does not look like a model of {provider}: {maker} has models with such names",
            )
    if config.model and importlib.util.find_spec("pydantic_ai") is None:
        yield ("model",), str(MissingExtraError("A conversation with it", "chat"))


# How those call their models who run nobody else's.
_MAKERS = {
    ModelProvider.ANTHROPIC.value: ("claude-",),
    ModelProvider.OPENAI.value: ("gpt-", "o1", "o3", "o4", "chatgpt-"),
}
_OTHER_MAKERS = {"ollama": ("llama", "qwen", "mistral", "gemma", "phi", "deepseek"), "google": ("gemini-",)}


def _elsewhere(provider: str) -> bool:
    """Whether the environment sends what is meant for a provider to another address."""
    return bool(os.environ.get(f"{provider.upper()}_BASE_URL"))


def _maker(name: str) -> str | None:
    for maker, beginnings in (_MAKERS | _OTHER_MAKERS).items():
        if name.lower().startswith(beginnings):
            return maker
    return None


def _doubtful_embedding(tool: HierarchicalDocumentToolConfig, place: Place) -> Iterator[tuple[Place, str]]:
    from loccit.models.embedding.openai import DIMENSIONS

    block = tool.embedding
    settings = tool.settings().index
    spec = settings.embedding_model if settings and tool.dense_index else ""
    scheme, _, name = spec.partition(":")
    around = tool._around.embedding
    addressed = any(item and item.endpoint for item in (block, around)) or _elsewhere("openai")
    if scheme != "openai" or name in DIMENSIONS or addressed:
        return
    yield (
        _embedding_place(tool, place),
        f"OpenAI is not known to have an embedding model {name!r}; it has {', '.join(DIMENSIONS)}",
    )
