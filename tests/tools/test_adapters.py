"""The adapters, each with the real package."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from typing import Any

import pytest

from loccit.errors import UsageError
from loccit.tools import HierarchicalDocumentTool

QUERY = "dry running"
FOUND = "4.2.2 Flow and dry running"


# -- LangChain -------------------------------------------------------------------------------------------------


def test_langchain_retriever(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    from loccit.tools.adapters.langchain import langchain_retriever

    retriever = langchain_retriever(tool, top_k=2)
    documents = retriever.invoke(QUERY)
    assert asyncio.run(retriever.ainvoke(QUERY)) == documents
    assert len(documents) == 2
    first, expected = documents[0], tool.search_sync(QUERY, top_k=2).results[0]
    assert (first.id, first.page_content) == (expected.chunk_id, expected.content)
    assert first.metadata["section_label"] == "4.2.2" and first.metadata["lines"] == [133, 137]
    assert FOUND in first.metadata["location"]

    def ranks(found: list[Document]) -> list[int]:
        return [document.metadata["rank"] for document in found]

    chain = retriever | RunnableLambda(ranks)
    assert chain.invoke(QUERY) == [1, 2]


def test_langchain_tools(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.utils.function_calling import convert_to_openai_tool

    from loccit.tools.adapters.langchain import langchain_tools

    tools = langchain_tools(tool)
    search = tools[0]
    call = {"name": "handbook", "args": {"q": QUERY, "limit": 1}, "id": "call-1", "type": "tool_call"}
    message = search.invoke(call)
    assert message.tool_call_id == "call-1" and FOUND in message.content and "1 result," in message.content
    assert message.artifact.results == tool.search_sync(QUERY, top_k=1).results
    wrong = asyncio.run(search.ainvoke({**call, "args": {"colour": "red"}}))
    assert wrong.artifact is None and "unknown argument 'colour'" in wrong.content
    assert FOUND in asyncio.run(search.ainvoke({"query": QUERY}))
    assert "reference is missing" in tools[1].invoke({})
    schema = convert_to_openai_tool(search)["function"]
    assert schema["name"] == "handbook" and schema["parameters"]["required"] == ["query"]


# -- LlamaIndex ------------------------------------------------------------------------------------------------


def test_llamaindex_retriever(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import MetadataMode

    from loccit.tools.adapters.llamaindex import llamaindex_retriever

    retriever = llamaindex_retriever(tool, top_k=2)
    nodes = retriever.retrieve(QUERY)
    again = asyncio.run(retriever.aretrieve(QUERY))
    assert [node.node_id for node in again] == [node.node_id for node in nodes]
    expected = tool.search_sync(QUERY, top_k=2).results
    assert [(node.node_id, node.score) for node in nodes] == [
        (result.chunk_id, result.fused_score) for result in expected
    ]
    read = nodes[0].node.get_content(MetadataMode.LLM)
    assert FOUND in read and "pump-manual.md" in read and "matched_by" not in read
    assert len(llamaindex_retriever(tool, similarity_top_k=1).retrieve(QUERY)) == 1
    with pytest.raises(UsageError, match="unknown argument 'tok_k'"):
        llamaindex_retriever(tool, tok_k=1)


def test_llamaindex_tools(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("llama_index.core")
    from loccit.tools.adapters.llamaindex import llamaindex_tools

    tools = {item.metadata.get_name(): item for item in llamaindex_tools(tool)}
    assert list(tools) == [function.name for function in tool.functions]
    search = tools["handbook"]
    shown = search.metadata.to_openai_tool()["function"]["parameters"]
    assert shown["properties"] == tool.functions[0].parameters["properties"]
    assert "1 result," in search.call(q=QUERY, limit=1).content
    assert FOUND in asyncio.run(search.acall(query=QUERY)).content
    assert "unknown argument 'colour'" in search(query="x", colour=1).content


# -- Pydantic AI -----------------------------------------------------------------------------------------------


def test_pydantic_ai_agent_calls_every_tool(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    from loccit.tools.adapters.pydantic_ai import pydantic_ai_tools

    model = TestModel()
    agent = Agent(model, tools=pydantic_ai_tools(tool))
    output = asyncio.run(agent.run("What now?")).output
    for name in ("handbook", "handbook_section", "handbook_definition"):
        assert f'"{name}":' in output
    offered = model.last_model_request_parameters
    assert offered and offered.function_tools[0].parameters_json_schema == tool.functions[0].parameters


def test_pydantic_ai_agent_puts_a_call_right_and_cites(tool: HierarchicalDocumentTool) -> None:
    """A model that calls with a wrong argument, reads the error, calls again, and answers from the result."""
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from loccit.tools.adapters.pydantic_ai import pydantic_ai_toolset

    heard: list[str] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        heard.extend(str(part.content) for part in messages[-1].parts if isinstance(part, ToolReturnPart))
        if not heard:
            return ModelResponse(parts=[ToolCallPart("handbook", {"q": QUERY, "pages": 3})])
        if len(heard) == 1:
            return ModelResponse(parts=[ToolCallPart("handbook", {"q": QUERY, "k": 1})])
        cited = re.search(r"^\S*\[1\] .*\[\w{8}\].*\n#+ ([\d.]+) ", heard[-1], re.MULTILINE)
        assert cited, heard[-1]
        return ModelResponse(parts=[TextPart(f"Never without water [{cited[1]}].")])

    agent = Agent(FunctionModel(answer), toolsets=[pydantic_ai_toolset(tool)])
    result = asyncio.run(agent.run("May the pump run dry?"))
    assert "unknown argument 'pages'" in heard[0] and "top_k" in heard[0]
    assert result.output == "Never without water [4.2.2]."


@pytest.mark.parametrize("arguments", ("[]", '"dry running"', "null", "7", "{", '[{"query": "x"}]'))
def test_pydantic_ai_asks_again_when_arguments_are_no_object(
    tool: HierarchicalDocumentTool, arguments: str
) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from loccit.tools.adapters.pydantic_ai import pydantic_ai_tools

    heard: list[str] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        heard.extend(str(part.content) for part in messages[-1].parts if isinstance(part, ToolReturnPart))
        if len(heard) == 2:
            return ModelResponse(parts=[TextPart(heard[-1])])
        return ModelResponse(parts=[ToolCallPart("handbook", {"query": QUERY} if heard else arguments)])

    agent = Agent(FunctionModel(answer), tools=pydantic_ai_tools(tool))
    assert FOUND in asyncio.run(agent.run("May the pump run dry?")).output
    assert "Input should be an object" in heard[0] or "Invalid JSON" in heard[0]


# -- Semantic Kernel -------------------------------------------------------------------------------------------


def kernel_call(tool: HierarchicalDocumentTool, name: str, arguments: str) -> str:
    """What the kernel puts into the conversation for a model's call."""
    from semantic_kernel import Kernel
    from semantic_kernel.contents import ChatHistory, FunctionCallContent, FunctionResultContent

    from loccit.tools.adapters.semantic_kernel import semantic_kernel_plugin

    kernel = Kernel()
    kernel.add_plugin(semantic_kernel_plugin(tool))
    history = ChatHistory()
    call = FunctionCallContent(id="1", name=name, arguments=arguments)
    asyncio.run(kernel.invoke_function_call(call, history))
    (item,) = history.messages[-1].items
    assert isinstance(item, FunctionResultContent)
    return str(item.result)


