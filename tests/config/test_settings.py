"""Settings: what is refused, what is warned of, and what is said then."""

from __future__ import annotations

import logging
import re
from dataclasses import asdict
from typing import Any

import pytest

from loccit.config import IndexSettings, SearchSettings, Settings
from loccit.config.settings import STAGES, _warn_of_weights, describe
from loccit.errors import UsageError

# Every number that may be set, with its bounds.
SEARCH_BOUNDS: dict[str, tuple[float, float]] = {
    "top_k": (1, 100),
    "min_score": (0.0, 1.0),
    "semantic_weight": (0.0, 1.0),
    "keyword_weight": (0.0, 1.0),
    "exact_weight": (0.0, 1.0),
    "rrf_k": (1, 1000),
    "candidates": (100, 10_000),
    "query_expansion_terms": (1, 20),
    "code_search_weight": (0.0, 1.0),
    "graph_weight": (0.0, 1.0),
    "recency_bias": (0.0, 1.0),
    "document_weight": (0.0, 10.0),
    "section_weight": (0.0, 10.0),
    "min_confidence": (0.0, 1.0),
    "ngram_dedup_threshold": (0.1, 1.0),
    "dedup_similarity_threshold": (0.1, 1.0),
    "mmr_lambda": (0.0, 1.0),
    "max_chunks_per_doc": (0, 100),
    "rerank_top_n": (1, 200),
    "rerank_timeout": (0.05, 300.0),
    "focus_threshold": (0.0, 1.0),
    "parent_max_tokens": (100, 100_000),
}
INDEX_BOUNDS: dict[str, tuple[float, float]] = {
    "max_chunk_tokens": (100, 2000),
    "chunk_overlap": (0, 200),
    "context_max_tokens": (50, 200),
    "context_concurrency": (1, 50),
    "context_window_tokens": (1000, 2_000_000),
    "context_max_cost": (0.0, 100_000.0),
    "ocr_max_pages": (1, 100_000),
}
BOUNDS = [(SearchSettings, name, *bounds) for name, bounds in SEARCH_BOUNDS.items()]
BOUNDS += [(IndexSettings, name, *bounds) for name, bounds in INDEX_BOUNDS.items()]  # type: ignore[misc]


@pytest.mark.parametrize(("kind", "name", "low", "high"), BOUNDS)
def test_numbers_have_bounds(kind: Any, name: str, low: float, high: float) -> None:
    for value in (low, high):
        assert getattr(kind(**{name: value}), name) == value
    step = 1 if isinstance(low, int) else 0.01
    for value in (low - step, high + step, float("nan"), float("inf")):
        with pytest.raises(UsageError, match=re.escape(f"{name} must be between {low:g} and {high:g}, not ")):
            kind(**{name: value})
    for wrong in ("3", True, [1]):
        with pytest.raises(UsageError, match=f"{name} must be a number"):
            kind(**{name: wrong})


def test_every_number_is_checked() -> None:
    """A new setting needs bounds, and a line above."""
    for kind, known in ((SearchSettings, SEARCH_BOUNDS), (IndexSettings, INDEX_BOUNDS)):
        values = Settings(IndexSettings(), SearchSettings()).to_dict()[
            "search" if kind is SearchSettings else "index"
        ]
        numbers = {
            name
            for name, value in values.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        }
        assert numbers <= known.keys()
        assert {name: rule.bounds for name, rule in describe(kind).items() if rule.bounds} == known


