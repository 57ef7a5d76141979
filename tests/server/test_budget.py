"""Answers keep to the token budget, whatever it is, and say when they were cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.conftest import index_registry

from loccit.ask.fit import Limit, Tokens, fit_items, fit_quoted, fit_texts, squeezed
from loccit.models.embedding import load_tokenizer
from loccit.server.mcp.calls import call, tokens_of
from loccit.server.services import LibraryRegistry

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_documents", {"query": "pump revolutions", "top_k": 20}),
    ("search_documents", {"query": "nothing of the kind xyzzy", "mode": "exact"}),
    ("read_section", {"reference": "Pump manual"}),
    ("read_section", {"reference": "Section 21"}),
    ("define_term", {"term": "vessel"}),
    ("define_term", {"term": "vesel"}),
    ("list_outline", {"clauses": True}),
    ("follow_references", {"reference": "Section 21"}),
    ("list_documents", {}),
    ("find_all", {"pattern": "seal"}),
    ("find_all", {"pattern": "no such words"}),
    ("verify_quotes", {"quotations": [f"check seal {number} before every stop" for number in range(12)]}),
    ("compare", {"old": "act.md", "new": "manual.md"}),
    ("list_obligations", {}),
]


@pytest.fixture(scope="module")
def registry(index_folder: Path) -> Iterator[LibraryRegistry]:
    made = index_registry(index_folder)
    yield made
    made.close()


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
@pytest.mark.parametrize("budget", [100, 150, 400, 1500, 20_000])
def test_no_answer_is_longer_than_its_budget(
    registry: LibraryRegistry, tool: str, arguments: dict[str, Any], budget: int
) -> None:
    tokens = Tokens(registry.choose(None)[0].ask(lambda library: library.tokenizer))
    answer = call(registry, tool, {**arguments, "token_budget": budget})
    assert tokens.count(answer.text) <= budget * 1.02
    unlimited = call(registry, tool, {**arguments, "token_budget": 1_000_000})
    if tokens.count(unlimited.text) > budget:
        says_so = ("ut to fit", "fit into", "fits into")
        assert answer.text.endswith("…") or any(text in answer.text for text in says_so), answer.text
    else:
        assert answer.text == unlimited.text


def test_a_budget_is_used_and_not_only_kept(registry: LibraryRegistry) -> None:
    tokens = Tokens(registry.choose(None)[0].ask(lambda library: library.tokenizer))
    for tool, arguments in CALLS[:1] + CALLS[2:3]:
        answer = call(registry, tool, {**arguments, "token_budget": 900})
        assert tokens.count(answer.text) > 700, answer.text


def test_an_answer_without_a_budget_gets_the_server_s(index_folder: Path) -> None:
    registry = index_registry(index_folder, token_budget=300)
    tokens = Tokens(registry.choose(None)[0].ask(lambda library: library.tokenizer))
    assert tokens.count(call(registry, "read_section", {"reference": "Pump manual"}).text) <= 300
    assert (
        tokens.count(call(registry, "read_section", {"reference": "Pump manual", "token_budget": 900}).text)
        > 300
    )
    registry.close()


@pytest.mark.parametrize("budget", [300, 600, 1000, 2000, 50_000])
@pytest.mark.parametrize("query", ["pump revolutions", "report a collision", "gale warning"])
def test_values_have_every_result_that_the_text_has_within_the_same_budget(
    registry: LibraryRegistry, query: str, budget: int
) -> None:
    tokens = Tokens(registry.choose(None)[0].ask(lambda library: library.tokenizer))
    answer = call(registry, "search_documents", {"query": query, "top_k": 20, "token_budget": budget})
    told = re.findall(r"^\w+\[(\d+)\] ", answer.text, re.MULTILINE)
    assert [str(result["rank"]) for result in answer.data["results"]] == told
    assert Limit(budget, tokens).allows(answer.data)
    assert all(result["content"] for result in answer.data["results"])


@pytest.mark.parametrize("budget", [400, 600, 1000, 2000, 50_000])
@pytest.mark.parametrize(
    "given",
    [
        {"reference": "Pump manual"},
        {"document": "manual.md"},
        {"reference": "Section 21, Section 22, Section 11", "with_references": True},
        {"reference": ["Section 21", "Chapter 2", "Section 99", "Section 10"]},
    ],
)
def test_values_of_sections_keep_to_the_budget_and_say_where_to_go_on(
    registry: LibraryRegistry, given: dict[str, Any], budget: int
) -> None:
    limit = Limit(budget, tokens_of(registry.choose(None)[0]))
    data = call(registry, "read_section", {**given, "token_budget": budget}).data
    assert limit.allows(data), limit.size(data)
    whole = call(registry, "read_section", {**given, "token_budget": 1_000_000}).data
    assert not whole["truncated"]
    assert data["truncated"] == (limit.size(whole) > budget)
    parts, wholes = (found.get("sections", [found]) for found in (data, whole))
    assert [part["place_id"] for part in parts] == [part["place_id"] for part in wholes]
    for part, asked in zip(parts, wholes, strict=True):
        text = part["text"]
        if "next_offset" in part:
            on = {"reference": part["place_id"], "offset": part["next_offset"]}
            text += call(registry, "read_section", {**on, "token_budget": 1_000_000}).data["text"]
        assert text == asked["text"]


@pytest.mark.parametrize("budget", [400, 600, 1000, 2000, 50_000])
def test_values_of_references_keep_to_the_budget(registry: LibraryRegistry, budget: int) -> None:
    limit = Limit(budget, tokens_of(registry.choose(None)[0]))
    given = {"reference": ["Section 21", "Section 22", "Section 11", "Section 10"]}
    data = call(registry, "follow_references", {**given, "token_budget": budget}).data
    assert limit.allows(data), limit.size(data)
    whole = call(registry, "follow_references", {**given, "token_budget": 1_000_000}).data
    assert data["truncated"] == (limit.size(whole) > budget)
    labels = [one["section"]["section_label"] for one in (data, *data["also"])]
    # Where to cite all of them takes more than 400 tokens.
    assert labels == given["reference"][: None if budget > 400 else len(labels)]


def test_paths_are_relative_to_the_root_of_the_library_and_are_understood(
    registry: LibraryRegistry, index_folder: Path
) -> None:
    for tool, arguments in CALLS:
        answer = call(registry, tool, arguments)
        assert str(index_folder) not in answer.text + str(answer.data), tool
    found = call(registry, "search_documents", {"query": "gale warning"}).data["results"][0]
    assert found["source_path"] == "docs/act.md"
    given = {"reference": found["section_label"], "document": found["source_path"]}
    assert "gale warning" in call(registry, "read_section", given).text


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=200), max_size=12),
    st.integers(min_value=100, max_value=600),
)
def test_quoted_parts_fit_whatever_they_hold(parts: list[str], budget: int) -> None:
    tokens = Tokens(load_tokenizer())
    fitted = fit_quoted(tokens, budget, "A list.", parts)
    assert tokens.count(fitted.text) <= budget
    assert fitted.complete == (fitted.kept == len(parts))
    if not fitted.complete:
        assert "Cut to fit" in fitted.text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=3000), st.integers(min_value=5, max_value=300))
def test_any_text_can_be_squeezed(text: str, budget: int) -> None:
    tokens = Tokens(load_tokenizer())
    short = squeezed(tokens, text, budget)
    assert tokens.count(short) <= budget
    if tokens.count(text) <= budget:
        assert short == text


@given(
    st.lists(st.fixed_dictionaries({"a": st.text(max_size=50), "b": st.text(max_size=50)}), max_size=9),
    st.integers(min_value=1, max_value=400),
)
def test_a_list_of_values_loses_its_end_and_says_so(items: list[dict[str, str]], budget: int) -> None:
    data = {"items": items, "note": "x"}
    limit = Limit(budget, Tokens(load_tokenizer()))
    fitted = fit_items(data, "items", limit, ("b",))
    kept = len(fitted["items"])
    assert [item["a"] for item in fitted["items"]] == [item["a"] for item in items[:kept]]
    assert bool(items) <= bool(kept)
    assert fitted.get("truncated", False) == (kept < len(items))
    assert limit.size(fitted) <= budget + 10 or kept <= 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=6),
    st.integers(min_value=60, max_value=600),
)
def test_the_longest_texts_are_cut_before_any_item_goes(texts: list[str], budget: int) -> None:
    limit = Limit(budget, Tokens(load_tokenizer()))
    data = {"items": [{"text": text} for text in texts], "truncated": False}
    fitted = fit_texts(data, "items", "text", limit)
    assert limit.allows(fitted) or len(fitted["items"]) == 1
    assert fitted["truncated"] == (fitted["items"] != data["items"])
    if len(fitted["items"]) == len(texts):
        for text, item in zip(texts, fitted["items"], strict=True):
            assert item["text"] == text or text.startswith(item["text"].removesuffix(" …"))
