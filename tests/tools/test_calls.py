"""A model's calls: names and arguments as models write them, schemas as their APIs take them."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from anthropic.types import ToolParam
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter
from tests.tools.conftest import MakeTool

from loccit.ask.catalog import TOOLS
from loccit.errors import UsageError
from loccit.tools import HierarchicalDocumentTool, anthropic_tools, openai_tools, python_functions


def test_a_tool_offers_its_functions(tool: HierarchicalDocumentTool) -> None:
    assert [function.name for function in tool.functions] == [
        "handbook",
        "handbook_section",
        "handbook_definition",
        "handbook_find_all",
        "handbook_verify_quotes",
        "handbook_compare",
        "handbook_obligations",
        *("handbook_outline", "handbook_references", "handbook_documents", "handbook_status"),
    ]
    assert {function.kind for function in tool.functions} == set(TOOLS)
    assert tool.functions[0].description.startswith("Statutes, manuals and notes.")


def test_what_was_not_extracted_cannot_be_asked_for(make: MakeTool) -> None:
    tool = make(extract_definitions=False, extract_cross_references=False)
    left_out = set(TOOLS) - {function.kind for function in tool.functions}
    assert left_out == {"define_term", "follow_references"}


def test_functions_that_no_api_could_name_are_left_out(make: MakeTool) -> None:
    kinds = [function.kind for function in make(name="n" * 53).functions]
    assert kinds == [
        *("search_documents", "read_section", "define_term", "find_all", "compare"),
        *("list_outline", "follow_references", "list_documents", "index_status"),
    ]


def test_the_schema_has_the_defaults_and_modes_of_the_configuration(make: MakeTool) -> None:
    offered = make(top_k=4, token_budget=900, dense_index=False).functions[0].parameters["properties"]
    assert (offered["top_k"]["default"], offered["token_budget"]["default"]) == (4, 900)
    assert offered["mode"]["enum"] == ["hybrid", "keyword", "exact"]


def test_a_name_that_no_api_takes_is_refused(make: MakeTool) -> None:
    with pytest.raises(UsageError, match="at most 64"):
        openai_tools(make(name="n" * 60))


def test_schemas_are_what_the_apis_take(tool: HierarchicalDocumentTool) -> None:
    chat = TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(openai_tools(tool))
    responses = TypeAdapter(list[FunctionToolParam]).validate_python(
        [{**entry, "strict": False} for entry in openai_tools(tool, api="responses")]
    )
    anthropic = TypeAdapter(list[ToolParam]).validate_python(anthropic_tools(tool))
    names = [function.name for function in tool.functions]
    assert [entry["function"]["name"] for entry in chat] == names
    assert [entry["name"] for entry in responses] == names
    assert [entry["name"] for entry in anthropic] == names
    schema: Any = anthropic[0]["input_schema"]
    assert schema["required"] == ["query"] and schema["properties"]["query"]["type"] == "string"


@pytest.mark.parametrize(
    ("name", "arguments", "found"),
    [
        ("handbook", {"query": "dry running"}, "4.2.2 Flow and dry running"),
        ("handbook", '{"question": "dry running", "limit": "1"}', "1 result, "),
        ("handbook", {"q": "dry running", "file": "pump-manual.md", "max_results": 1}, "pump-manual.md"),
        ("search", {"text": "dry running"}, "4.2.2"),
        ("handbook_section", {"section_id": "sec_4_2_2"}, "The pump must never run without water"),
        ("get_section", {"ref": "4.2.2"}, "The pump must never run without water"),
        ("handbook_definition", {"word": "vessel"}, "every description of craft"),
        ("define_term", {"q": "Vessels"}, "every description of craft"),
    ],
)
def test_calls_as_models_write_them(
    tool: HierarchicalDocumentTool, name: str, arguments: Any, found: str
) -> None:
    assert found in tool.call_sync(name, arguments)


def test_a_definition_that_begins_with_its_term_does_not_repeat_it(tool: HierarchicalDocumentTool) -> None:
    answer = tool.call_sync("define_term", {"term": "vessel"}).casefold()
    assert "vessel" in answer
    assert "vessel: " not in answer


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("handbook", {}, "handbook: query is missing. It takes query (required), mode,"),
        ("handbook", None, "query is missing"),
        ("handbook", "", "query is missing"),
        ("handbook", "{", "not valid JSON"),
        ("handbook", "[1]", "must be a JSON object"),
        ("handbook", {"query": "x", "colour": "red"}, "unknown argument 'colour'"),
        ("handbook", {"query": "x", "k": 0}, "between 1 and 100"),
        ("handbook", {"query": "x", "document": "nowhere.pdf"}, "no document 'nowhere.pdf'"),
        ("handbook", {"query": "x", "document": "nowhere.pdf"}, "\nhandbook_documents lists the documents."),
        ("handbook", {"query": "x", "after": "soon"}, "'soon' is not a date"),
        ("handbook_section", {"reference": "Section 999"}, "No section is called 'Section 999'"),
        ("handbook_definition", {"term": "spaceship"}, "No document defines 'spaceship'"),
        ("handbook_definition", {"term": "vesel"}, "vessel"),
        ("handbook_sections", {"reference": "1"}, "Did you mean handbook_section?"),
    ],
)
def test_what_is_wrong_comes_back_as_text(
    tool: HierarchicalDocumentTool, name: str, arguments: Any, said: str
) -> None:
    assert said in tool.call_sync(name, arguments)
    assert said in asyncio.run(tool.call(name, arguments))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["handbook", "handbook_section", "handbook_definition", "x"]),
    arguments=st.dictionaries(
        st.sampled_from(["query", "reference", "term", "k", "filters", "doc", "mode", "z"]), JSON, max_size=4
    )
    | st.text(max_size=10)
    | st.none(),
)
def test_no_call_raises(tool: HierarchicalDocumentTool, name: str, arguments: Any) -> None:
    assert tool.call_sync(name, arguments)


def test_a_tool_that_cannot_load_answers_within_a_budget_too(make: MakeTool) -> None:
    """Errors are counted like answers, but there is nothing to count with when loading is what failed."""
    tool = make(source="nowhere", token_budget=100)
    for arguments in ({"query": "lamp"}, {"query": "lamp", "token_budget": 200}, {"colour": 1}):
        assert tool.call_sync("notes", arguments).startswith("Error: ")
        assert asyncio.run(tool.call("notes", arguments)).startswith("Error: ")
    tool.close()
    assert "closed" in tool.call_sync("notes", {"query": "lamp"})
    assert "closed" in asyncio.run(tool.call("notes", {"query": "lamp"}))


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("handbook_outline", {"document": "pump-manual.md", "depth": 4}, "Flow and dry running"),
        ("handbook_references", {"reference": "Section 306"}, "harbour-safety-act.md"),
        ("handbook_documents", {"file_type": "md"}, "pump-manual.md"),
        ("handbook_status", {}, "documents"),
        ("list_outline", {"doc": "pump-manual.md"}, "Flow and dry running"),
    ],
)
def test_the_documents_can_be_looked_around_in(
    tool: HierarchicalDocumentTool, name: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in tool.call_sync(name, arguments)


def test_a_tool_shows_only_its_own_documents(make: MakeTool, tmp_path: Path) -> None:
    for name in ("mine", "other"):
        (tmp_path / "docs" / f"{name}.md").write_text(
            f"---\nlanguage: en\n---\n\n# The {name}\n\n## Section 1\n\nSee Section 1.\n", encoding="utf-8"
        )
    make(name="all", index="shared").initialize_sync()
    tool = make(name="one", source="docs/mine.md", index="shared")
    for name, arguments in (
        ("one_outline", {}),
        ("one_documents", {}),
        ("one_references", {"ref": "Section 1"}),
    ):
        text = tool.call_sync(name, arguments)
        assert "mine.md" in text and "other.md" not in text, text


def test_an_answer_comes_with_what_was_found(tool: HierarchicalDocumentTool) -> None:
    text, found = tool.answer_sync("handbook", {"q": "dry running", "k": 1})
    assert text == tool.call_sync("handbook", {"q": "dry running", "k": 1})
    assert [result.section_label for result in found.results] == ["4.2.2"]
    assert tool.answer_sync("handbook", {"colour": "red"})[1] is None
    (section,) = asyncio.run(tool.answer("handbook_section", {"ref": "4.2.2"}))[1].sections
    assert section.lines == (133, 137)


def test_functions_of_python_are_typed_and_documented(tool: HierarchicalDocumentTool) -> None:
    functions = {function.__name__: function for function in python_functions(tool)}
    assert list(functions) == [function.name for function in tool.functions]
    search = functions["handbook"]
    signature = inspect.signature(search)
    assert next(iter(signature.parameters)) == "query"
    assert get_type_hints(search)["query"] is str
    assert get_type_hints(search)["mode"] == Literal["hybrid", "semantic", "keyword", "exact"] | None
    assert search.__doc__ is not None and search.__doc__.startswith("Statutes, manuals and notes.")
    assert "    query: Question" in search.__doc__ and "    top_k: " in search.__doc__
    assert search("dry running", top_k=1) == tool.call_sync("handbook", {"query": "dry running", "top_k": 1})
    assert functions["handbook_status"]() == tool.call_sync("handbook_status")
    with pytest.raises(TypeError, match="colour"):
        search("dry running", colour="red")