def test_an_index_of_before_opens_with_the_nearest_number() -> None:
    stored = {
        **asdict(IndexSettings(chunk_overlap=20)),
        "context_max_tokens": 1000,
        "context_concurrency": 100,
    }
    expected = IndexSettings(chunk_overlap=20, context_max_tokens=200, context_concurrency=50)
    assert IndexSettings.from_stored(stored) == expected
    assert IndexSettings.from_stored({**stored, "context_max_tokens": 20}).context_max_tokens == 50
    assert IndexSettings.from_stored({}) == IndexSettings()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_chunk_tokens", 300.5, "whole number"),
        ("extract_definitions", "no", "true or false"),
        ("ocr", "sometimes", "one of auto, off, force"),
    ],
)
def test_settings_of_an_index_of_the_wrong_kind_are_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must be.*{said}"):
        IndexSettings(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [IndexSettings, SearchSettings])
def test_every_setting_says_what_it_does(kind: Any) -> None:
    for name, known in describe(kind).items():
        assert known.help.endswith("."), name
        assert known.range(), name
        assert getattr(kind(), name) == known.default


def test_a_setting_is_said_in_one_line() -> None:
    said = {name: known.said() for name, known in describe(IndexSettings).items()}
    assert said["max_chunk_tokens"] == "Maximum length of a chunk, in tokens. 100 to 2000; 800 by default."
    assert said["context_window_tokens"].endswith("1000 to 2,000,000; 4000 by default.")
    assert said["extract_definitions"] == "Extract definitions of terms. On by default."
    assert said["chunking_strategy"].endswith("One of structure, token; structure by default.")
    assert said["embedding_model"].endswith("the default one if unset.")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"search_mode": "magic"},
            "search_mode must be one of hybrid, semantic, keyword, exact, not 'magic'.",
        ),
        ({"fusion": "sum"}, "fusion must be one of scores, rrf, not 'sum'."),
        ({"boosts": {"title": 101}}, "the boost of title must be between 0 and 100, not 101."),
        ({"boosts": {"title": "3"}}, "the boost of title must be a number between 0 and 100, not '3'."),
        ({"top_k": 2.5}, "top_k must be a whole number, not 2.5."),
        (
            {"semantic_weight": 0.0, "keyword_weight": 0.0, "exact_weight": 0.0},
            "At least one of the weights must be above 0 in hybrid mode.",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        SearchSettings(**settings)
    assert str(refused.value) == says


def test_an_unknown_stage_is_refused_with_the_list() -> None:
    with pytest.raises(UsageError) as refused:
        SearchSettings(disabled=("graph", "magic", "alchemy"))
    assert str(refused.value) == f"Unknown stage alchemy, magic; available: {', '.join(STAGES)}."


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_can_be_named(stage: str) -> None:
    settings = SearchSettings(disabled=(stage,))
    assert not settings.uses(stage)
    assert all(settings.uses(other) for other in STAGES if other != stage)
    assert SearchSettings().uses(stage)


def test_weights_that_do_not_add_up_to_1_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_weights.cache_clear()
    with caplog.at_level(logging.WARNING, logger="loccit"):
        for _ in range(3):
            SearchSettings(semantic_weight=0.5, keyword_weight=0.5, exact_weight=0.5)
    assert [record.message for record in caplog.records] == [
        "The weights of hybrid search add up to 1.50, not 1."
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"semantic_weight": 0.33, "keyword_weight": 0.33, "exact_weight": 0.34},
        {"semantic_weight": 0.7, "keyword_weight": 0.2, "exact_weight": 0.1},
        # In a single mode the weights have no say.
        {"search_mode": "keyword", "semantic_weight": 0.0, "keyword_weight": 0.0, "exact_weight": 0.0},
    ],
)
def test_weights_that_do_are_not(caplog: pytest.LogCaptureFixture, settings: dict[str, Any]) -> None:
    _warn_of_weights.cache_clear()
    with caplog.at_level(logging.WARNING, logger="loccit"):
        SearchSettings(**settings)
    assert not caplog.records


