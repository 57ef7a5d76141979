"""A real Chroma server, with a guard before it that asks for a token.

Chroma's own server has no access control any more: its makers advise a proxy that checks who asks. The guard is one,
and the server behind it is theirs, started with ``chroma run``.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from tests.index.providers.loopback_http import LoopbackServer, RefusedError, Request

TOKEN = "sesame-1"


class ChromaServer:
    """The server as a process of its own, on a port and a folder that stay the same."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
        command += ["--path", str(self._folder / "data"), "--port", str(self.port)]
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            if self._answers():
                return
            time.sleep(0.05)
        raise RuntimeError((self._folder / "server.log").read_text()[-2000:])

    def _answers(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/api/v2/heartbeat").is_success
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None


class TokenGuard(LoopbackServer):
    """Passes on what carries the token, in either of the headers that Chroma's clients use."""

    def __init__(self, server: ChromaServer) -> None:
        super().__init__()
        self._behind = server
        self._client = httpx.Client(timeout=60)

    def answer(self, request: Request) -> tuple[int, Any]:
        """Ask the server behind."""
        tokens = (request.headers.get("authorization"), request.headers.get("x-chroma-token"))
        if f"Bearer {TOKEN}" not in tokens and TOKEN not in tokens:
            raise RefusedError(401, {"error": "who are you?"})
        try:
            got = self._client.request(
                request.method,
                f"http://127.0.0.1:{self._behind.port}{request.raw_path}",
                content=request.body,
                headers={"Content-Type": "application/json"},
            )
        except httpx.HTTPError:
            raise RefusedError(502, {"error": "nobody there"}) from None
        return got.status_code, _json(got.text)

    def failure(self, status: int) -> Any:
        """Return what a proxy would say."""
        return {"error": f"status {status}"}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
