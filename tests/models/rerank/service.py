"""Reranking services on the loopback address that are as strict as the real ones."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "key-of-the-service-1234"
PATHS = {"/v2/rerank": "cohere", "/v1/rerank": "jina", "/rerank": "tei"}
FIELDS = {
    "cohere": {"model", "query", "documents", "top_n", "max_tokens_per_doc", "priority"},
    "jina": {"model", "query", "documents", "top_n", "return_documents"},
    "tei": {"query", "texts", "truncate", "raw_scores", "return_text", "truncation_direction"},
}
MOST_TEXTS = {"cohere": 1000, "jina": 2048, "tei": 32}


def relevance(query: str, text: str) -> float:
    """The share of the words of the query that are in the text."""
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))


class Service(ThreadingHTTPServer):
    """Scores by shared words. What is in ``instead`` is answered first, one for each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.instead: list[Callable[[Handler], None]] = []
        self.over = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when the other side has gone: some tests are about that."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, "headers": dict(self.headers), "body": body})
        if self.server.instead:
            self.server.instead.pop(0)(self)
            return
        form = PATHS.get(self.path.partition("?")[0])
        if form is None:
            self.answer(404, {"message": "not found"})
        elif self.headers.get("Authorization") != f"Bearer {KEY}":
            self.answer(401, {"message": f"wrong key {self.headers.get('Authorization')}"})
        elif problem := wrong(form, body):
            self.answer(422, {"message": problem})
        else:
            texts = body["texts" if form == "tei" else "documents"]
            name = "score" if form == "tei" else "relevance_score"
            rows = [
                {"index": index, name: relevance(body["query"], text)} for index, text in enumerate(texts)
            ]
            rows.sort(key=lambda row: -row[name])
            self.answer(200, rows if form == "tei" else {"id": "1", "results": rows[: body["top_n"]]})

    def answer(
        self,
        status: int,
        content: Any,
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def wrong(form: str, body: dict[str, Any]) -> str:
    """Say what the real service would refuse about a request."""
    texts = body.get("texts" if form == "tei" else "documents")
    if unknown := set(body) - FIELDS[form]:
        return f"unknown fields {sorted(unknown)}"
    if form != "tei" and not body.get("model"):
        return "a model is required"
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        return "texts must be strings that are not empty"
    if len(texts) > MOST_TEXTS[form]:
        return f"batch size {len(texts)} > maximum allowed batch size {MOST_TEXTS[form]}"
    if form == "tei" and not body.get("truncate") and any(len(text) > 2000 for text in texts):
        return "inputs must have less than 512 tokens"
    return ""


def reply(status: int, content: Any, **headers: str) -> Callable[[Handler], None]:
    """Answer like this, whatever is asked; ``Retry_After`` becomes ``Retry-After``."""
    return lambda handler: handler.answer(
        status, content, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def silence(handler: Handler) -> None:
    """Do not answer at all."""
    handler.server.over.wait(30)
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Answer one byte at a time, without end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.close_connection = True
    try:
        while not handler.server.over.wait(0.01):
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        pass


def hang_up(handler: Handler) -> None:
    """Break the connection."""
    handler.close_connection = True
    handler.connection.close()


def stop_halfway(handler: Handler) -> None:
    """Announce more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"results": [')
    handler.close_connection = True


@contextmanager
def running() -> Iterator[Service]:
    """Run a service."""
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