def test_semantic_kernel_plugin(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("semantic_kernel")
    assert FOUND in kernel_call(tool, "handbook-search", '{"query": "dry running", "top_k": 2}')
    assert "1 result," in kernel_call(tool, "handbook-search", '{"q": "dry running", "limit": "1"}')
    assert "without water" in kernel_call(tool, "handbook-section", '{"section": "4.2.2"}')
    assert "craft" in kernel_call(tool, "handbook-definition", '{"term": "vessel"}')
    assert "query is missing" in kernel_call(tool, "handbook-search", "{}")
    assert "unexpected argument(s): ['colour']" in kernel_call(
        tool, "handbook-search", '{"query": "x", "colour": 1}'
    )


def test_semantic_kernel_shows_a_model_the_schema(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("semantic_kernel")
    from semantic_kernel.connectors.ai.function_calling_utils import (
        kernel_function_metadata_to_function_call_format,
    )

    from loccit.tools.adapters.semantic_kernel import semantic_kernel_plugin

    plugin = semantic_kernel_plugin(tool)
    assert list(plugin.functions) == [
        *("search", "section", "definition"),
        *("find_all", "verify_quotes", "compare", "obligations"),
        *("outline", "references", "documents", "status"),
    ]
    shown = kernel_function_metadata_to_function_call_format(plugin["search"].metadata)["function"]
    assert shown["name"] == "handbook-search" and "handbook-section" in shown["description"]
    assert shown["parameters"]["required"] == ["query"]
    assert shown["parameters"]["properties"] == tool.functions[0].parameters["properties"]


# -- Microsoft Agent Framework ---------------------------------------------------------------------------------


def test_agent_framework_tools(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("agent_framework")
    from loccit.tools.adapters.agent_framework import agent_framework_tools

    search, section, *_ = agent_framework_tools(tool)

    def ask(function: Any, arguments: dict[str, Any]) -> str:
        (content,) = asyncio.run(function.invoke(arguments=arguments))
        return str(content.text)

    assert search.parameters() == tool.functions[0].parameters
    assert FOUND in ask(search, {"query": QUERY})
    assert "1 result," in ask(search, {"question": QUERY, "k": "1"})
    assert "without water" in ask(section, {"ref": "4.2.2"})
    assert "unknown argument 'colour'" in ask(search, {"query": "x", "colour": 1})


def test_agent_framework_agent_uses_the_tool(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("agent_framework")
    from tests.tools.scripted_client import ScriptedClient

    from loccit.tools.adapters.agent_framework import agent_framework_tools

    client = ScriptedClient("handbook", {"q": QUERY, "limit": 1})

    async def main() -> str:
        return str((await client.agent(agent_framework_tools(tool)).run("May the pump run dry?")).text)

    assert asyncio.run(main()) == "As the manual says."
    assert FOUND in client.heard


# -- what is not installed -------------------------------------------------------------------------------------


ADAPTERS = {
    "langchain": ("langchain_core", "langchain"),
    "llamaindex": ("llama_index", "llamaindex"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "semantic_kernel": ("semantic_kernel", "semantic-kernel"),
    "agent_framework": ("agent_framework", "agent-framework"),
    "smolagents": ("smolagents", "smolagents"),
}
WITHOUT = f"""
import importlib, sys
from loccit.errors import LoccitError

for adapter, (package, extra) in {ADAPTERS}.items():
    sys.modules[package] = None
    try:
        importlib.import_module("loccit.tools.adapters." + adapter)
    except LoccitError as error:
        print(extra, "pip install 'loccit[" + extra + "]'" in str(error))
"""


def test_a_missing_package_says_which_extra_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    said = set(done.stdout.split("\n")[:-1])
    extras = {f"{extra} True" for _, extra in ADAPTERS.values()}
    assert said == extras if sys.version_info >= (3, 11) else extras - said == {"pydantic-ai True"}


def test_on_an_old_python_pydantic_ai_says_so() -> None:
    program = (
        "import sys, loccit.errors; sys.modules['pydantic_ai'] = None\n"
        "sys.version_info, sys.version = (3, 10, 4), '3.10.4 (main)'\n"
        "try:\n    import loccit.tools.adapters.pydantic_ai\n"
        "except loccit.errors.LoccitError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Pydantic AI needs Python 3.11 or newer; this is 3.10.4."


def test_the_package_imports_no_framework() -> None:
    program = (
        "import sys, loccit.tools; from loccit.tools import HierarchicalDocumentTool, openai_tools; "
        "print([name for name in ('langchain_core', 'llama_index', 'pydantic_ai', 'semantic_kernel', "
        "'agent_framework', 'tantivy', 'onnxruntime') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
