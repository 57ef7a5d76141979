"""Answers keep to the token budget, whatever it is, and say when they were cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.conftest import index_registry

from pinakes.embedding import load_tokenizer
from pinakes.server.mcp.tools import call
from pinakes.server.services import LibraryRegistry
from pinakes.tools.fit import Tokens, fit_items, fit_quoted, size, squeezed

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


def test_structured_values_are_held_to_the_budget_too(registry: LibraryRegistry) -> None:
    large = call(
        registry, "search_documents", {"query": "pump revolutions", "top_k": 20, "token_budget": 50_000}
    )
    small = call(
        registry, "search_documents", {"query": "pump revolutions", "top_k": 20, "token_budget": 1000}
    )
    assert size(large.data) > 3000
    assert size(small.data) <= 1000
    assert small.data["truncated"]
    tiny = call(registry, "search_documents", {"query": "pump revolutions", "token_budget": 200})
    assert len(tiny.data["results"]) == 1, "the best result is always there"


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
    fitted = fit_items(data, "items", budget, ("b",))
    kept = len(fitted["items"])
    assert [item["a"] for item in fitted["items"]] == [item["a"] for item in items[:kept]]
    assert bool(items) <= bool(kept)
    assert fitted.get("truncated", False) == (kept < len(items))
    assert size(fitted) <= budget + 10 or kept <= 1
