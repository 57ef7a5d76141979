"""Chat services on the loopback address that replay a script, streaming, in the wire formats of the real ones.

A script is a list of replies, one for each request. A reply is a list of steps: words, tool calls, and what can go
wrong. What a request holds is checked as the real services would, and kept in one shape for both.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-the-right-key-5678"


@dataclass(frozen=True)
class Say:
    """Words, sent in small pieces."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call; ``arguments`` may be a text that is no JSON."""

    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True)
class Refuse:
    """The model stops here and refuses."""

    text: str = "I cannot help with that."


@dataclass(frozen=True)
class Fail:
    """Before anything is sent: an answer other than 200. Later: an error inside the stream."""

    status: int
    message: str
    kind: str = "error"


@dataclass(frozen=True)
class Drop:
    """The connection breaks."""


@dataclass(frozen=True)
class Wait:
    """Nothing more is sent until the test says so; ``reached`` says that we are here."""

    reached: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Cut:
    """The answer ends because it is too long."""


Step = Say | Call | Refuse | Fail | Drop | Wait | Cut


@dataclass(frozen=True)
class Request:
    """What a request holds, in one shape for both services."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    system: str
    tools: dict[str, dict[str, Any]]
    results: list[str]  # of the tools called last
    messages: list[tuple[str, str]]  # (role, text)


Reply = Sequence[Step] | Callable[[Request], Sequence[Step]]


class RefusedError(Exception):
    """The request is not one that the real service would take."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.script: list[Reply] = []
        self.requests: list[Request] = []
        self.refusals: list[str] = []
        self.key: str | None = KEY

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next_reply(self, request: Request) -> Sequence[Step]:
        reply = self.script.pop(0) if self.script else [Say("The script is at its end.")]
        return reply(request) if callable(reply) else reply

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            request = self.read(body)
            self.server.requests.append(request)
            steps = list(self.server.next_reply(request))
        except RefusedError as refusal:
            self.server.refusals.append(refusal.message)
            self.answer(refusal.status, self.error(refusal.status, refusal.kind, refusal.message))
            return
        if steps and isinstance(steps[0], Fail):
            self.answer(steps[0].status, self.error(steps[0].status, steps[0].kind, steps[0].message))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in self.stream(body, steps):
            self.wfile.write(event.encode())
            self.wfile.flush()

    def answer(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-should-retry", "false")  # the SDKs obey it: tests need not wait for retries
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def pause(self, step: Wait) -> None:
        step.reached.set()
        step.go_on.wait(30)

    def read(self, body: dict[str, Any]) -> Request:
        raise NotImplementedError

    def stream(self, body: dict[str, Any], steps: Sequence[Step]) -> Iterator[str]:
        raise NotImplementedError

    def error(self, status: int, kind: str, message: str) -> dict[str, Any]:
        raise NotImplementedError


def pieces(text: str, size: int = 7) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def written(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def need(condition: object, message: str) -> None:
    if not condition:
        raise RefusedError(400, message)


def check_schema(name: str, description: object, schema: Any) -> None:
    need(isinstance(description, str) and description.strip(), f"tool {name}: no description")
    need(
        isinstance(schema, dict) and schema.get("type") == "object", f"tool {name}: parameters are no object"
    )
    need(isinstance(schema.get("properties"), dict), f"tool {name}: no properties")
    for required in schema.get("required", []):
        need(required in schema["properties"], f"tool {name}: {required} is required but not described")


@contextmanager
def running(handler: type[Handler]) -> Iterator[Server]:
    with Server(handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
