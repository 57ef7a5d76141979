from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loccit.ask.catalog import TOOLS, find_tool
from loccit.errors import UsageError


def normalize(tool: str, given: dict[str, object]) -> dict[str, Any]:
    return find_tool(tool).read(given)


VALUES: dict[str, Any] = {
    "string": "oil lamps",
    "integer": 100,
    "number": 0.5,
    "boolean": True,
    "object": {"type": "pdf"},
    "array": ["oil lamps"],
}


@pytest.mark.parametrize(
    ("tool", "argument", "alias"),
    [
        (tool, item, alias)
        for tool, known in TOOLS.items()
        for item in known.takes
        for alias in item.aliases.split()
    ],
)
def test_every_alias_means_its_argument(tool: str, argument: Any, alias: str) -> None:
    if argument.name == "depth":
        value: Any = 3
    else:
        value = argument.choices[0] if argument.choices else VALUES[argument.type]
    required = {item.name: "x" for item in TOOLS[tool].takes if item.required and item is not argument}
    assert normalize(tool, {**required, alias: value}) == {**required, argument.name: value}


def test_no_alias_means_two_arguments_of_one_tool() -> None:
    for tool, known in TOOLS.items():
        names = [name for item in known.takes for name in (item.name, *item.aliases.split())]
        assert len(names) == len(set(names)), tool


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"q": "x", "maxResults": "3"}, {"query": "x", "top_k": 3}),
        ({"Query": " x ", "top-k": 3.0}, {"query": "x", "top_k": 3}),
        ({"query": ["oil", "lamps"]}, {"query": "oil lamps"}),
        ({"query": "x", "top_k": None, "mode": "", "document": " ", "filters": {}}, {"query": "x"}),
        ({"query": "x", "search_type": "BM25"}, {"query": "x", "mode": "keyword"}),
        ({"query": "x", "file_type": "pdf", "since": "2024"}, {"query": "x", "filters": {"type": "pdf", "after": "2024"}}),
        ({"query": "x", "filters": '{"type": "pdf"}'}, {"query": "x", "filters": {"type": "pdf"}}),
        ({"query": "x", "filter": "type=pdf"}, {"query": "x", "filters": {"type": "pdf"}}),
        ({"arguments": {"q": "x"}}, {"query": "x"}),
        ({"query": "x", "text": "x"}, {"query": "x"}),
        ({"query": "x", "min_score": "0.25"}, {"query": "x", "min_score": 0.25}),
    ],
)  # fmt: skip
def test_what_models_write_is_understood(given: dict[str, object], meant: dict[str, object]) -> None:
    assert normalize("search_documents", given) == meant


def test_a_section_number_may_come_as_a_number() -> None:
    assert normalize("read_section", {"section": 4.2}) == {"reference": "4.2"}


def test_switches_may_come_as_words() -> None:
    assert normalize("list_outline", {"clauses": "yes"}) == {"clauses": True}


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("search_documents", {}, "query is missing"),
        ("search_documents", {"query": "  "}, "query is missing"),
        ("search_documents", {"query": "x", "colour": "red"}, "unknown argument 'colour'"),
        ("search_documents", {"query": "x", "topp_k": 3}, "did you mean top_k?"),
        ("search_documents", {"query": "x", "k": 1000}, "k must be a number between 1 and 100, not 1000"),
        ("search_documents", {"query": "x", "k": 2.5}, "k must be a whole number"),
        ("search_documents", {"query": "x", "k": True}, "k must be a number"),
        ("search_documents", {"query": "x", "k": "many"}, "k must be a number"),
        ("search_documents", {"query": "x", "mode": "magic"}, "hybrid, semantic, keyword, exact"),
        ("search_documents", {"query": {"a": 1}}, "query must be a text"),
        ("search_documents", {"query": "x", "filters": 3}, 'such as {"type": "pdf"}'),
        ("search_documents", {"query": "x", "q": "y"}, "give query once"),
        ("search_documents", {"query": "x", "token_budget": 10}, "between 100 and 1000000"),
        ("define_term", {"document": "a.md"}, "term is missing"),
        ("list_outline", {"clauses": "perhaps"}, "true or false"),
        ("index_status", {"x": 1}, "It takes no arguments."),
    ],
)
def test_what_is_wrong_is_said_with_what_is_right(tool: str, given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize(tool, given)
    assert said in str(caught.value)
    for argument in TOOLS[tool].takes:
        assert argument.name in str(caught.value)


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        normalize("search_documents", {"colour": 1, "k": 0})
    for fault in ("colour", "k must be", "query is missing"):
        assert fault in str(caught.value)


def test_an_unknown_tool_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="search_documents, read_section"):
        normalize("fetch", {})


@pytest.mark.parametrize("tool", TOOLS)
def test_schemas_offer_only_the_right_names(tool: str) -> None:
    schema = TOOLS[tool].parameters()
    assert list(schema["properties"]) == [item.name for item in TOOLS[tool].takes]
    assert schema["required"] == [item.name for item in TOOLS[tool].takes if item.required]
    assert all(entry["type"] for entry in schema["properties"].values())


# What these mean their names say to whoever has ever called a tool.
PLAIN = {"top_k", "limit", "depth", "token_budget"}


def test_every_argument_is_explained() -> None:
    """By a description of its own or of the same argument before, by its choices or bounds, or by what the tool says it does."""
    told = PLAIN
    for name, known in TOOLS.items():
        for argument in known.takes:
            explained = argument.brief or argument.choices or argument.bounds
            if explained or argument.name in known.description.lower():
                told = told | {argument.name}
            assert argument.name in told, f"{argument.name} of {name}"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["query", "q", "top_k", "k", "filters", "mode", "type", "input", "clauses"]
) | st.text(max_size=8)


@given(st.sampled_from(list(TOOLS)), st.dictionaries(NAMES, JSON, max_size=5))
@example("list_documents", {"type": [None]})
def test_no_arguments_break_it(tool: str, given: dict[str, object]) -> None:
    try:
        meant = normalize(tool, given)
    except UsageError as error:
        assert str(error)
    else:
        assert set(meant) <= {item.name for item in TOOLS[tool].takes}
        assert normalize(tool, meant) == meant
