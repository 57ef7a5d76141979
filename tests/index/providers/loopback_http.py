"""A small HTTP server on the loopback that can be taken away and brought back, for doubles of services."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Request:
    """What was asked. ``params`` has the first value of each; ``repeated`` has all."""

    method: str
    path: list[str]
    params: dict[str, str]
    repeated: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    raw_path: str = ""

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass
class RefusedError(Exception):
    """An answer that is an error."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


class LoopbackServer(ABC):
    """Answers on a port of 127.0.0.1 that stays the same when it is stopped and started."""

    def __init__(self) -> None:
        self._server: ThreadingHTTPServer | None = None
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        self.port = 0
        # Answers to give instead of working, first to last: statuses, for what passes.
        self.failures: list[int] = []
        self.seen: list[Request] = []

    @abstractmethod
    def answer(self, request: Request) -> tuple[int, Any]:
        """Return a status and a body."""

    @abstractmethod
    def failure(self, status: int) -> Any:
        """Return the body that the service sends with a status of trouble."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with double._guard:
                    double._open.add(self.connection)

            def finish(self) -> None:
                with double._guard:
                    double._open.discard(self.connection)
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

            def log_message(self, format: str, *args: Any) -> None:
                return

            def handle(self) -> None:
                with contextlib.suppress(OSError, ValueError):
                    super().handle()

            def serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                parts = urlsplit(self.path)
                repeated = parse_qs(parts.query, keep_blank_values=True)
                request = Request(
                    self.command,
                    [unquote(part) for part in parts.path.split("/") if part],
                    {name: values[0] for name, values in repeated.items()},
                    repeated,
                    {name.lower(): value for name, value in self.headers.items()},
                    body,
                    self.path,
                )
                double.seen.append(request)
                headers: dict[str, str] = {}
                try:
                    if double.failures:
                        status = double.failures.pop(0)
                        raise RefusedError(status, double.failure(status))
                    status, answer = double.answer(request)
                except RefusedError as refusal:
                    status, answer, headers = refusal.status, refusal.body, refusal.headers
                data = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = serve  # noqa: N815

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse new connections, and break those that are open."""
        server, self._server = self._server, None
        if server is None:
            return
        server.shutdown()
        server.server_close()
        with self._guard:
            broken = list(self._open)
        for connection in broken:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
