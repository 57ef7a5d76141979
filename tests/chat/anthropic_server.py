"""Anthropic's Messages, streaming."""

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
    "model max_tokens messages system tools tool_choice temperature stream thinking cache_control".split()
)


class MessagesHandler(Handler):
    """``POST /v1/messages``."""

    def read(self, body: dict[str, Any]) -> Request:
        if self.path.partition("?")[0] != "/v1/messages":
            raise RefusedError(404, f"no such path: {self.path}", "not_found_error")
        bearer = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        sent = self.headers.get("x-api-key") or bearer
        if sent != self.server.key:
            raise RefusedError(401, f"invalid key {sent}", "authentication_error")
        need(self.headers.get("anthropic-version"), "anthropic-version: header is required")
        if body["model"] == "absent":
            raise RefusedError(404, "model: absent", "not_found_error")
        need(set(body) <= FIELDS, f"{sorted(set(body) - FIELDS)}: Extra inputs are not permitted")
        need(isinstance(body.get("max_tokens"), int) and body["max_tokens"] > 0, "max_tokens: Field required")
        need(body.get("stream") is True, "this test streams")
        tools = {}
        for tool in body.get("tools", []):
            check_schema(tool["name"], tool.get("description"), tool.get("input_schema"))
            tools[tool["name"]] = tool
        messages, results, open_calls = list[tuple[str, str]](), list[str](), set[str]()
        for message in body["messages"]:
            results = []
            blocks = message["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            need(blocks, "messages: content must not be empty")
            for block in blocks:
                if block["type"] == "text":
                    need(block["text"].strip(), "messages: text content blocks must be non-empty")
                    need(not open_calls, f"tool_use without tool_result: {open_calls}")
                elif block["type"] == "tool_result":
                    need(block["tool_use_id"] in open_calls, "unexpected tool_result")
                    open_calls.remove(block["tool_use_id"])
                    results.append(_text(block["content"]))
            need(not open_calls, f"tool_use without tool_result: {open_calls}")
            if message["role"] == "assistant":
                open_calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
            messages.append((message["role"], _text(blocks)))
        need(not open_calls, f"tool_use without tool_result: {open_calls}")
        system = _text(body.get("system") or "")
        return Request(self.path, dict(self.headers), body, system, tools, results, messages)

    def stream(self, body: dict[str, Any], steps: Sequence[Step]) -> Iterator[str]:
        message = {
            "id": f"msg_{len(self.server.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        }
        yield _event("message_start", message=message)
        yield _event("ping")
        reason = "end_turn"
        for index, step in enumerate(steps):
            if isinstance(step, Say):
                yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
                for piece in pieces(step.text):
                    yield _event(
                        "content_block_delta", index=index, delta={"type": "text_delta", "text": piece}
                    )
                yield _event("content_block_stop", index=index)
            elif isinstance(step, Call):
                reason = "tool_use"
                block = {
                    "type": "tool_use",
                    "id": f"toolu_{len(self.server.requests)}_{index}",
                    "name": step.name,
                    "input": {},
                }
                yield _event("content_block_start", index=index, content_block=block)
                for piece in pieces(written(step.arguments)):
                    delta = {"type": "input_json_delta", "partial_json": piece}
                    yield _event("content_block_delta", index=index, delta=delta)
                yield _event("content_block_stop", index=index)
            elif isinstance(step, Refuse):
                reason = "refusal"
            elif isinstance(step, Cut):
                reason = "max_tokens"
            elif isinstance(step, Wait):
                self.pause(step)
            elif isinstance(step, Fail):
                yield _event("error", error={"type": step.kind, "message": step.message})
                return
            elif isinstance(step, Drop):
                self.connection.close()
                return
        yield _event(
            "message_delta",
            delta={"stop_reason": reason, "stop_sequence": None},
            usage={"output_tokens": 20},
        )
        yield _event("message_stop")

    def error(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"
