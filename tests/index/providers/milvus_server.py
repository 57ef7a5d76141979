"""A real Milvus server, where the ``milvus-server`` of the PyPI package ``milvus`` is on the path (version 2.3.5).

The package needs nothing beside itself. It is not among the development dependencies, because it is old: no sparse
vectors, no BM25, no fusion. What the store does with such a server is tried as well.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

COMMAND = shutil.which(os.environ.get("LOCCIT_TEST_MILVUS_SERVER", "milvus-server"))
TOKEN = "root:Milvus"
# One that is started again waits until the leases of the one before have run out.
_WAIT_SECONDS = 240


class MilvusServer:
    """A process of its own, in a group of its own, so that all of it can be stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """The address for connection_string."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        assert COMMAND is not None
        if self._process is None:
            command = [COMMAND, "--data", str(self._folder), "--proxy-port", str(self.port)]
            self._process = subprocess.Popen(
                [*command, "--authorization-enabled", "true"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                client = MilvusClient(self.url, token=TOKEN, timeout=5)
                client.list_collections(timeout=5)
                client.close()
                return
            except MilvusException:  # noqa: PERF203
                if time.monotonic() > end:
                    raise
                time.sleep(1)

    def stop(self) -> None:
        """Stop it by its own process group."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGINT)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None
