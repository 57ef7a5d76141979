"""Every field of a document tool does something that a user can see, in real searches of a small folder."""

from __future__ import annotations

import gc
import glob
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from loccit.agent import HierarchicalDocumentToolConfig, OtherToolConfig
from loccit.errors import NotFoundError, UsageError
from loccit.model import SearchResponse
from loccit.models.embedding import Embedder, load_embedder
from loccit.models.embedding.registry import BUNDLED_MODEL
from loccit.tools.document_tool import HierarchicalDocumentTool

QUERY = "reports of the harbour master about dangerous goods"

# To say the language spares each process that reads documents the model that tells languages apart.
ACT = """\
---
language: en
---
# Harbour Act

## Section 1 Definitions

"Vessel" means any ship or boat.

"Dangerous goods" means goods of class 1 to 9.

## Section 2 Reports

The harbour master reports dangerous goods to the authority, as defined in Section 1. {long}

## Section 3 Fees

A vessel pays a fee for each day at the quay. See Section 2.
"""
LONG = " ".join(
    f"Report number {number} names the berth, the hour and what the tide was like on that morning."
    for number in range(14)
)
MANUAL = """\
---
tags: [pump]
language: en
---
# Pump manual

## Alarms

The pump reports an alarm to the harbour master when the flow of goods falls.

## Cleaning

Clean the strainer with fresh water once a month.
"""


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("effects")
    (folder / "docs").mkdir()
    (folder / "docs/act.md").write_text(ACT.format(long=LONG), encoding="utf-8")
    (folder / "docs/manual.md").write_text(MANUAL, encoding="utf-8")
    return folder


def configured(**fields: Any) -> HierarchicalDocumentToolConfig:
    given = {"name": "docs", "description": "Search the harbour's documents.", "source": "docs", **fields}
    return HierarchicalDocumentToolConfig.model_validate(given)


@contextmanager
def opened(home: Path, embedder: Embedder | None, **fields: Any) -> Iterator[HierarchicalDocumentTool]:
    config = configured(**fields)
    # What only searches differently shares an index: reading the documents is what takes time.
    made_of = repr((config.settings(home).index, config.source, config.dense_index))
    config = configured(index=f"indexes/{hashlib.sha256(made_of.encode()).hexdigest()[:12]}", **fields)
    with HierarchicalDocumentTool(config, base_dir=home, embedder=embedder) as tool:
        tool.initialize_sync()
        yield tool


Observe = Callable[[HierarchicalDocumentTool], Any]


def answer(tool: HierarchicalDocumentTool) -> SearchResponse:
    return tool.search_sync(QUERY)


def count(tool: HierarchicalDocumentTool) -> int:
    return len(answer(tool).results)


def legs(tool: HierarchicalDocumentTool) -> set[str]:
    response = tool.search_sync('harbour "dangerous goods" Section 2')
    return {leg for result in response.results for leg in result.matched_by}


def scores(tool: HierarchicalDocumentTool) -> dict[str, float]:
    return {result.chunk_id: round(result.fused_score, 6) for result in answer(tool).results}


def chunks(tool: HierarchicalDocumentTool) -> int:
    return int(tool.library.status().chunks)


def defines(tool: HierarchicalDocumentTool, term: str) -> bool:
    try:
        return bool(tool.get_definition_sync(term).definitions)
    except NotFoundError:
        return False


def semantic(tool: HierarchicalDocumentTool) -> float | None:
    return tool.search_sync("dangerous goods", mode="semantic").results[0].semantic_score


def written(tool: HierarchicalDocumentTool) -> int:
    """How many characters all chunks have together, repeated ones included."""
    found = tool.search_sync("report number tide berth", mode="keyword", top_k=100)
    return sum(len(result.content) for result in found.results)


