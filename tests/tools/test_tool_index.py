"""ToolIndex: the right tools for a request, from every format, whatever happened to the list before."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.fakes import WordEmbedder
from tests.tools import tool_catalogue

from loccit.errors import UsageError
from loccit.models.embedding import Embedder, load_embedder
from loccit.tools.tool_index import MODES, ToolIndex
from loccit.tools.tool_sources import Tool, read_tools


@pytest.fixture(scope="module")
def model() -> Embedder:
    return load_embedder()


@pytest.fixture(scope="module")
def firm(model: Embedder) -> ToolIndex:
    return ToolIndex(tool_catalogue.tools(), embedder=model)


def names(index: ToolIndex, request: str, **options: Any) -> list[str]:
    return [match.name for match in index.search(request, **options)]


# -- finding ---------------------------------------------------------------------------------------------------


def found_within(index: ToolIndex, count: int, **options: Any) -> float:
    asked = tool_catalogue.requests()
    hits = [tool in names(index, request, top_k=count, **options) for request, tool in asked]
    return sum(hits) / len(asked)


def test_a_hundred_tools_and_natural_requests(firm: ToolIndex) -> None:
    assert len(firm) > 100
    assert found_within(firm, 1) >= 0.7
    assert found_within(firm, 5) >= 0.92


def test_each_mode_finds_what_it_can(firm: ToolIndex) -> None:
    semantic, bm25 = found_within(firm, 5, mode="semantic"), found_within(firm, 5, mode="bm25")
    assert semantic >= 0.87
    assert bm25 >= 0.7
    assert found_within(firm, 5, mode="hybrid") >= max(semantic, bm25)


def test_a_threshold_leaves_out_what_no_tool_is_for(firm: ToolIndex) -> None:
    assert [names(firm, request, threshold=0.1) for request in tool_catalogue.OFF_TOPIC] == [[]] * 8
    kept = [tool in names(firm, request, threshold=0.1) for request, tool in tool_catalogue.requests()]
    assert sum(kept) / len(kept) >= 0.75


def test_scores_descend_between_0_and_1(firm: ToolIndex) -> None:
    for mode in MODES:
        matches = firm.search("send the invoice to the customer by mail", mode=mode, top_k=50)
        scores = [match.score for match in matches]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


def test_a_match_says_which_way_found_it(firm: ToolIndex) -> None:
    (best,) = firm.search("resize a picture", top_k=1)
    assert (best.name, best.matched_by) == ("image_resize", ("bm25", "semantic"))
    assert best.keyword_score is not None and best.semantic_score is not None
    (best,) = firm.search("resize a picture", mode="bm25", top_k=1)
    assert (best.matched_by, best.semantic_score) == (("bm25",), None)


def test_parameters_count(firm: ToolIndex) -> None:
    assert names(firm, "tracking number", mode="bm25", top_k=1) == ["shipping_track"]
    assert "weather_current" in names(firm, "fahrenheit", mode="bm25")


def test_a_name_can_be_asked_for_however_it_is_written() -> None:
    index = ToolIndex([{"name": "mcp__hub__createPullRequest"}, {"name": "get-user-by-id"}], mode="bm25")
    assert names(index, "create a pull request", top_k=1) == ["mcp__hub__createPullRequest"]
    assert names(index, "mcp__hub__createPullRequest", top_k=1) == ["mcp__hub__createPullRequest"]
    assert names(index, "the user with this id", top_k=1) == ["get-user-by-id"]


def test_descriptions_in_another_language_are_stemmed_in_it() -> None:
    index = ToolIndex(
        [
            {
                "name": "a",
                "description": "Alle Rechnungen eines Kunden auflisten, die noch nicht bezahlt worden sind.",
            },
            {
                "name": "b",
                "description": "Eine Besprechung im Kalender anlegen und die Teilnehmer dazu einladen.",
            },
        ],
        mode="bm25",
    )
    assert names(index, "Rechnung für die Kundin") == ["a"]
    assert names(index, "Besprechungen") == ["b"]


# -- always ----------------------------------------------------------------------------------------------------


def test_tools_that_are_always_there(model: Embedder) -> None:
    index = ToolIndex(tool_catalogue.tools(), embedder=model, top_k=2, always=["calculator", "timer_start"])
    matches = index.search("lock the front door")
    assert matches[0].name == "home_lock_door"
    assert sum(not match.always for match in matches) == 2
    assert {match.name for match in matches if match.always} == {"calculator", "timer_start"}
    assert index.search("start a timer of ten minutes", always=["timer_start"])[0].name == "timer_start"
    assert all(not match.always for match in index.search("lock the door", always=[]))


def test_tools_that_are_always_there_pass_any_threshold(firm: ToolIndex) -> None:
    (match,) = firm.search("tell me a joke about penguins", threshold=0.9, always="notes_create")
    assert (match.name, match.score, match.always) == ("notes_create", 0.0, True)


def test_select_returns_what_was_given(firm: ToolIndex) -> None:
    listed = tool_catalogue.tools()
    (chosen,) = firm.select("resize a picture", top_k=1)
    assert chosen in listed
    assert chosen["inputSchema"]["properties"]


# -- the list changes ------------------------------------------------------------------------------------------


def test_only_new_tools_are_embedded() -> None:
    model = WordEmbedder()
    index = ToolIndex([{"name": "add_user"}, {"name": "drop_user"}], embedder=model)
    index.search("user")
    index.add({"name": "list_users"})
    index.search("user")
    index.remove("drop_user")
    index.search("user")
    assert sorted(model.texts) == ["add user", "drop user", "list users"]


def test_bm25_loads_no_model() -> None:
    model = WordEmbedder()
    ToolIndex([{"name": "add_user"}], mode="bm25", embedder=model).search("user")
    assert model.texts == []


def test_add_replaces_only_when_told() -> None:
    index = ToolIndex([{"name": "x", "description": "Feed the cat."}], mode="bm25")
    with pytest.raises(UsageError, match="x is used twice"):
        index.add([{"name": "y"}, {"name": "x", "description": "Walk the dog."}])
    assert list(index) == ["x"]
    index.add({"name": "x", "description": "Walk the dog."}, replace=True)
    assert (names(index, "dog"), names(index, "cat")) == (["x"], [])


WORDS = st.sampled_from("send read mail file order cat dog user list drop".split())
NAMES = st.sampled_from([f"tool_{letter}" for letter in "abcdef"])
STEPS = st.lists(st.tuples(NAMES, st.none() | st.lists(WORDS, max_size=4).map(" ".join)), max_size=12)


@settings(deadline=None, max_examples=40)
@given(STEPS, st.lists(WORDS, min_size=1, max_size=3).map(" ".join), st.sampled_from(MODES))
def test_any_history_ends_in_the_same_index(
    steps: list[tuple[str, str | None]], request: str, mode: str
) -> None:
    """``None`` takes a tool out, a text puts it in or changes it; searching in between changes nothing."""
    model = WordEmbedder()
    index, now = ToolIndex(embedder=model), dict[str, str]()
    for name, text in steps:
        if text is not None:
            index.add({"name": name, "description": text}, replace=True)
            now[name] = text
        elif now.pop(name, None) is not None:
            index.remove(name)
        index.search("cat", mode=mode)
    fresh = ToolIndex(
        [{"name": name, "description": text} for name, text in sorted(now.items(), reverse=True)],
        embedder=model,
    )
    assert index.search(request, mode=mode, top_k=10) == fresh.search(request, mode=mode, top_k=10)


def test_threads_may_share_an_index() -> None:
    index, problems = ToolIndex(embedder=WordEmbedder(), always=[]), list[BaseException]()

    def work(number: int) -> None:
        try:
            for turn in range(10):
                index.add({"name": f"t{number}_{turn}", "description": f"cat {number}"})
                assert f"t{number}_{turn}" in names(index, f"cat {number}", top_k=1000)
                index.remove(f"t{number}_{turn}")
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (problems, len(index)) == ([], 0)


def test_an_empty_index_finds_nothing() -> None:
    assert ToolIndex(embedder=WordEmbedder()).search("anything") == []


def test_search_can_be_awaited() -> None:
    index = ToolIndex([{"name": "feed_cat"}], mode="bm25")
    assert [match.name for match in asyncio.run(index.asearch("cat"))] == ["feed_cat"]
    assert asyncio.run(index.aselect("cat", top_k=1)) == [{"name": "feed_cat"}]


# -- refused ---------------------------------------------------------------------------------------------------

BAD: list[tuple[Callable[[ToolIndex], Any], str]] = [
    (lambda index: index.search(""), "The request is empty"),
    (lambda index: index.search(" … "), "The request is empty"),
    (lambda index: index.search("pump " * 2001), "10,005 characters; at most 10,000"),
    (lambda index: index.search("cat", mode="fuzzy"), "hybrid, semantic, bm25, not 'fuzzy'"),
    (lambda index: index.search("cat", top_k=0), "top_k must be"),
    (lambda index: index.search("cat", top_k=True), "top_k must be"),
    (lambda index: index.search("cat", threshold=1.5), "threshold must be between 0 and 1"),
    (lambda index: index.search("cat", always=["feed_kat"]), "no tool 'feed_kat'; did you mean feed_cat"),
    (lambda index: index.remove("zzz"), "no tool 'zzz'"),
    (lambda index: index.remove([3]), "named by text, not by 3"),  # type: ignore[list-item]
    (lambda index: index.add("feed_dog"), "'feed_dog' is not a tool"),
    (lambda index: index.add(None), "None is not a tool"),
    (lambda index: index.add(42), "42 is not a tool"),
    (lambda index: index.add([{"description": "nameless"}]), "has no name"),
    (lambda index: index.add({"type": "function"}), "has no name"),
    (lambda index: index.add({"name": "  "}), "has no name"),
    (lambda index: index.add({"name": "x", "description": 3}), "description of the tool x must be text"),
    (lambda index: index.add({"name": "x", "parameters": "none"}), "arguments of the tool x must be"),
    (lambda index: index.add([{"name": "x"}, {"name": "x"}]), "x is used twice"),
    (lambda index: index.add(lambda: None), "lambda has no name"),
]


@pytest.mark.parametrize(("act", "message"), BAD)
def test_bad_input_is_refused(act: Callable[[ToolIndex], Any], message: str) -> None:
    index = ToolIndex([{"name": "feed_cat"}], embedder=WordEmbedder())
    with pytest.raises(UsageError) as raised:
        act(index)
    assert message in str(raised.value)
    assert list(index) == ["feed_cat"]


def test_an_unknown_tool_cannot_always_be_there() -> None:
    with pytest.raises(UsageError, match="did you mean feed_cat"):
        ToolIndex([{"name": "feed_cat"}], always=["feed_cats"])


# -- where tools come from -------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Name of a town"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "options": {"type": "object", "properties": {"days": {"type": "integer"}}},
    },
}
EXPECTED = Tool(
    "get_weather",
    "Tell the weather.",
    (("city", "Name of a town"), ("unit", "celsius fahrenheit"), ("options", ""), ("days", "")),
)


@pytest.mark.parametrize(
    "given_tool",
    [
        {"name": "get_weather", "description": "Tell the weather.", "inputSchema": SCHEMA},
        {"name": "get_weather", "description": "Tell the weather.", "input_schema": SCHEMA},
        {"type": "function", "name": "get_weather", "description": "Tell the weather.", "parameters": SCHEMA},
        {
            "type": "function",
            "function": {"name": "get_weather", "description": "Tell the weather.", "parameters": SCHEMA},
        },
    ],
    ids=["mcp", "anthropic", "openai-responses", "openai-chat"],
)
def test_schemas_of_every_format_read_the_same(given_tool: dict[str, Any]) -> None:
    (tool,) = read_tools([given_tool])
    assert tool == EXPECTED
    assert tool.original is given_tool


def test_a_list_from_an_mcp_server() -> None:
    types = pytest.importorskip("mcp.types")
    tool = types.Tool(name="get_weather", description="Tell the weather.", input_schema=SCHEMA)
    for listed in (types.ListToolsResult(tools=[tool]), [tool], tool):
        assert read_tools(listed) == [EXPECTED]
    assert read_tools(types.ListToolsResult(tools=[tool]).model_dump(by_alias=True)) == [EXPECTED]


def test_tools_of_agent_libraries_have_a_name_and_a_description() -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.tools import tool as langchain_tool

    @langchain_tool
    def get_tide(harbour: str) -> str:
        """Tell when the water is high."""
        return harbour

    (tool,) = read_tools([get_tide])
    assert (tool.name, tool.description) == ("get_tide", "Tell when the water is high.")
    assert [name for name, _ in tool.parameters] == ["harbour"]


def get_tide(harbour: Annotated[str, "where the ship lies"], day: str = "today", **rest: Any) -> str:
    """Tell when the water is high.

    Args:
        day: which day to look up
    """
    return harbour


class Tides:
    """Knows the tides."""

    def __call__(self, harbour: str) -> str:
        """Tell when the water is low."""
        return harbour

    def low(self, harbour: str) -> str:
        """Tell the lowest water."""
        return harbour


def test_functions() -> None:
    (tool,) = read_tools(get_tide)
    assert tool.name == "get_tide"
    assert tool.description.startswith("Tell when the water is high.")
    assert tool.parameters == (
        ("harbour", "where the ship lies"),
        ("day", "which day to look up"),
        ("rest", ""),
    )
    assert tool.original is get_tide


def test_methods_and_callable_objects() -> None:
    bound = functools.partial(get_tide, "Ghent")
    found = read_tools([bound, Tides().low, Tides()])
    assert [tool.name for tool in found] == ["get_tide", "low", "Tides"]
    assert found[1].parameters == (("harbour", ""),)
    assert "Knows the tides." in found[2].description


def test_tools_of_the_service_itself() -> None:
    (tool,) = read_tools([{"type": "web_search"}])
    assert tool.name == "web_search"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from(["type", "properties", "items", "anyOf", "enum", "description", "$defs", "x"])


@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_no_schema_breaks_the_reading(schema: dict[str, Any]) -> None:
    (tool,) = read_tools({"name": "x", "input_schema": schema})
    assert all(isinstance(name, str) and isinstance(text, str) for name, text in tool.parameters)


def test_a_schema_without_end_is_read_to_a_depth() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"again": schema}
    (tool,) = read_tools({"name": "x", "input_schema": schema})
    assert tool.parameters == (("again", ""),)
