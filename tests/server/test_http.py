"""The HTTP server lets in who may come in: by host, origin and token."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.server.conftest import SOURCE, ask, index_registry, served, text_of

from loccit.errors import UsageError
from loccit.server.guard import Guard
from loccit.server.http import build_app, listen
from loccit.workers.loopback import is_loopback

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def knock(url: str, **headers: str) -> int:
    """Begin a conversation, and return the status of the answer."""
    return httpx.post(url, json=INITIALIZE, headers={**ACCEPT, **headers}).status_code


def test_health_is_told(url: str) -> None:
    answer = httpx.get(url.replace("/mcp", "/health"))
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


def test_a_request_under_another_name_is_refused(url: str) -> None:
    assert knock(url) == 200
    port = url.split(":")[2].split("/")[0]
    assert knock(url, Host=f"localhost:{port}") == 200
    assert knock(url, Host=f"evil.example:{port}") == 421
    assert knock(url, Host="127.0.0.1.evil.example") == 421
    assert knock(url, Host="192.168.1.7") == 421
    health = httpx.get(url.replace("/mcp", "/health"), headers={"Host": "evil.example"})
    assert health.status_code == 421


def test_a_page_from_elsewhere_is_refused(url: str) -> None:
    assert knock(url, Origin="http://localhost:3000") == 200
    assert knock(url, Origin="http://127.0.0.1") == 200
    for origin in (
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://[broken",
        "file://",
    ):
        assert knock(url, Origin=origin) == 403, origin


@pytest.fixture(scope="module")
def guarded(index_folder: Path) -> Iterator[str]:
    """A server that wants a token; it listens here as if it could be reached from elsewhere."""
    with served(
        index_registry(index_folder), host="0.0.0.0", token="s3cret", allowed_hosts=["docs.example"]
    ) as address:
        yield f"{address}/mcp"


def test_without_the_token_nobody_gets_in(guarded: str) -> None:
    for given in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "s3cret"},
        {"Authorization": "Basic s3cret"},
    ):
        answer = httpx.post(guarded, json=INITIALIZE, headers={**ACCEPT, **given})
        assert answer.status_code == 401, given
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert httpx.get(guarded.replace("/mcp", "/health")).status_code == 200


def test_a_token_is_only_asked_of_those_who_name_the_server(guarded: str) -> None:
    assert knock(guarded, Host="docs.example") == 401
    assert knock(guarded, Host="10.1.2.3:8000") == 401
    assert knock(guarded, Host="evil.example") == 421
    assert knock(guarded, Host="docs.example", Origin="https://docs.example") == 401
    assert knock(guarded, Host="docs.example", Origin="https://evil.example") == 403
    assert knock(guarded, Host="docs.example", Origin="http://localhost") == 403


def test_the_client_gets_in_with_the_token(guarded: str) -> None:
    http = create_mcp_http_client(headers={"Authorization": "Bearer s3cret"})
    found = ask(
        streamable_http_client(guarded, http_client=http),
        lambda client: client.call_tool("search_documents", {"query": "gale"}),
    )
    assert "gale warning" in text_of(found)


def test_an_address_for_others_needs_a_token(index_folder: Path) -> None:
    registry = index_registry(index_folder)
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org"):
        with pytest.raises(UsageError, match="--token"):
            build_app(registry, host=host)
    with pytest.raises(UsageError, match="ASCII"):
        build_app(registry, host="0.0.0.0", token="s3cret ß")
    assert is_loopback("127.8.9.1")
    assert not is_loopback("127.evil.example")


def test_a_port_that_is_taken_is_said(url: str) -> None:
    port = int(url.split(":")[2].split("/")[0])
    with pytest.raises(UsageError, match=f"port {port}"):
        listen("127.0.0.1", port)


def test_a_guard_lets_other_kinds_of_messages_through() -> None:
    passed = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    import asyncio

    asyncio.run(Guard(app)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert passed == ["lifespan"]


def test_the_command_serves_says_where_and_stops(index_folder: Path) -> None:
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(SOURCE)]))
    process = subprocess.Popen(
        [sys.executable, "-m", "loccit", "serve", "--port", "0"],
        cwd=index_folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
    assert found

    async def talk(client: Client) -> str:
        return text_of(await client.call_tool("search_documents", {"query": "gale"}))

    assert "gale warning" in ask(f"{found[0]}/mcp", talk)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert (out, errors) == ("", "")
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="closes a stream as a POSIX shell does")
def test_the_command_serves_without_standard_output(index_folder: Path) -> None:
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(SOURCE)]))
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$0" -m loccit serve --port 0 >&- <&-', sys.executable],
        cwd=index_folder,
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
    assert found
    assert httpx.get(f"{found[0]}/health").json()["status"] == "ok"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == ""