# Field: other values for it, with what else that takes; what to look at; and what must be true of it, before and after.
EFFECTS: dict[str, tuple[dict[str, Any], Observe, Callable[[Any, Any], bool]]] = {
    "name": (
        {"name": "statutes"},
        lambda tool: [function.name for function in tool.functions],
        lambda before, after: (
            all("docs" in name for name in before) and all("statutes" in name for name in after)
        ),
    ),
    "description": (
        {"description": "Only this."},
        lambda tool: tool.functions[0].description,
        lambda before, after: "harbour's documents" in before and "Only this." in after,
    ),
    "source": (
        {"source": "docs/manual.md"},
        lambda tool: {Path(document.source_path).name for document in tool.library.documents()},
        lambda before, after: before == {"act.md", "manual.md"} and after == {"manual.md"},
    ),
    "chunking_strategy": (
        {"chunking_strategy": "token"},
        lambda tool: tool.search_sync("strainer", mode="keyword").results[0].content,
        lambda before, after: "alarm" not in before and "alarm" in after,
    ),
    "max_chunk_tokens": ({"max_chunk_tokens": 100}, chunks, lambda before, after: after > before),
    "chunk_overlap": (
        {"chunk_overlap": 0, "max_chunk_tokens": 100, "ranking": {"disabled": ["focus", "ngram_dedup"]}},
        written,
        lambda before, after: before > after,
    ),
    "search_mode": (
        {"search_mode": "keyword"},
        legs,
        lambda before, after: "semantic" in before and after == {"keyword"},
    ),
    "top_k": ({"top_k": 1}, count, lambda before, after: before > after == 1),
    "min_score": ({"min_score": 0.9}, count, lambda before, after: before > after),
    "semantic_weight": (
        {"semantic_weight": 0.0, "keyword_weight": 0.6, "exact_weight": 0.4},
        legs,
        lambda before, after: before - after == {"semantic"},
    ),
    "keyword_weight": (
        {"keyword_weight": 0.0, "semantic_weight": 0.6, "exact_weight": 0.4},
        legs,
        lambda before, after: before - after == {"keyword"},
    ),
    "exact_weight": (
        {"exact_weight": 0.0, "semantic_weight": 0.6, "keyword_weight": 0.4},
        legs,
        lambda before, after: before - after == {"exact"},
    ),
    "rrf_k": (
        {"rrf_k": 1, "max_chunk_tokens": 100, "ranking": {"fusion": "rrf"}},
        scores,
        lambda before, after: before != after,
    ),
    "rrf_k_constant": (
        {"rrf_k_constant": 1, "max_chunk_tokens": 100, "ranking": {"fusion": "rrf"}},
        scores,
        lambda before, after: before != after,
    ),
    "contextual_embeddings": (
        {"contextual_embeddings": False},
        semantic,
        lambda before, after: abs(before - after) > 0.01,
    ),
    "extract_definitions": (
        {"extract_definitions": False},
        lambda tool: [function.kind for function in tool.functions if defines(tool, "vessel")],
        lambda before, after: "define_term" in before and not after,
    ),
    "extract_cross_references": (
        {"extract_cross_references": False},
        lambda tool: [reference for result in answer(tool).results for reference in result.cross_references],
        lambda before, after: before and not after,
    ),
    "dense_index": (
        {"dense_index": False},
        lambda tool: (tool.library.status().pending_passages, legs(tool), tool.config.search_modes),
        lambda before, after: (
            before[0] == 0 < after[0] and before[1] - after[1] == {"semantic"} and "semantic" not in after[2]
        ),
    ),
    "keyword_index": (
        {"keyword_index": False},
        legs,
        lambda before, after: before - after == {"keyword"},
    ),
    "exact_index": (
        {"exact_index": False},
        legs,
        lambda before, after: before - after == {"exact"},
    ),
    "filters": (
        {"filters": {"tags": "pump"}},
        lambda tool: {Path(result.source_path).name for result in answer(tool).results},
        lambda before, after: "act.md" in before and after == {"manual.md"},
    ),
    "token_budget": (
        {"token_budget": 200},
        lambda tool: (answer(tool).truncated, tool.count_tokens(answer(tool).format())),
        lambda before, after: not before[0] and before[1] > 204 and after[0] and after[1] <= 204,
    ),
    "ranking": (
        {"ranking": {"max_chunks_per_doc": 1}, "max_chunk_tokens": 100},
        lambda tool: [result.source_path for result in answer(tool).results],
        lambda before, after: len(set(before)) < len(before) and len(set(after)) == len(after),
    ),
}
# Shown below, of scanned pages in tests/ingest/test_scans.py, and, where a model is asked, in test_models.py.
ELSEWHERE = {"type", "database", "index", "defer_loading", "ocr", "ocr_languages", "ocr_max_pages"}
WITH_MODELS = {
    "embedding_model",
    "embedding_dimensions",
    "context_model",
    "context_max_tokens",
    "context_concurrency",
    "context_window_tokens",
    "context_max_cost",
    "enable_reranking",
    "reranker_model",
    "embedding",
    "reranker",
}


