"""A small HTTP server on loopback for protocol doubles: it can be taken away, open connections and all, and come back."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What a client sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Answer(NamedTuple):
    """What it gets; ``content`` is written as JSON unless it is None."""

    status: int
    content: Any = None


class HttpDouble:
    """Serves a function on 127.0.0.1, on the same port each time it starts."""

    def __init__(self, serve: Callable[[Request], Answer]) -> None:
        self._serve = serve
        self._server: _Server | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        """Listen."""
        self._server = _Server(("127.0.0.1", self.port), self._serve)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Refuse new connections and break those that are open."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.break_connections()
            self._server = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], serve: Callable[[Request], Answer]) -> None:
        self.serve = serve
        self._guard = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._guard:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def break_connections(self) -> None:
        with self._guard:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that were broken on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body go out as two writes: without this the second waits for the client's acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.serve(Request(self.command, self.path, headers, self.rfile.read(length)))
        body = b"" if answer.content is None else json.dumps(answer.content).encode()
        self.send_response(answer.status)
        self.send_header("content-type", "application/json")
        if answer.status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""
