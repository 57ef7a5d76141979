"""Connections: one that never says what it wants is closed, and there may be many at once."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from loccit.server import sockets
from loccit.server.http import listen

ASK = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
ASK_WITH_BODY = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 8\r\n\r\n"


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse((await request.body()).decode() or "hello")


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that waits a tenth of a second for a first request."""
    monkeypatch.setattr(sockets, "_REQUEST_SECONDS", 0.1)
    listener = listen("127.0.0.1", 0)
    app = Starlette(routes=[Route("/", _hello, methods=["GET", "POST"])])
    server = uvicorn.Server(uvicorn.Config(app, http=sockets.ImpatientProtocol, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()


def _is_answered(connection: socket.socket, body: bytes) -> bool:
    """Whether the next answer ends with this; it may come in pieces."""
    answer = b""
    while not answer.endswith(body) and (piece := connection.recv(4096)):
        answer += piece
    return answer.endswith(body)


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: 127.", ASK_WITH_BODY + b"half"])
@pytest.mark.parametrize("before", [False, True], ids=["first", "second"])
def test_a_connection_that_never_finishes_a_request_is_closed(port: int, begun: bytes, before: bool) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        if before:
            connection.sendall(ASK)
            assert _is_answered(connection, b"hello")
        connection.sendall(begun)
        assert connection.recv(1) == b""


def test_a_body_may_come_in_pieces(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(ASK_WITH_BODY + b"half")
        connection.sendall(b"half")
        assert _is_answered(connection, b"halfhalf")


def test_one_that_has_asked_is_kept(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(ASK)
        assert _is_answered(connection, b"hello")
        # Later than any that asked for nothing is kept.
        with socket.create_connection(("127.0.0.1", port), timeout=30) as silent:
            assert silent.recv(1) == b""
        connection.sendall(ASK)
        assert _is_answered(connection, b"hello")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_process_may_have_more_files_than_it_was_given() -> None:
    code = (
        "import resource as r; from loccit.server.sockets import allow_many_files as a\n"
        "hard = r.getrlimit(r.RLIMIT_NOFILE)[1]; r.setrlimit(r.RLIMIT_NOFILE, (64, hard)); a()\n"
        "print(r.getrlimit(r.RLIMIT_NOFILE)[0])\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); a(); print(r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    raised, kept = map(int, done.stdout.split())
    assert raised > 64
    assert kept == 64
