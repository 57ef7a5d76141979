"""The tests that LangChain has for every retriever and tool, and what they leave open."""

from __future__ import annotations

from typing import Any

import pytest

from loccit.errors import UsageError
from loccit.tools import HierarchicalDocumentTool

pytest.importorskip("langchain_tests")

from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from loccit.tools.adapters.langchain import LoccitRetriever, langchain_retriever, langchain_tools

EXAMPLE_CALLS: dict[str, dict[str, Any]] = {
    "handbook": {"query": "dry running"},
    "handbook_section": {"reference": "4.2.2"},
    "handbook_definition": {"term": "vessel"},
    "handbook_find_all": {"pattern": "within one hour"},
    "handbook_verify_quotes": {"quotations": ["without water"]},
    "handbook_compare": {"old": "pump-manual.md", "new": "harbour-safety-act.md"},
    "handbook_obligations": {"kind": "duty"},
    "handbook_outline": {"depth": 1},
    "handbook_references": {"reference": "Section 306"},
    "handbook_documents": {"filters": {"type": "md"}},
    # The suite takes an empty call for none; null counts as not given.
    "handbook_status": {"nothing": None},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _of_the_examples(self, handbook: HierarchicalDocumentTool) -> None:
        self.handbook = handbook

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LoccitRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"tool": self.handbook}

    @property
    def retriever_query_example(self) -> str:
        return "when must an accident be reported"

    @property
    def num_results_arg_name(self) -> str:
        return "top_k"


class TestRetrieverByItsUsualName(TestRetriever):
    @property
    def num_results_arg_name(self) -> str:
        return "k"


class EachTool:
    """Puts each tool to the standard tests in turn."""

    @pytest.fixture(autouse=True, params=EXAMPLE_CALLS)
    def _one(self, request: pytest.FixtureRequest, handbook: HierarchicalDocumentTool) -> None:
        self.name = request.param
        self.tools = {tool.name: tool for tool in langchain_tools(handbook)}

    @property
    def tool_constructor(self) -> BaseTool:
        return self.tools[self.name]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return EXAMPLE_CALLS[self.name]


class TestTools(EachTool, ToolsUnitTests):
    pass


@pytest.mark.anyio
class TestToolCalls(EachTool, ToolsIntegrationTests):
    pass


def test_every_tool_is_tried(handbook: HierarchicalDocumentTool) -> None:
    assert [tool.name for tool in langchain_tools(handbook)] == list(EXAMPLE_CALLS)


def test_arguments_of_a_call_win_over_those_of_the_retriever(handbook: HierarchicalDocumentTool) -> None:
    retriever = langchain_retriever(handbook, top_k=4, document="pump-manual.md")
    assert len(retriever.invoke("dry running")) == 4
    found = retriever.invoke("dry running", k=2, mode="keyword")
    assert len(found) == 2 and {one.metadata["source"].split("/")[-1] for one in found} == {"pump-manual.md"}
    assert len(retriever.invoke("dry running")) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"tok_k": 3}, "unknown argument 'tok_k'"),
        ({"search_kwargs": {"k": 3}}, "unknown argument 'search_kwargs'"),
        ({"top_k": 0}, "top_k must be a number between 1 and"),
        ({"mode": "magic"}, "mode must be one of"),
    ],
)
def test_no_argument_is_ignored(
    handbook: HierarchicalDocumentTool, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        langchain_retriever(handbook, **arguments)
    with pytest.raises(UsageError, match=said):
        langchain_retriever(handbook).invoke("dry running", **arguments)
