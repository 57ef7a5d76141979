"""From the fields of a document tool to settings, paths and models: here each field takes effect."""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loccit.agent.database import DatabaseConfig, DatabaseProvider
from loccit.agent.services import (
    EmbeddingConfig,
    EmbeddingProvider,
    ModelConfig,
    RerankerConfig,
    RerankerProvider,
)
from loccit.config.settings import IndexSettings, SearchSettings, Settings, describe
from loccit.errors import UsageError

if TYPE_CHECKING:
    from loccit.agent.base import Surroundings
    from loccit.agent.document_tool import HierarchicalDocumentToolConfig
    from loccit.agent.services import ModelConfig
    from loccit.index.settings import DatabaseSettings
    from loccit.models.embedding import Embedder
    from loccit.models.llm import Completion, LanguageModel, Prompt
    from loccit.models.rerank import Reranker

INDEX_FOLDER = ".loccit"


def settings(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> Settings:
    """Return what a tool asks of the index and of the search."""
    return Settings(_index_settings(tool, around), _search_settings(tool, around))


def _index_settings(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> IndexSettings:
    model = context_model(tool, around) if tool.contextual_embeddings else None
    values = _same(tool, IndexSettings) | {
        "embedding_model": embedding_spec(tool, around),
        "context_model": model if isinstance(model, str) else model.spec if model else "",
        # Expansion looks words up in the vocabulary; nobody should have to know that.
        "concept_vocabulary": bool(tool.ranking and tool.ranking.query_expansion_enabled),
    }
    return IndexSettings(**values)


def _same(
    tool: HierarchicalDocumentToolConfig, kind: type[IndexSettings] | type[SearchSettings]
) -> dict[str, Any]:
    """Return what a tool says of the settings that it has under their own names."""
    found = {name: getattr(tool, name) for name in describe(kind) if name in type(tool).model_fields}
    return {name: value.value if isinstance(value, Enum) else value for name, value in found.items()}


def _search_settings(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> SearchSettings:
    values = _same(tool, SearchSettings) | {
        "semantic_weight": tool.semantic_weight if tool.dense_index else 0.0,
        "keyword_weight": tool.keyword_weight if tool.keyword_index else 0.0,
        "exact_weight": tool.exact_weight if tool.exact_index else 0.0,
        "rerank_enabled": tool.enable_reranking,
        "rerank_model": reranker_spec(tool, around),
    }
    if "rrf_k" in tool.model_fields_set:
        values["fusion"] = "rrf"
    if tool.reranker:
        values["rerank_top_n"] = tool.reranker.top_n
        values["rerank_timeout"] = tool.reranker.timeout
    values |= tool.ranking.given() if tool.ranking else {}
    if not tool.keyword_index:
        # These ask the keyword index too.
        values |= {"code_search_weight": 0.0, "query_expansion_enabled": False}
        values["disabled"] = tuple(dict.fromkeys((*values.get("disabled", ()), "spelling")))
    total = sum(values[f"{leg}_weight"] for leg in ("semantic", "keyword", "exact"))
    if total > 0 and not (tool.dense_index and tool.keyword_index and tool.exact_index):
        # The share of an index that is off goes to the others.
        for leg in ("semantic", "keyword", "exact"):
            values[f"{leg}_weight"] /= total
    return SearchSettings(**{name: value for name, value in values.items() if value is not None})


def index_path(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> Path:
    """Return the folder of a tool's index."""
    database = find_database(tool, around)
    if database and database.provider is DatabaseProvider.IN_MEMORY:
        return database.scratch_folder() / tool.name
    if tool.index:
        return around.path(tool.index)
    if database and database.path:
        return around.path(database.path) / tool.name
    return around.path(INDEX_FOLDER) / tool.name


def database_settings(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> DatabaseSettings | None:
    """Return the database that holds the library of a tool; None where it is in its folder alone."""
    database = find_database(tool, around)
    if database is None or database.is_local:
        return None
    return database.settings(tool.name, around.path("."))


def find_database(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> DatabaseConfig | None:
    """Return the database of a tool, looked up where it is given by name."""
    if not isinstance(tool.database, str):
        return tool.database
    if tool.database not in around.databases:
        known = ", ".join(sorted(around.databases)) or "there are none"
        raise UsageError(
            f"Tool {tool.name}: no database is called {tool.database!r}; under databases: {known}."
        )
    return around.databases[tool.database]


def source_path(written: str, around: Surroundings) -> Path:
    """Return where a source is. A pattern stays one, but the folder that it is meant from is no part of it."""
    path = around.path(written)
    if not _is_pattern(written) or os.path.lexists(path):
        return path
    return around.at(Path(glob.escape(str(around.base_dir or Path.cwd())))).path(written)


def check_source(written: str, path: Path) -> None:
    """Raise ``UsageError`` when there is nothing at a source."""
    if os.path.lexists(path):
        return
    if "://" in written:
        raise UsageError(
            f"{written!r} is not on this machine: copy the documents here, and name their folder"
        )
    if _is_pattern(written):
        if not any(glob.iglob(str(path), recursive=True)):
            raise UsageError(f"no file matches {written!r} (looked for {path})")
        return
    near = f"; {path.parent} does not exist either" if not path.parent.exists() else ""
    raise UsageError(f"there is no file or folder {written!r} (looked for {path}{near})")


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")


AGENT = "agent"
"""As a context model: the model of the agent itself."""

_EMBEDDING_SCHEMES = {
    EmbeddingProvider.OPENAI: "openai:",
    EmbeddingProvider.OPENAI_COMPATIBLE: "openai:",
    EmbeddingProvider.AZURE_OPENAI: "azure:",
    EmbeddingProvider.OLLAMA: "ollama:",
}
REMOTE = tuple(sorted({*_EMBEDDING_SCHEMES.values()}))
"""What the names of embedding models begin with that a service runs."""
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
    if isinstance(tool.reranker_model, ModelConfig):
        return f"{RerankerProvider.LLM.value}:{tool.reranker_model.spec}"
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


def build_embedder(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> Embedder | None:
    """Return the embedder where the name of the model does not say it all, else None."""
    from loccit.models.embedding import load_embedder

    block = embedding_block(tool, around)
    length = tool.embedding_dimensions or (block.dimensions if block else None)
    options = block.options() if block else {}
    spec = embedding_spec(tool, around)
    if not length and not options:
        return None
    remote = spec.startswith(REMOTE)
    if remote and length:
        options["dimensions"] = length
    embedder = load_embedder(spec or None, **options)
    if not remote and length and embedder.dimension != length:
        raise UsageError(
            f"Tool {tool.name}: the embedding model {embedder.name} produces vectors of {embedder.dimension} "
            f"dimensions, not {length}. Leave embedding_dimensions out."
        )
    return embedder


def build_reranker(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> Reranker | None:
    """Return the reranker where its name does not say it all, else None."""
    named = tool.reranker_model if isinstance(tool.reranker_model, ModelConfig) else tool.reranker
    options = named.options() if named else {}
    if not tool.enable_reranking or not options:
        return None
    from loccit.models.rerank import load_reranker

    timeout = settings(tool, around).search.rerank_timeout
    return load_reranker(reranker_spec(tool, around), timeout=timeout, **options)


def build_context_model(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> LanguageModel | None:
    """Return the model that writes contexts where its name does not say it all, else None."""
    model = context_model(tool, around) if tool.contextual_embeddings else None
    if model is None or isinstance(model, str):
        return None
    from loccit.models.llm import load_model

    return _Configured(load_model(model.spec, **model.options()), model)


class _Configured:
    """A language model that answers at the temperature and length of its configuration."""

    def __init__(self, model: LanguageModel, config: ModelConfig) -> None:
        self._model = model
        self._config = config

    @property
    def name(self) -> str:
        return self._model.name

    def missing_key(self) -> str:
        from loccit.models.llm import missing_key

        return missing_key(self._model)

    def complete(self, prompt: Prompt) -> Completion:
        if self._config.temperature is not None:
            prompt = replace(prompt, temperature=self._config.temperature)
        if self._config.max_tokens is not None:
            prompt = replace(prompt, max_tokens=min(prompt.max_tokens, self._config.max_tokens))
        return self._model.complete(prompt)
