"""What an agent file may say but hardly means: fields without effect, defaults that change the method, and tools that
want different things of one index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from loccit.agent.effects import find_database
from loccit.agent.services import ModelConfig
from loccit.config.settings import IndexSettings, setting

if TYPE_CHECKING:
    from loccit.agent.base import Surroundings
    from loccit.agent.document_tool import HierarchicalDocumentToolConfig


def lint(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> list[tuple[str, str]]:
    """Return the field and a sentence for each."""
    found: list[tuple[str, str]] = []
    total = tool.semantic_weight + tool.keyword_weight + tool.exact_weight
    if tool.search_mode == "hybrid" and abs(total - 1.0) > 0.01:
        found.append(
            ("semantic_weight", f"the three weights add up to {total:g}, not 1: results may be skewed")
        )
    if (tool.reranker_model or tool.reranker) and not tool.enable_reranking:
        field = "reranker_model" if tool.reranker_model else "reranker"
        found.append((field, "has no effect without enable_reranking: true"))
    if isinstance(tool.reranker_model, ModelConfig):
        names = ("temperature", "max_tokens")
        found += [
            (f"reranker_model.{name}", "has no effect: a reranker returns an order, always the same one")
            for name in names
            if name in tool.reranker_model.model_fields_set
        ]
    default = setting("rrf_k").default
    chosen = tool.ranking and tool.ranking.fusion
    if (
        "rrf_k" in tool.model_fields_set
        and tool.rrf_k == default
        and tool.search_mode == "hybrid"
        and not chosen
    ):
        found.append(
            (
                "rrf_k",
                f"{default} is the default, but setting it selects reciprocal rank fusion instead of score fusion, "
                "which finds more: leave it out, or set ranking.fusion: rrf if you want that",
            )
        )
    return found + _contexts(tool, around) + _database(tool, around)


# To write one of these is to want contexts.
_CONTEXTS = (
    "contextual_embeddings",
    "context_max_tokens",
    "context_concurrency",
    "context_window_tokens",
    "context_max_cost",
)


def _contexts(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> list[tuple[str, str]]:
    needed = {"contextual_embeddings": tool.contextual_embeddings, "dense_index": tool.dense_index}
    off = [name for name, on in needed.items() if not on]
    if tool.context_model:
        return [("context_model", f"has no effect with {name}: false") for name in off]
    wanted = [name for name in _CONTEXTS if name in tool.model_fields_set]
    if off or not wanted:
        return []
    if around.model:
        hint = (
            f"no model writes contexts, so they are title and headings: context_model: agent would have "
            f"{around.model.spec} write them, and send it the documents"
        )
        return [(wanted[0], hint)]
    unused = [name for name in wanted if name != "contextual_embeddings"]
    return [(name, "has no effect without context_model, which writes contexts") for name in unused]


def _database(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    database = find_database(tool, around)
    if database and database.is_local:
        names = (
            *("connection_string", "url", "api_key", "collection", "native"),
            *("timeout", "patience", "options"),
        )
        unused = [name for name in names if name in database.model_fields_set]
        if unused:
            without = (
                f"no effect with the provider {database.provider_name}, which is a folder on this machine"
            )
            found.append(("database", f"{' and '.join(unused)}: {without}"))
    if database and not database.is_local and not tool.dense_index:
        found.append(("database", "stays empty with dense_index: false: only what has vectors is published"))
    return found


def quarrels(tools: Sequence[HierarchicalDocumentToolConfig]) -> list[tuple[str, str, str]]:
    """Return what tools want of one index or one collection that does not go together.

    Each is the name of the tool that comes later, the field, and a sentence.
    """
    found: list[tuple[str, str, str]] = []
    first: dict[Path, HierarchicalDocumentToolConfig] = {}
    holders: dict[tuple[str, str, str], HierarchicalDocumentToolConfig] = {}
    for tool in tools:
        held_by = tool.database_settings()
        if held_by is not None:
            place = (held_by.provider, held_by.connection_string, held_by.collection)
            holder = holders.setdefault(place, tool)
            mine, others = _index_settings(tool), _index_settings(holder)
            if mine.embedding_model != others.embedding_model:
                found.append(
                    (
                        tool.name,
                        "database",
                        f"{holder.name} has the same collection with another embedding_model: give each its own "
                        "collection",
                    )
                )
        if tool.database is not None and tool.index is None:
            continue  # in a folder that has its name
        other = first.setdefault(tool.index_path(), tool)
        mine, others = _index_settings(tool), _index_settings(other)
        differ = [
            item.name for item in fields(mine) if getattr(mine, item.name) != getattr(others, item.name)
        ]
        if held_by != other.database_settings():
            apart = f"{other.name} has the same index in another database: give each its own folder"
            found.append((tool.name, "index", apart))
        elif differ:
            found.append(
                (
                    tool.name,
                    "index",
                    f"{other.name} has the same index with another {' and '.join(differ)}: each of them would "
                    "rebuild it; give each its own folder",
                )
            )
    return found


def _index_settings(tool: HierarchicalDocumentToolConfig) -> IndexSettings:
    settings = tool.settings().index
    assert settings is not None
    return settings
