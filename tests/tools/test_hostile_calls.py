"""Whatever a model sends, the answer is a text that says what is wrong, and it comes soon."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.ask.arguments import shown
from loccit.ask.catalog import SEARCH
from loccit.config.bounds import LONGEST_TEXT
from loccit.errors import UsageError
from loccit.tools import HierarchicalDocumentTool

LONG = "seal " * 400_000
DEEP = "[" * 100_000


def kind(value: object) -> str:
    """Name a test by the kind of its value: some cannot be written out."""
    return type(value).__name__


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("handbook", {"query": LONG}),
        ("handbook", {"query": "pump", "document": LONG}),
        ("handbook", {"query": "pump", "mode": LONG}),
        ("handbook", {"query": "pump", LONG: 1}),
        ("handbook", {"query": "pump", "filters": {"title": LONG}}),
        ("handbook", {"query": "pump", "filters": {LONG: "x"}}),
        ("handbook", {"query": "pump", "filters": {"tags": ["x"] * 100_000}}),
        ("handbook", {"query": "pump", "filters": {f"name{n}": n for n in range(1000)}}),
        ("handbook", {"query": "pump", "filters": DEEP}),
        ("handbook", {"query": "pump", **{f"name{n}": n for n in range(20_000)}}),
        ("handbook_section", {"reference": LONG}),
        ("handbook_definition", {"term": LONG}),
        (LONG, {"query": "pump"}),
        ("handbook", DEEP),
        ("handbook", '{"filters":' + '{"a":' * 50_000 + "1" + "}" * 50_001),
    ],
    ids=kind,
)
def test_what_is_huge_is_refused_in_few_words(
    tool: HierarchicalDocumentTool, function: str, arguments: Any
) -> None:
    answer = tool.call_sync(function, arguments)
    assert answer.startswith(("Error: ", "Not found. "))
    assert len(answer) < 1200


@pytest.mark.parametrize(
    "name", ("top_k", "token_budget", "min_score", "document", "filters", "mode", "query")
)
@pytest.mark.parametrize(
    "value",
    (10**9, 10**400, 10**5000, -(10**400), float("nan"), float("inf"), "1e999", "9" * 5000, b"x", object()),
    ids=kind,
)
def test_numbers_beyond_reckoning(tool: HierarchicalDocumentTool, name: str, value: object) -> None:
    answer = tool.call_sync("handbook", {"query": "pump", name: value})
    if name in ("top_k", "token_budget", "min_score"):
        assert answer.startswith(f"Error: handbook: {name} must be a number between ")


@pytest.mark.parametrize(
    "value",
    ({"a": 1}, [["a"]], [{"a": 1}], [None], 10**5000, float("nan"), object(), b"x", {"gte": "2024"}),
    ids=kind,
)
def test_a_filter_is_a_value_or_a_list_of_values(value: object) -> None:
    with pytest.raises(UsageError, match="filters must have a value or a list of values for 'year'"):
        SEARCH.read({"query": "x", "filters": {"year": value}})


def test_filters_that_are_meant() -> None:
    day = datetime.date(2024, 1, 1)
    filters = {"year": 2024, "draft": False, "type": ["pdf", "md"], "after": day, "score": 1.5}
    assert SEARCH.read({"query": "x", "filters": filters})["filters"] == filters


def test_only_some_of_many_unknown_arguments_are_named() -> None:
    with pytest.raises(UsageError) as refused:
        SEARCH.read({"query": "x", "colour": 1, "limitt": 3, **{f"a{n}": 1 for n in range(9)}})
    message = str(refused.value)
    assert "unknown argument 'colour'" in message and "(did you mean top_k?)" in message
    assert "and 6 more that are unknown" in message


def test_a_text_may_be_as_long_as_a_query() -> None:
    assert SEARCH.read({"query": "x" * LONGEST_TEXT})
    with pytest.raises(UsageError, match="query must have at most 10,000 characters, not 10,001"):
        SEARCH.read({"query": "x" * (LONGEST_TEXT + 1)})


def test_values_that_cannot_be_written_out_are_named_by_their_kind() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == "a very large list"
    assert shown("x" * 100) == "'" + "x" * 56 + "..."


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["query", "q", "top_k", "document", "filters", "type", "after", "min_score", "args", "ref"]
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["handbook", "handbook_section", "handbook_definition"]),
    st.dictionaries(NAMES | st.text(max_size=5), VALUES, max_size=4),
    st.booleans(),
)
def test_any_arguments_get_an_answer(
    tool: HierarchicalDocumentTool, name: str, arguments: dict[str, Any], as_json: bool
) -> None:
    answer = tool.call_sync(name, json.dumps(arguments) if as_json else arguments)
    assert isinstance(answer, str) and answer
