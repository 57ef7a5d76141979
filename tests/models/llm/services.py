"""Language model services on the loopback address that refuse what the real ones would refuse.

``MessagesService`` speaks Anthropic's Messages API, ``ChatService`` OpenAI's Chat Completions. Both count tokens with
the bundled tokenizer, keep a prompt cache, and can be told to fail.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from loccit.models.embedding import load_tokenizer

KEY = "sk-the-right-key-5678"
Answer = Callable[[str, str], str]


class RefusedError(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.fields = status, message, fields


class Service(ThreadingHTTPServer):
    """``answer`` makes the text from the shared part and the rest. ``faults`` are served first, one a request."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.answer: Answer = lambda shared, text: "It stands in the annual report."
        self.requests: list[dict[str, Any]] = []
        self.faults: list[Any] = []
        self.always: Any = None  # a fault that does not pass
        self.refused: dict[str, Any] = {}  # fields, or values of fields, that the model does not take
        self.times = 1  # how many of its tokens make one of ours
        self.gate: threading.Event | None = None  # answers wait for it
        self.open_now = self.most_open = 0
        self.log: list[tuple[str, str, str]] = []  # (begin or end, shared part, rest), in order
        self.lock = threading.Lock()
        self._tokenizer = load_tokenizer()
        self._cached: set[str] = set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, *texts: str) -> int:
        return self.times * sum(len(self._tokenizer.offsets(text)) for text in texts)

    def usage(self, system: str, shared: str, text: str) -> tuple[int, int, int]:
        """Tokens read anew, from the cache, and into the cache."""
        with self.lock:
            known, prefix = shared in self._cached, self.count(system, shared)
            self._cached.add(shared)
        rest = self.count(text)
        if not shared:
            return prefix + rest, 0, 0
        return (rest, prefix, 0) if known else (rest, 0, prefix)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up waiting is no error."""


class Handler(BaseHTTPRequestHandler):
    server: Service
    path_wanted = ""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append({"path": self.path, "headers": dict(self.headers), **body})
            fault = server.faults.pop(0) if server.faults else server.always
        try:
            if fault is not None:
                self.fail(fault)
            if not self.path.startswith(self.path_wanted):
                raise RefusedError(404, "no such path")
            self.check(body)
            for name, value in server.refused.items():
                if name in body and (value is Ellipsis or body[name] == value):
                    raise RefusedError(400, f"Unsupported value: '{name}' does not support it", param=name)
            self.reply(200, self.converse(body))
        except RefusedError as refusal:
            self.reply(refusal.status, self.error(refusal), refusal.fields.get("headers"))

    def fail(self, fault: Any) -> None:
        if isinstance(fault, RefusedError):
            raise fault
        if fault == "hang":
            time.sleep(3)
        if fault == "nonsense":
            self.reply_raw(200, b"<html>Welcome to the hotel network</html>", "text/html")
        if fault == "wrong shape":
            self.reply(200, {"greeting": "hello"})
        if fault == "broken":
            self.reply_raw(200, b'{"id": "x", "cho', "application/json")
        raise ConnectionAbortedError(fault)

    def ask(self, system: str, shared: str, text: str) -> str:
        server = self.server
        with server.lock:
            server.open_now += 1
            server.most_open = max(server.most_open, server.open_now)
            server.log.append(("begin", shared, text))
        try:
            if server.gate is not None:
                server.gate.wait(10)
            return server.answer(shared, text)
        finally:
            with server.lock:
                server.open_now -= 1
                server.log.append(("end", shared, text))

    def reply(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        self.reply_raw(status, json.dumps(content).encode(), "application/json", headers)

    def reply_raw(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def check(self, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def converse(self, body: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def error(self, refusal: RefusedError) -> dict[str, Any]:
        raise NotImplementedError


class MessagesHandler(Handler):
    """POST /v1/messages, API version 2026-10-21."""

    path_wanted = "/v1/messages"
    fields = frozenset(
        "model max_tokens messages system thinking output_config stop_sequences metadata stream".split()
    )

    def check(self, body: dict[str, Any]) -> None:
        sent = self.headers.get("x-api-key") or self.headers.get("Authorization") or ""
        if KEY not in sent:
            raise RefusedError(401, f"invalid key {sent}", type="authentication_error")
        if not self.headers.get("anthropic-version"):
            raise RefusedError(400, "anthropic-version: header is required")
        if unknown := set(body) - self.fields:
            raise RefusedError(400, f"{unknown.pop()}: Extra inputs are not permitted")
        if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
            raise RefusedError(400, "max_tokens: Field required")
        if body.get("model") == "absent":
            raise RefusedError(404, "model: absent", type="not_found_error")
        if [message["role"] for message in body["messages"]] != ["user"]:
            raise RefusedError(400, "messages: one user message was expected here")
        blocks = body["messages"][0]["content"]
        if any(block["type"] != "text" or not block["text"].strip() for block in blocks):
            raise RefusedError(400, "messages: text content blocks must be non-empty")
        if any(block.get("cache_control") not in (None, {"type": "ephemeral"}) for block in blocks):
            raise RefusedError(400, "cache_control: unknown type")
        allowed = self.server.refused.get("thinking types", ("disabled", "adaptive"))
        if "thinking" in body and body["thinking"]["type"] not in allowed:
            raise RefusedError(
                400, f'"thinking.type.{body["thinking"]["type"]}" is not supported for this model.'
            )

    def converse(self, body: dict[str, Any]) -> dict[str, Any]:
        blocks = body["messages"][0]["content"]
        shared = "".join(block["text"] for block in blocks if block.get("cache_control"))
        text = "".join(block["text"] for block in blocks if not block.get("cache_control"))
        system = body.get("system", "")
        answer = self.ask(system, shared, text)
        plain, cached, written = self.server.usage(system, shared, text)
        content = [{"type": "text", "text": answer}] if answer else []
        if "thinking" not in body:
            content.insert(0, {"type": "thinking", "thinking": "", "signature": "s"})
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "refusal" if answer == "" else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": plain,
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": written,
                "output_tokens": self.server.count(answer),
            },
        }

    def error(self, refusal: RefusedError) -> dict[str, Any]:
        kind = refusal.fields.get("type", "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": refusal.message}, "request_id": "req_1"}


class ChatHandler(Handler):
    """POST /v1/chat/completions, and Azure's form of it."""

    fields = frozenset(
        "model messages max_tokens max_completion_tokens temperature reasoning_effort prompt_cache_key "
        "prompt_cache_options".split()
    )

    def check(self, body: dict[str, Any]) -> None:
        if not self.path.split("?")[0].endswith("/chat/completions"):
            raise RefusedError(404, "no such path")
        sent = self.headers.get("Authorization") or self.headers.get("api-key") or ""
        if KEY not in sent:
            raise RefusedError(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")
        if unknown := set(body) - self.fields:
            raise RefusedError(400, f"Unrecognized request argument supplied: {unknown.pop()}")
        limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
        if len(limits) != 1 or limits[0] < 1:
            raise RefusedError(400, "exactly one limit was expected here")
        if body["model"] == "absent":
            raise RefusedError(404, "The model 'absent' does not exist", code="model_not_found")
        if [message["role"] for message in body["messages"]] not in (["user"], ["system", "user"]):
            raise RefusedError(400, "messages: a system and a user message were expected here")

    def converse(self, body: dict[str, Any]) -> dict[str, Any]:
        system = body["messages"][0]["content"] if len(body["messages"]) > 1 else ""
        content = body["messages"][-1]["content"]
        shared, text = "", content
        if isinstance(content, list):
            shared, text = content[0]["text"], content[1]["text"]
        elif "</document>" in content:
            shared, mark, text = content.partition("</document>")
            shared += mark
        answer = self.ask(system, shared, text)
        plain, cached, written = self.server.usage(system, shared, text)
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop" if answer else "length",
                    "message": {"role": "assistant", "content": answer or None, "refusal": None},
                }
            ],
            "usage": {
                "prompt_tokens": plain + cached + written,
                "completion_tokens": self.server.count(answer),
                "total_tokens": 0,
                "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            },
        }

    def error(self, refusal: RefusedError) -> dict[str, Any]:
        code, param = refusal.fields.get("code"), refusal.fields.get("param")
        return {"error": {"message": refusal.message, "type": "error", "param": param, "code": code}}


@contextmanager
def running(handler: type[Handler]) -> Iterator[Service]:
    with Service(handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
