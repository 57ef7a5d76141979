"""Settings written as ``name=value``."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import pytest

from loccit.config import IndexSettings, SearchSettings, Settings
from loccit.config.overrides import changed_search, parse_settings
from loccit.errors import UsageError


@pytest.mark.parametrize(
    ("pair", "name", "value"),
    [
        ("top_k=3", "top_k", 3),
        (" top_k = 3 ", "top_k", 3),
        ("graph_weight=0.5", "graph_weight", 0.5),
        ("graph_weight=.5", "graph_weight", 0.5),
        ("graph_weight=1", "graph_weight", 1),
        ("mmr_enabled=true", "mmr_enabled", True),
        ("mmr_enabled=false", "mmr_enabled", False),
        ("disabled=graph,smoothing", "disabled", ("graph", "smoothing")),
        ("disabled= graph , smoothing ,", "disabled", ("graph", "smoothing")),
        ("disabled=", "disabled", ()),
        ("fusion=rrf", "fusion", "rrf"),
        ("rerank_model=tei:http://host/rerank?a=b", "rerank_model", "tei:http://host/rerank?a=b"),
        ('boosts={"title": 5}', "boosts", {"title": 5}),
    ],
)
def test_values_are_read_as_what_the_setting_is(pair: str, name: str, value: object) -> None:
    changed = changed_search(SearchSettings(), [pair])
    assert getattr(changed, name) == value
    assert type(getattr(changed, name)) is type(value)
    others = [item.name for item in fields(SearchSettings) if item.name != name]
    assert all(getattr(changed, other) == getattr(SearchSettings(), other) for other in others)
    assert parse_settings([pair]).search == changed


def test_a_setting_without_a_default_can_be_set() -> None:
    assert changed_search(SearchSettings(), ["min_score=0.4"]).min_score == 0.4


def test_the_last_of_several_holds_and_others_stay() -> None:
    changed = changed_search(SearchSettings(top_k=7, fusion="rrf"), ["mmr_lambda=0.2", "mmr_lambda=0.9"])
    assert (changed.top_k, changed.fusion, changed.mmr_lambda) == (7, "rrf", 0.9)
    assert changed_search(changed, []) == changed


def test_settings_of_the_index_and_of_the_search_are_told_apart() -> None:
    settings = parse_settings(["max_chunk_tokens=400", "fusion=rrf", "contextual_embeddings=false"])
    assert settings.index == IndexSettings(max_chunk_tokens=400, contextual_embeddings=False)
    assert settings.search == SearchSettings(fusion="rrf")
    assert parse_settings([]) == Settings(), "without settings of the index, it keeps its own"


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ("mmr", "'mmr' is not a setting; write name=value, such as fusion=rrf."),
        ("mmr=1", "Unknown setting 'mmr'; available: "),
        ("=1", "Unknown setting ''; available: "),
        ("mmr_enabled=yes", "mmr_enabled must be true or false, not 'yes'."),
        ("mmr_enabled=1", "mmr_enabled must be true or false, not '1'."),
        ("top_k=true", "top_k must be a number, not 'true'."),
        ("top_k=many", "top_k must be a number, not 'many'."),
        ("top_k=", "top_k must be a number, not ''."),
        ("top_k=0", "top_k must be between 1 and 100, not 0."),
        ("graph_weight=NaN", "graph_weight must be "),
        ("boosts=title", "boosts must be a JSON object, not 'title'."),
        ("disabled=graph,magic", "Unknown stage magic; available: spelling,"),
        ("search_mode=magic", "search_mode must be one of hybrid,"),
    ],
)
@pytest.mark.parametrize("read", [parse_settings, lambda pairs: changed_search(SearchSettings(), pairs)])
def test_what_is_wrong_is_said(read: Any, pair: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        read([pair])
    assert str(refused.value).startswith(says)


def test_a_search_has_no_settings_of_the_index() -> None:
    with pytest.raises(UsageError, match="Unknown setting 'max_chunk_tokens'"):
        changed_search(SearchSettings(), ["max_chunk_tokens=400"])


def test_weights_that_do_not_add_up_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="loccit"):
        settings = parse_settings(["semantic_weight=0.11", "keyword_weight=0.13", "exact_weight=0.13"]).search
        for count in range(1, 6):
            settings = changed_search(settings, [f"top_k={count}"]).with_overrides(search_mode="hybrid")
    assert [record.message for record in caplog.records] == [
        "The weights of hybrid search add up to 0.37, not 1."
    ]


def test_other_names_of_settings() -> None:
    changed = changed_search(
        SearchSettings(disabled=("mmr", "code")), ["rrf_k_constant=20", "code_search_enabled=true"]
    )
    assert (changed.rrf_k, changed.disabled) == (20, ("mmr",))
    changed = changed_search(SearchSettings(disabled=("mmr",)), ["ngram_dedup_enabled=false"])
    assert changed.disabled == ("mmr", "ngram_dedup")
    assert parse_settings(["code_search_enabled=false"]).search.disabled == ("code",)
    with pytest.raises(UsageError, match="ngram_dedup_enabled must be true or false, not 'no'"):
        parse_settings(["ngram_dedup_enabled=no"])


def test_an_overlap_as_long_as_a_chunk_is_refused() -> None:
    with pytest.raises(
        UsageError, match="chunk_overlap must be less than max_chunk_tokens, which is 100, not 150"
    ):
        parse_settings(["max_chunk_tokens=100", "chunk_overlap=150"])
