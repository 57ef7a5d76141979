"""OpenAI's Chat Completions, streaming: also as Azure, Ollama and compatible servers have it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.chat.servers import (
    Call,
    Cut,
    Drop,
    Fail,
    Handler,
    Refuse,
    RefusedError,
    Request,
    Say,
    Step,
    Wait,
    check_schema,
    need,
    pieces,
    written,
)

FIELDS = frozenset(
    "model messages stream stream_options tools tool_choice parallel_tool_calls temperature max_tokens "
    "max_completion_tokens reasoning_effort".split()
)


class ChatHandler(Handler):
    """``POST …/chat/completions``."""

    def read(self, body: dict[str, Any]) -> Request:
        path, _, query = self.path.partition("?")
        if not path.endswith("/chat/completions"):
            raise RefusedError(404, f"no such path: {path}", "not_found")
        if "/deployments/" in path:
            need(query.startswith("api-version="), "api-version is missing")
            sent = self.headers.get("api-key", "")
        else:
            sent = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if self.server.key and sent != self.server.key:
            raise RefusedError(401, f"Incorrect API key provided: {sent}", "invalid_api_key")
        if body["model"] == "absent":
            raise RefusedError(404, "The model `absent` does not exist", "model_not_found")
        need(set(body) <= FIELDS, f"Unrecognized request argument supplied: {sorted(set(body) - FIELDS)}")
        need(body.get("stream") is True, "this test streams")
        tools = {}
        for tool in body.get("tools", []):
            function = tool["function"]
            check_schema(function["name"], function.get("description"), function.get("parameters"))
            tools[function["name"]] = function
        system, messages, results = "", list[tuple[str, str]](), list[str]()
        open_calls = set[str]()
        for message in body["messages"]:
            text = _text(message.get("content"))
            if message["role"] == "tool":
                need(message["tool_call_id"] in open_calls, "a tool result answers no call")
                open_calls.remove(message["tool_call_id"])
                results.append(text)
            else:
                need(not open_calls, f"tool calls without a result: {open_calls}")
                # A client may add a note of its own to a result.
                if message["role"] in ("system", "developer"):
                    system += text
                else:
                    results = []
                for call in message.get("tool_calls") or []:
                    json.loads(call["function"]["arguments"])
                    open_calls.add(call["id"])
                need(message["role"] != "assistant" or text or open_calls, "an empty assistant message")
            messages.append((message["role"], text))
        need(not open_calls, f"tool calls without a result: {open_calls}")
        return Request(self.path, dict(self.headers), body, system, tools, results, messages)

    def stream(self, body: dict[str, Any], steps: Sequence[Step]) -> Iterator[str]:
        yield _event(body, {"role": "assistant", "content": ""})
        reason, index = "stop", 0
        for step in steps:
            if isinstance(step, Say):
                for piece in pieces(step.text):
                    yield _event(body, {"content": piece})
            elif isinstance(step, Call):
                reason = "tool_calls"
                head = {"name": step.name, "arguments": ""}
                yield _event(
                    body,
                    {
                        "tool_calls": [
                            {
                                "index": index,
                                "id": f"call_{len(self.server.requests)}_{index}",
                                "type": "function",
                                "function": head,
                            }
                        ]
                    },
                )
                for piece in pieces(written(step.arguments)):
                    yield _event(body, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
                index += 1
            elif isinstance(step, Refuse):
                for piece in pieces(step.text):
                    yield _event(body, {"refusal": piece})
                reason = "content_filter"
            elif isinstance(step, Cut):
                reason = "length"
            elif isinstance(step, Wait):
                self.pause(step)
            elif isinstance(step, Fail):
                error = self.error(step.status, step.kind, step.message)
                yield f"data: {json.dumps(error)}\n\n"
                return
            elif isinstance(step, Drop):
                self.connection.close()
                return
        yield _event(body, {}, reason)
        if (body.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            yield _event(body, None, usage=usage)
        yield "data: [DONE]\n\n"

    def error(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part["text"] for part in content)
    return content or ""


def _event(
    body: dict[str, Any], delta: dict[str, Any] | None, reason: str | None = None, usage: Any = None
) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": reason}]
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": body["model"],
        "choices": choices,
        "usage": usage,
    }
    return f"data: {json.dumps(chunk)}\n\n"
