"""A scripted model calls a document tool through the runner of each framework, with the real package.

Some of the packages cannot be installed beside what else is tested here: `make test-frameworks` runs this file in an
environment of its own for each of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from loccit.tools import HierarchicalDocumentTool, python_functions

QUERY = "dry running"
FOUND = "4.2.2 Flow and dry running"
QUESTION = "May the pump run dry?"
ANSWER = "Never without water [4.2.2]."


def test_openai_agents(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("agents")
    from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    offered: list[Any] = []

    class Scripted(Model):
        async def get_response(self, *_: Any, **request: Any) -> Any:
            offered[:] = request["tools"]
            items = request["input"] if isinstance(request["input"], list) else []
            heard = [item for item in items if item.get("type") == "function_call_output"]
            output: Any = ResponseFunctionToolCall(
                arguments=json.dumps({"query": QUERY, "top_k": 1}),
                call_id="1",
                name="handbook",
                type="function_call",
            )
            if heard:
                assert FOUND in heard[0]["output"]
                text = ResponseOutputText(annotations=[], text=ANSWER, type="output_text")
                output = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    tools: list[Any] = [function_tool(function, strict_mode=False) for function in python_functions(tool)]
    agent = Agent(name="clerk", model=Scripted(), tools=tools)
    result = asyncio.run(Runner.run(agent, QUESTION, run_config=RunConfig(tracing_disabled=True)))
    assert result.final_output == ANSWER
    assert [item.name for item in offered] == [function.name for function in tool.functions]
    search = offered[0].params_json_schema
    assert search["required"] == ["query"]
    assert search["properties"]["query"]["description"].startswith("Question")


def test_haystack(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("haystack")
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.tools.from_function import create_tool_from_function

    @component
    class Scripted:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
            heard = [message.tool_call_result for message in messages if message.tool_call_result]
            if heard:
                assert FOUND in str(heard[0].result)
                return {"replies": [ChatMessage.from_assistant(ANSWER)]}
            call = ToolCall(tool_name="handbook", arguments={"query": QUERY, "top_k": 1})
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}

    tools: list[Any] = [create_tool_from_function(function) for function in python_functions(tool)]
    assert tools[0].parameters["required"] == ["query"]
    agent = Agent(chat_generator=Scripted(), tools=tools)
    agent.warm_up()
    result = agent.run(messages=[ChatMessage.from_user(QUESTION)])
    assert result["messages"][-1].text == ANSWER


def test_smolagents(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("smolagents")
    from smolagents import ChatMessage, Model, ToolCallingAgent
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

    from loccit.tools.adapters.smolagents import smolagents_tools

    heard: list[str] = []

    class Scripted(Model):  # type: ignore[misc]
        def generate(self, messages: Any, **_: Any) -> Any:
            heard.append(str(messages[-1].content))
            name, arguments = (
                ("final_answer", {"answer": ANSWER}) if FOUND in heard[-1] else ("handbook", {"query": QUERY})
            )
            function = ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = ChatMessageToolCall(function=function, id=str(len(heard)), type="function")
            return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])

    agent = ToolCallingAgent(tools=smolagents_tools(tool), model=Scripted(), max_steps=4, verbosity_level=0)
    assert agent.run(QUESTION) == ANSWER
    assert len(heard) == 2
    assert set(agent.tools) == {"final_answer", *(function.name for function in tool.functions)}


def test_dspy(tool: HierarchicalDocumentTool) -> None:
    dspy = pytest.importorskip("dspy")
    from dspy.utils import DummyLM

    script = [
        {
            "next_thought": "Look.",
            "next_tool_name": "handbook",
            "next_tool_args": {"query": QUERY, "top_k": 1},
        },
        {"next_thought": "Done.", "next_tool_name": "finish", "next_tool_args": {}},
        {"reasoning": "It says so.", "answer": ANSWER},
    ]
    agent = dspy.ReAct("question -> answer", tools=python_functions(tool), max_iters=3)
    with dspy.context(lm=DummyLM(script)):
        result = agent(question=QUESTION)
    assert result.answer == ANSWER
    assert FOUND in result.trajectory["observation_0"]
    assert dspy.Tool(python_functions(tool)[0]).args["query"]["type"] == "string"


def test_google_adk(tool: HierarchicalDocumentTool) -> None:
    pytest.importorskip("google.adk")
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    offered: dict[str, Any] = {}

    class Scripted(BaseLlm):  # type: ignore[misc]
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            offered.update(llm_request.tools_dict)
            parts = llm_request.contents[-1].parts or []
            heard = [part.function_response for part in parts if part.function_response]
            part = types.Part.from_function_call(name="handbook", args={"query": QUERY, "top_k": 1})
            if heard:
                assert FOUND in str(heard[0].response)
                part = types.Part(text=ANSWER)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    async def main() -> list[str]:
        agent = LlmAgent(name="clerk", model=Scripted(model="scripted"), tools=python_functions(tool))
        runner = InMemoryRunner(agent=agent, app_name="clerk")
        session = await runner.session_service.create_session(app_name="clerk", user_id="someone")
        message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
        said = []
        async for event in runner.run_async(user_id="someone", session_id=session.id, new_message=message):
            said += [part.text for part in (event.content.parts if event.content else []) if part.text]
        return said

    assert asyncio.run(main()) == [ANSWER]
    assert set(offered) == {function.name for function in tool.functions}
    declared = offered["handbook"]._get_declaration()
    schema = declared.parameters_json_schema or declared.parameters.model_dump()
    assert schema["required"] == ["query"]


def test_crewai(tool: HierarchicalDocumentTool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    pytest.importorskip("crewai")
    from crewai import Agent, Crew, Task
    from crewai.llms.base_llm import BaseLLM
    from crewai.tools import tool as crewai_tool

    heard: list[str] = []

    class Scripted(BaseLLM):  # type: ignore[misc]
        def call(self, messages: Any, *_: Any, **__: Any) -> str:
            heard.append(str(messages))
            if FOUND in heard[-1]:
                return f"Thought: I know it.\nFinal Answer: {ANSWER}"
            return f"Thought: I look.\nAction: handbook\nAction Input: {json.dumps({'query': QUERY, 'top_k': 1})}"

        def supports_function_calling(self) -> bool:
            return False

    tools = [crewai_tool(function.__name__)(function) for function in python_functions(tool)]
    agent = Agent(
        role="clerk",
        goal="answer",
        backstory="knows the harbour",
        llm=Scripted(model="scripted"),
        tools=tools,
    )
    task = Task(description=QUESTION, expected_output="a sentence", agent=agent)
    result = Crew(agents=[agent], tasks=[task], verbose=False).kickoff()
    assert str(result) == ANSWER
    assert len(heard) == 2