def test_every_field_has_its_effect_shown() -> None:
    assert set(EFFECTS) | ELSEWHERE | WITH_MODELS == set(HierarchicalDocumentToolConfig.model_fields)


@pytest.mark.parametrize("field", EFFECTS)
def test_a_field_has_its_effect(home: Path, embedder: Embedder, field: str) -> None:
    changes, observe, holds = EFFECTS[field]
    # Without the field itself, but with what else its effect takes.
    beside = {name: value for name, value in changes.items() if name != field and "weight" not in name}
    with opened(home, embedder, **beside) as tool:
        before = observe(tool)
    with opened(home, embedder, **changes) as tool:
        after = observe(tool)
    assert holds(before, after), f"{field}: {before!r}, then {after!r}"


def test_type_decides_who_runs_a_tool() -> None:
    from loccit.agent import AgentConfig

    tool = {"name": "a", "description": "b", "source": "docs"}
    agent = AgentConfig.model_validate(
        {"tools": [{**tool, "type": "hierarchical_document"}, {**tool, "name": "b", "type": "vectorstore"}]}
    )
    assert [tool.name for tool in agent.document_tools] == ["a"]
    assert isinstance(agent.tools[1], OtherToolConfig)


def test_the_index_is_kept_where_the_file_says(tmp_path: Path) -> None:
    assert configured().index_path(tmp_path) == tmp_path / ".loccit/docs"
    assert configured(index="../kept").index_path(tmp_path) == tmp_path.parent / "kept"
    assert configured(database={"path": "kept"}).index_path(tmp_path) == tmp_path / "kept/docs"
    assert configured(database={"provider": "embedded"}).index_path(tmp_path) == tmp_path / ".loccit/docs"


def test_a_pattern_is_meant_from_a_folder_of_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "[work] 1*"
    (folder / "docs [old]").mkdir(parents=True)
    note = folder / "docs [old]" / "note.md"
    note.write_text("# Note\n", encoding="utf-8")
    for source in ("docs*/*.md", "docs [[]old]/n?te.md"):
        configured(source=source).check_source(folder)
        assert glob.glob(str(configured(source=source).source_path(folder))) == [str(note)]
    for source in ("docs [old]", "docs [old]/note.md"):
        configured(source=source).check_source(folder)
        assert configured(source=source).source_path(folder) == folder / source
    with pytest.raises(UsageError, match=r"no file matches 'docs \[old\]/\*\.md'"):
        configured(source="docs [old]/*.md").check_source(folder)


def test_an_index_in_memory_leaves_nothing_behind(home: Path, embedder: Embedder) -> None:
    config = configured(database={"provider": "in-memory"}, name="passing", source="docs/manual.md")
    folder = config.index_path(home)
    with HierarchicalDocumentTool(config, base_dir=home, embedder=embedder) as tool:
        assert count(tool)
    assert folder.exists()
    assert not (home / ".loccit").exists()
    del config, tool
    gc.collect()
    assert not folder.exists()


def test_without_defer_loading_a_tool_loads_at_once(home: Path, embedder: Embedder, tmp_path: Path) -> None:
    later = configured(index=str(tmp_path / "later"), source="docs/manual.md")
    with HierarchicalDocumentTool(later, base_dir=home, embedder=embedder):
        assert not (tmp_path / "later").exists()
    at_once = configured(index=str(tmp_path / "now"), source="docs/manual.md", defer_loading=False)
    with HierarchicalDocumentTool(at_once, base_dir=home, embedder=embedder) as tool:
        # This only waits for what is under way already.
        assert len(tool.initialize_sync().added) == 1
    with pytest.raises(UsageError, match="nowhere"):
        HierarchicalDocumentTool(configured(source="nowhere", defer_loading=False), base_dir=home)


def test_a_folder_with_a_model_is_meant_from_the_file(home: Path) -> None:
    if not (home / "models/small").exists():
        shutil.copytree(BUNDLED_MODEL, home / "models/small")
    config = configured(embedding_model="models/small")
    index = config.settings(home).index
    assert index is not None
    assert index.embedding_model == str(home / "models/small")
    with opened(home, None, embedding_model="./models/small") as tool:
        assert count(tool)


def test_vectors_of_another_length_are_refused() -> None:
    assert configured(embedding_dimensions=384).build_embedder() is not None
    with pytest.raises(UsageError, match="produces vectors of 384 dimensions, not 512"):
        configured(embedding_dimensions=512).build_embedder()
