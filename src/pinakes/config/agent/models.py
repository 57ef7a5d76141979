"""Which models a tool means, as the registries of models name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.config.agent.services import (
    EmbeddingConfig,
    EmbeddingProvider,
    ModelConfig,
    RerankerConfig,
    RerankerProvider,
)
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.config.agent.document_tool import HierarchicalDocumentToolConfig
    from pinakes.config.agent.surroundings import Surroundings

AGENT = "agent"
"""As a context model: the model of the agent itself."""

_EMBEDDING_SCHEMES = {
    EmbeddingProvider.OPENAI: "openai:",
    EmbeddingProvider.OPENAI_COMPATIBLE: "openai:",
    EmbeddingProvider.AZURE_OPENAI: "azure:",
    EmbeddingProvider.OLLAMA: "ollama:",
}
# So OpenAI's embedding models are called, and the examples that name one do not say whose it is.
_OPENAI_NAMES = "text-embedding-"


def embedding_block(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> EmbeddingConfig | None:
    """Return the tool's own embedding block, else the agent's."""
    return tool.embedding or around.embedding


def embedding_spec(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> str:
    """Return the name of the embedding model; empty for the bundled one."""
    block = embedding_block(tool, around)
    name = tool.embedding_model or (block.name if block else None)
    if not name:
        return ""
    if block and block.provider is not EmbeddingProvider.LOCAL:
        scheme = _EMBEDDING_SCHEMES[block.provider]
        return name if name.startswith(scheme) else scheme + name
    if name.startswith(_OPENAI_NAMES):
        return f"openai:{name}"
    return _local(name, around)


def context_model(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> ModelConfig | str | None:
    """Return the model that writes contexts, or its name."""
    if tool.context_model != AGENT:
        return tool.context_model
    if around.model is None:
        raise UsageError(
            f"Tool {tool.name}: context_model is 'agent', but the agent has no model. Set model, or name a model here."
        )
    return around.model


def reranker_spec(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> str:
    """Return the name of the reranker; empty for none."""
    block = tool.reranker or RerankerConfig()
    name = tool.reranker_model or block.name or ""
    if block.provider is RerankerProvider.TEI:
        return f"tei:{block.endpoint}"
    if block.provider is RerankerProvider.HTTP:
        return f"{block.endpoint}#{name}" if name else str(block.endpoint)
    if block.provider is not RerankerProvider.LOCAL:
        scheme = f"{block.provider.value}:"
        return name if name.startswith(scheme) else scheme + name
    return _local(name, around)


def _local(name: str, around: Surroundings) -> str:
    """Names of folders are meant from the folder of the file; other names stay."""
    if not name:
        return ""
    folder = around.path(name)
    return str(folder) if name.startswith((".", "~")) or folder.is_dir() else name
