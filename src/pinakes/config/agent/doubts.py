"""What a document tool may say, but hardly means; and tools together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.config.agent.effects import find_database
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.config.agent.document_tool import HierarchicalDocumentToolConfig
    from pinakes.config.agent.surroundings import Surroundings


def doubts(tool: HierarchicalDocumentToolConfig, around: Surroundings) -> list[tuple[str, str]]:
    """Return the field and a sentence for each."""
    found: list[tuple[str, str]] = []
    total = tool.semantic_weight + tool.keyword_weight + tool.exact_weight
    if tool.search_mode == "hybrid" and abs(total - 1.0) > 0.01:
        found.append(("semantic_weight", f"the three weights sum to {total:g}, not 1: results may be skewed"))
    if (tool.reranker_model or tool.reranker) and not tool.enable_reranking:
        field = "reranker_model" if tool.reranker_model else "reranker"
        found.append((field, "has no effect without enable_reranking: true"))
    if tool.context_model:
        needed = {"contextual_embeddings": tool.contextual_embeddings, "dense_index": tool.dense_index}
        off = [name for name, on in needed.items() if not on]
        found += [("context_model", f"has no effect with {name}: false") for name in off]
    try:
        database = find_database(tool, around)
        if database:
            database.require_built()
    except UsageError as error:
        found.append(("database", str(error)))
    return found


def quarrels(tools: Sequence[HierarchicalDocumentToolConfig]) -> list[tuple[str, str]]:
    """Return the name of each tool that wants an index made otherwise than another tool before it, and a sentence."""
    found: list[tuple[str, str]] = []
    first: dict[Path, HierarchicalDocumentToolConfig] = {}
    for tool in tools:
        if tool.database is not None and tool.index is None:
            continue  # in a folder that has its name
        try:
            other = first.setdefault(tool.index_path(), tool)
        except UsageError:  # a database that is not built: the tool says so itself
            continue
        mine, others = tool.settings().index, other.settings().index
        assert mine is not None and others is not None
        differ = [
            item.name for item in fields(mine) if getattr(mine, item.name) != getattr(others, item.name)
        ]
        if differ:
            found.append(
                (
                    tool.name,
                    f"{other.name} has the same index with another {' and '.join(differ)}: each of them would make it "
                    "anew; give each a folder of its own",
                )
            )
    return found
