"""Defaults, ranges and rules of the document tool, as the data model has them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import ValidationError

from loccit.agent import RankingConfig
from loccit.agent.document_tool import ELSEWHERE
from loccit.config import HierarchicalDocumentToolConfig
from loccit.config.settings import STAGE_SWITCHES, STAGES, IndexSettings, SearchSettings, describe

REQUIRED = {"name": "statutes", "description": "Search the statutes.", "source": "docs"}

DEFAULTS = {
    "type": "hierarchical_document",
    "chunking_strategy": "structure",
    "max_chunk_tokens": 800,
    "chunk_overlap": 50,
    "ocr": "auto",
    "ocr_languages": "eng",
    "ocr_max_pages": 1000,
    "search_mode": "hybrid",
    "top_k": 10,
    "min_score": None,
    "semantic_weight": 0.5,
    "keyword_weight": 0.3,
    "exact_weight": 0.2,
    "rrf_k": 60,
    "embedding_model": None,
    "embedding_dimensions": None,
    "contextual_embeddings": True,
    "context_model": None,
    "context_max_tokens": 100,
    "context_concurrency": 10,
    "extract_definitions": True,
    "extract_cross_references": True,
    "enable_reranking": False,
    "reranker_model": None,
    "database": None,
    "defer_loading": True,
}

RANGES: list[tuple[str, float, float]] = [
    ("max_chunk_tokens", 100, 2000),
    ("chunk_overlap", 0, 200),
    ("ocr_max_pages", 1, 100_000),
    ("top_k", 1, 100),
    ("min_score", 0.0, 1.0),
    ("semantic_weight", 0.0, 1.0),
    ("keyword_weight", 0.0, 1.0),
    ("exact_weight", 0.0, 1.0),
    ("rrf_k", 1, 1000),
    ("embedding_dimensions", 1, 10000),
    ("context_max_tokens", 50, 200),
    ("context_concurrency", 1, 50),
]


def tool(**fields: Any) -> HierarchicalDocumentToolConfig:
    return HierarchicalDocumentToolConfig.model_validate({**REQUIRED, **fields})


@pytest.mark.parametrize(("name", "default"), DEFAULTS.items())
def test_defaults(name: str, default: object) -> None:
    assert getattr(tool(), name) == default


@pytest.mark.parametrize(("name", "low", "high"), RANGES)
def test_ranges(name: str, low: float, high: float) -> None:
    step = 1 if isinstance(low, int) else 0.01
    assert getattr(tool(**{name: low}), name) == low
    assert getattr(tool(**{name: high}), name) == high
    for beyond in (low - step, high + step):
        with pytest.raises(ValidationError, match=name):
            tool(**{name: beyond})


@pytest.mark.parametrize("name", REQUIRED)
def test_what_is_required(name: str) -> None:
    with pytest.raises(ValidationError, match=f"{name}\n  Field required"):
        HierarchicalDocumentToolConfig.model_validate({key: REQUIRED[key] for key in REQUIRED if key != name})


@pytest.mark.parametrize("name", ["a b", "a-b", "ä", "", "a.b"])
def test_names_are_letters_digits_and_underscores(name: str) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        tool(name=name)
    assert tool(name="Tool_2").name == "Tool_2"


@pytest.mark.parametrize("source", ["", "  ", "\n"])
def test_a_source_is_not_empty(source: str) -> None:
    with pytest.raises(ValidationError, match="must not be empty"):
        tool(source=source)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        tool(topk=3)


@pytest.mark.parametrize(("name", "value"), [("search_mode", "fuzzy"), ("chunking_strategy", "page")])
def test_choices(name: str, value: str) -> None:
    with pytest.raises(ValidationError, match=name):
        tool(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_k", True),
        ("top_k", 1.5),
        ("semantic_weight", False),
        ("contextual_embeddings", 1),
        ("top_k", []),
    ],
)
def test_numbers_are_not_switches_and_switches_not_numbers(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=name):
        tool(**{name: value})


def test_reranking_needs_a_reranker() -> None:
    with pytest.raises(ValidationError, match="reranker_model is required"):
        tool(enable_reranking=True)
    with pytest.raises(ValidationError, match="reranker_model is required"):
        tool(enable_reranking=True, reranker={"top_n": 5})
    assert tool(enable_reranking=True, reranker_model="cohere:x").settings().search.rerank_model == "cohere:x"
    assert (
        tool(enable_reranking=True, reranker={"provider": "jina", "name": "x"}).settings().search.rerank_model
        == "jina:x"
    )


def test_weights_that_do_not_sum_to_one_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "loccit"):
        odd = tool(semantic_weight=0.917, keyword_weight=0.9, exact_weight=0.9)
        for _ in range(3):
            odd.settings()
    assert [record.getMessage() for record in caplog.records] == [
        "The weights of hybrid search add up to 2.72, not 1."
    ]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "loccit"):
        tool(search_mode="keyword", semantic_weight=0.917, keyword_weight=0.9, exact_weight=0.91).settings()
        tool(semantic_weight=0.505).settings()
    assert not caplog.records


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"search_mode": "semantic", "dense_index": False}, "semantic needs dense_index: true"),
        ({"search_mode": "keyword", "keyword_index": False}, "keyword needs keyword_index: true"),
        ({"search_mode": "exact", "exact_index": False}, "exact needs exact_index: true"),
        (
            {"dense_index": False, "keyword_index": False, "exact_index": False},
            "nothing is left to search with",
        ),
        ({"dense_index": False, "keyword_weight": 0, "exact_weight": 0}, "nothing is left to search with"),
    ],
)
def test_something_must_be_left_to_search_by(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        tool(**fields)


def test_the_share_of_an_index_that_is_off_goes_to_the_others(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "loccit"):
        search = tool(dense_index=False).settings().search
    assert (search.semantic_weight, search.keyword_weight, search.exact_weight) == pytest.approx(
        (0, 0.6, 0.4)
    )
    assert not caplog.records


def test_every_setting_of_a_search_can_be_set() -> None:
    """Under ``ranking``, or in the tool itself; a setting that is new needs a place in the agent file too."""
    settings = set(SearchSettings.__dataclass_fields__)
    assert set(RankingConfig.model_fields) - set(STAGE_SWITCHES) | set(ELSEWHERE) == settings
    assert not set(RankingConfig.model_fields) & set(ELSEWHERE)


def test_every_setting_of_an_index_can_be_set() -> None:
    known = set(HierarchicalDocumentToolConfig.model_fields)
    assert set(IndexSettings.__dataclass_fields__) - known == {"concept_vocabulary"}
    expanding = tool(ranking={"query_expansion_enabled": True}).settings().index
    assert expanding is not None
    assert expanding.concept_vocabulary


def test_a_setting_has_one_default_one_range_and_one_description() -> None:
    written = HierarchicalDocumentToolConfig.model_json_schema()["properties"]
    for name, known in {**describe(IndexSettings), **describe(SearchSettings)}.items():
        if name in written and name != "context_model":
            assert known.help in written[name]["description"], name
            parts = (written[name], *written[name].get("anyOf", ()))
            if known.bounds:
                assert known.bounds in [(part.get("minimum"), part.get("maximum")) for part in parts], name
            assert written[name]["default"] == (known.default or written[name]["default"]), name


@pytest.mark.parametrize(
    "name", sorted(set(RankingConfig.model_fields) - set(STAGE_SWITCHES) - {"boosts", "disabled", "fusion"})
)
def test_ranking_has_the_bounds_of_the_search_settings(name: str) -> None:
    (written, _) = RankingConfig.model_json_schema()["properties"][name]["anyOf"]
    bounds = {key: written[key] for key in ("minimum", "maximum") if key in written}
    if not bounds:
        assert isinstance(getattr(SearchSettings(), name), bool)
        assert getattr(tool(ranking={name: True}).settings().search, name) is True
        return
    for value in bounds.values():
        search = tool(ranking={name: value}).settings().search
        assert getattr(search, name) == value
    for beyond in (bounds["minimum"] - 1, bounds["maximum"] + 1):
        with pytest.raises(ValidationError, match=name):
            tool(ranking={name: beyond})
        with pytest.raises(Exception, match=name):
            SearchSettings(**{name: beyond})


def test_ranking_takes_fusion_boosts_and_stages() -> None:
    given = {"fusion": "rrf", "boosts": {"title": 5}, "disabled": list(STAGES)}
    search = tool(ranking=given).settings().search
    assert (search.fusion, search.boosts, search.disabled) == ("rrf", {"title": 5}, STAGES)
    for wrong in (
        {"fusion": "sum"},
        {"boosts": {"title": 101}},
        {"disabled": ["sleep"]},
        {"disabled": "mmr"},
    ):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            tool(ranking=wrong)


def test_to_set_rrf_k_chooses_reciprocal_rank_fusion() -> None:
    assert tool().settings().search.fusion == SearchSettings().fusion == "scores"
    assert tool(rrf_k=60).settings().search.fusion == "rrf"
    assert tool(rrf_k=60, ranking={"fusion": "scores"}).settings().search.fusion == "scores"


@pytest.mark.parametrize(("size", "overlap"), [(100, 100), (100, 200), (150, 199)])
def test_an_overlap_as_long_as_a_chunk_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(
        ValidationError, match=f"must be less than max_chunk_tokens, which is {size}, not {overlap}"
    ):
        tool(max_chunk_tokens=size, chunk_overlap=overlap)
    assert tool(max_chunk_tokens=size, chunk_overlap=size - 1).settings().index


def test_other_names_of_settings() -> None:
    named, other = tool(rrf_k=20), tool(rrf_k_constant=20)
    assert named.settings().search == other.settings().search
    assert (other.settings().search.rrf_k, other.settings().search.fusion) == (20, "rrf")
    off = tool(ranking={"ngram_dedup_enabled": False, "code_search_enabled": False, "disabled": ["mmr"]})
    assert off.settings().search.disabled == ("mmr", "code", "ngram_dedup")
    on = tool(ranking={"ngram_dedup_enabled": True, "code_search_enabled": True})
    assert on.settings().search == tool().settings().search


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"rrf_k": 20, "rrf_k_constant": 30}, "rrf_k and rrf_k_constant mean the same"),
        ({"rrf_k_constant": 0}, "greater than or equal to 1"),
        (
            {"ranking": {"code_search_enabled": True, "disabled": ["code"]}},
            "code_search_enabled is true, but disabled has code",
        ),
        ({"ranking": {"ngram_dedup_enabled": 0}}, "must be true or false"),
    ],
)
def test_other_names_that_cannot_be_meant_are_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        tool(**fields)
