"""A chat client of the Agent Framework that plays a model: it calls one function, then answers."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)


class ScriptedClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Calls ``function`` with ``arguments``, keeps what it hears, and answers with a fixed sentence."""

    def __init__(self, function: str, arguments: dict[str, Any]) -> None:
        super().__init__()
        self._call = Content.from_function_call("call-1", function, arguments=arguments)
        self.heard = ""

    def agent(self, tools: list[FunctionTool]) -> Agent[Any]:
        """Return an agent that speaks through this client."""
        return Agent(self, "Answer from the documents.", tools=tools)

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse]:
        async def respond() -> ChatResponse:
            results = [
                item for message in messages for item in message.contents if item.type == "function_result"
            ]
            if not results:
                return ChatResponse(messages=[Message(role="assistant", contents=[self._call])])
            self.heard = str(results[-1].result)
            return ChatResponse(messages=[Message(role="assistant", contents=["As the manual says."])])

        return respond()
