"""Answers stay inside their token budget, frame included, and say when they were cut."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.conftest import ENGLISH

from loccit.ask.fit import Tokens
from loccit.ask.relative import relative
from loccit.ask.render import format_definition, section_text
from loccit.model import DefineResponse, Definition, SearchResponse, SearchResult, TermDefinition
from loccit.search.present.respond import fit_response, longest_fit
from loccit.tools import HierarchicalDocumentTool

CUT = "Cut to fit the token budget"
QUERIES = (
    "duties of the master of a vessel",
    "dry running",
    '"reasonable best efforts"',
    "Section 999",
    "Hafen",
)
BUDGETS = (100, 131, 200, 333, 500, 1000, 2000, 5000)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("query", QUERIES)
def test_a_search_fits_and_says_when_it_was_cut(
    tool: HierarchicalDocumentTool, query: str, budget: int
) -> None:
    whole = relative(tool.search_sync(query), tool.library.root)
    answer = tool.call_sync("handbook", {"query": query, "token_budget": budget})
    assert tool.count_tokens(answer) <= budget
    if tool.count_tokens(whole.format()) <= budget:
        assert answer == whole.format() and CUT not in answer
    else:
        assert CUT in answer or "No result fits" in answer or not whole.results


@pytest.mark.parametrize("budget", (500, 1000, 2000))
def test_the_budget_is_used(tool: HierarchicalDocumentTool, budget: int) -> None:
    answer = tool.call_sync("handbook", {"query": "duties of the master of a vessel", "token_budget": budget})
    assert tool.count_tokens(answer) > 0.7 * budget


@pytest.mark.parametrize("query", QUERIES)
def test_little_is_said_beside_the_text_of_the_documents(tool: HierarchicalDocumentTool, query: str) -> None:
    """Some words around all, and for each passage its id, lines, and path or section where these are not clear."""
    found = relative(tool.search_sync(query, top_k=5), tool.library.root)
    quoted = sum(tool.count_tokens(result.content.strip()) for result in found.results)
    quoted += sum(
        tool.count_tokens(entry.definition_text)
        for result in found.with_definitions_once()
        for entry in result.definitions_context
    )
    besides = tool.count_tokens(found.format()) - quoted - tool.count_tokens(found.note)
    assert besides <= 65 + 36 * len(found.results)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("reference", ("4.2.2", "Harbour Safety Act 2021", "Section 102", "nowhere at all"))
def test_a_section_fits(tool: HierarchicalDocumentTool, reference: str, budget: int) -> None:
    answer = tool.call_sync("handbook_section", {"reference": reference, "token_budget": budget})
    assert tool.count_tokens(answer) <= budget


def test_a_long_section_names_its_parts_when_it_is_cut(tool: HierarchicalDocumentTool) -> None:
    whole = tool.call_sync("handbook_section", {"reference": "4.2", "document": "pump-manual.md"})
    answer = tool.call_sync(
        "handbook_section", {"reference": "4.2", "document": "pump-manual.md", "token_budget": 400}
    )
    assert CUT not in whole and CUT in answer
    assert "Parts:" in answer and "4.2.2 Flow and dry running [" in answer
    on = re.search(r"lines (\d+)–\d+ of \d+–\d+ shown: read on with offset=(\d+)", answer)
    assert on
    rest = tool.call_sync(
        "handbook_section", {"reference": "4.2", "document": "pump-manual.md", "offset": int(on[2])}
    )
    text = tool.get_section_sync("4.2", document="pump-manual.md").text
    assert text[: int(on[2])].strip() in answer and text[int(on[2]) :].strip() in rest


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_definition_fits(tool: HierarchicalDocumentTool, budget: int) -> None:
    answer = tool.call_sync("handbook_definition", {"term": "vessel", "token_budget": budget})
    assert tool.count_tokens(answer) <= budget
    assert (CUT in answer or "does not fit" in answer) == (budget < 200)


def test_the_configured_budget_holds_for_answers_and_responses(make: Any, docs: Any) -> None:
    tool = make(token_budget=120)
    for document in ("a", "b", "c"):
        (docs / f"{document}.md").write_text(
            f"{ENGLISH}# {document}\n\n" + "The wick burns low in the lamp. " * 60
        )
    assert tool.count_tokens(tool.call_sync("notes", {"query": "lamp"})) <= 120
    response = tool.search_sync("lamp")
    assert response.truncated and tool.count_tokens(response.format()) <= 120
    assert tool.count_tokens(tool.call_sync("notes", {"query": "lamp", "token_budget": 400})) > 120


def words(text: str) -> int:
    return len(text.replace("-", " ").replace(">", " ").split())


RESULTS = st.builds(
    SearchResult,
    rank=st.integers(1, 9),
    chunk_id=st.text(max_size=10),
    content=st.text("ab \n…<>-\u00df\U0001f600", max_size=400),
    fused_score=st.floats(0, 1),
    source_path=st.text(max_size=20),
    parent_chain=st.lists(st.text(max_size=30), max_size=3),
    section_id=st.text(max_size=8),
    definitions_context=st.lists(st.builds(Definition, *[st.text(max_size=30)] * 5), max_size=2),
)


@settings(deadline=None)
@given(
    st.lists(RESULTS, max_size=5),
    st.text(max_size=200),
    st.integers(40, 400),
    st.sampled_from([words, len]),
)
def test_any_response_fits(results: list[SearchResult], note: str, budget: int, count: Any) -> None:
    budget *= 6 if count is len else 1
    response = SearchResponse("q", "hybrid", results, 0.5, note=note)
    fitted = fit_response(response, budget, count)
    assert count(fitted.format()) <= budget
    assert sum(count(result.format()) for result in fitted.results) <= budget
    assert len(fitted.results) <= len(results)
    for shown, given_ in zip(fitted.results, results, strict=False):
        assert given_.content.startswith(shown.content.removesuffix("…").rstrip())
    if fitted.format() != response.format():
        assert fitted.truncated or fitted.note != note


@settings(deadline=None)
@given(st.lists(st.text(max_size=120), min_size=1, max_size=4), st.integers(60, 300))
def test_any_definition_fits(texts: list[str], budget: int) -> None:
    entries = [
        TermDefinition(Definition(f"{n}.md", "t", "t", text, ""), "T", []) for n, text in enumerate(texts)
    ]
    assert words(format_definition(DefineResponse("t", entries), budget, words)) <= budget


@given(st.lists(st.text(max_size=60), max_size=20), st.integers(10, 200))
def test_terms_that_are_near_fit(near: list[str], budget: int) -> None:
    answer = format_definition(DefineResponse("t", [], near), budget, words)
    assert words(answer) <= budget
    assert answer.startswith("No document defines this term.")
    assert answer.count("<quote-") == answer.count("</quote-")


@given(st.text("ab ", max_size=300), st.integers(1, 80))
def test_the_longest_beginning_that_fits_is_found(text: str, budget: int) -> None:
    found = longest_fit(text, lambda part: part, budget, len)
    assert len(found) <= budget
    assert text.startswith(found.removesuffix(" …"))
    if len(text) <= budget:
        assert found == text


def test_a_large_section_is_cut_without_counting_it_over_and_over(tool: HierarchicalDocumentTool) -> None:
    view = replace(tool.get_section_sync("4.2.2"), text="The pump runs. " * 200_000, children=[])
    counted = 0

    class Counting(Tokens):
        def count(self, text: str) -> int:
            nonlocal counted
            counted += len(text)
            return super().count(text)

    answer = section_text(view, 0, 1000, Counting(tool.library.tokenizer)).text
    assert 900 <= tool.count_tokens(answer) <= 1000
    assert counted < len(view.text) * 2