def test_settings_come_from_plain_values() -> None:
    given = {"index": {"max_chunk_tokens": 300}, "search": {"top_k": 3, "disabled": ["graph"]}}
    settings = Settings.from_dict(given)
    assert settings.index and settings.index.max_chunk_tokens == 300
    assert settings.search.top_k == 3 and not settings.search.uses("graph")
    assert Settings.from_dict({}) == Settings()
    again = Settings.from_dict(Settings(IndexSettings(), SearchSettings(top_k=7)).to_dict())
    assert again == Settings(IndexSettings(), SearchSettings(top_k=7))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"serach": {}}, "Unknown settings serach; available: index and search."),
        (
            {"search": {"semantic_wieght": 1.0}},
            "Unknown setting semantic_wieght; available: boosts, candidates,",
        ),
        (
            {"index": {"chunk_size": 3}},
            "Unknown setting chunk_size; available: chunk_overlap, chunking_strategy,",
        ),
        ({"search": {"disabled": ["magic"]}}, "Unknown stage magic; available: spelling, expansion,"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(data: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        Settings.from_dict(data)
    assert str(refused.value).startswith(says)


def test_overrides_leave_out_what_is_not_given() -> None:
    settings = SearchSettings(top_k=7)
    assert settings.with_overrides(top_k=None, search_mode=None) == settings
    assert settings.with_overrides(search_mode="keyword").top_k == 7
    assert settings.with_overrides(rerank_enabled=False).rerank_enabled is False
    with pytest.raises(UsageError):
        settings.with_overrides(top_k=0)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("candidates", 150.5, "whole number"),
        ("rerank_top_n", 2.5, "whole number"),
        ("max_chunks_per_doc", 1.5, "whole number"),
        ("mmr_enabled", "no", "true or false"),
        ("disabled", "graph", "list of stages"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SearchSettings(**{name: value})  # type: ignore[arg-type]


def test_an_overlap_as_long_as_a_chunk_is_refused() -> None:
    for overlap in (100, 150, 200):
        with pytest.raises(UsageError) as refused:
            IndexSettings(max_chunk_tokens=100, chunk_overlap=overlap)
        assert str(refused.value) == (
            f"chunk_overlap must be less than max_chunk_tokens, which is 100, not {overlap}."
        )
    assert IndexSettings(max_chunk_tokens=100, chunk_overlap=99).chunk_overlap == 99
    before = {**asdict(IndexSettings()), "max_chunk_tokens": 120, "chunk_overlap": 200}
    assert IndexSettings.from_stored(before).chunk_overlap == 119, "an index that had it opens"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"rrf_k_constant": 20}, SearchSettings(rrf_k=20)),
        ({"rrf_k_constant": 20, "rrf_k": 20}, SearchSettings(rrf_k=20)),
        ({"ngram_dedup_enabled": False}, SearchSettings(disabled=("ngram_dedup",))),
        ({"code_search_enabled": False}, SearchSettings(disabled=("code",))),
        (
            {"code_search_enabled": False, "ngram_dedup_enabled": False, "disabled": ["mmr"]},
            SearchSettings(disabled=("mmr", "code", "ngram_dedup")),
        ),
        ({"code_search_enabled": False, "disabled": ["code"]}, SearchSettings(disabled=("code",))),
        ({"code_search_enabled": True, "ngram_dedup_enabled": True}, SearchSettings()),
    ],
)
def test_other_names_of_settings(given: dict[str, Any], expected: SearchSettings) -> None:
    assert Settings.from_dict({"search": given}).search == expected


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rrf_k_constant": 20, "rrf_k": 30}, "rrf_k_constant and rrf_k mean the same: give only one."),
        ({"rrf_k_constant": 0}, "rrf_k must be between 1 and 1000, not 0."),
        ({"ngram_dedup_enabled": "no"}, "ngram_dedup_enabled must be true or false, not 'no'."),
        (
            {"code_search_enabled": True, "disabled": ["code"]},
            "code_search_enabled is true, but disabled has code: give only one.",
        ),
    ],
)
def test_other_names_that_cannot_be_meant_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        Settings.from_dict({"search": given})
    assert str(refused.value) == says
