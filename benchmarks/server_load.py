"""How ``loccit serve`` holds up: its API, its page in a browser, many searches at once, and searches while indexing;
and many agents at once, over MCP, with one process and with two.

    python -m benchmarks.server_load [--index DIR] [--chunks 10000] [--at-once 50] [--seconds 60]

Uses the index that ``benchmarks.ingest`` leaves, cut down as in ``search_speed``. The server is a process of its own,
started as anybody starts it; clients share the cores with it. Load averages stand beside the figures, because other
work on the machine lengthens them all, and processor time of the server, which it hardly touches.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import http.client
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp import Client as McpClient

from benchmarks.common import RESULTS, eval_dir, percentile, save
from benchmarks.large_index import cut_down
from benchmarks.search_speed import QUERIES, show
from benchmarks.server_browser import in_browser
from loccit.server.static import FOLDER

_FILES = 40  # indexed while others search
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    """A running server: where it is, and what its process and those that it started take."""

    port: int
    pid: int

    def processor_seconds(self) -> float:
        return sum(_processor_seconds(pid) for pid in self._pids())

    def memory_mb(self) -> float:
        """Return what they hold alone and their share of what they hold together."""
        return sum(_memory_mb(pid) for pid in self._pids())

    def processes(self) -> int:
        return len(self._pids())

    def _pids(self) -> list[int]:
        # Each thread has its own children.
        threads = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [self.pid, *(int(pid) for path in threads for pid in path.read_text().split())]


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _memory_mb(pid: int) -> float:
    found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


@contextlib.contextmanager
def served(index: Path, *options: str) -> Iterator[Server]:
    """Serve an index with a new process until it is no longer needed; begins when the server says that it is ready."""
    command = [sys.executable, "-m", "loccit", "serve", "--port", "0", "--index", str(index), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        heard = ""
        while not (said := re.search(r"http://127\.0\.0\.1:(\d+) ", heard)):
            line = process.stderr.readline()
            if not line:
                raise RuntimeError(f"the server did not start: {heard}")
            heard += line
        # Read on, or a server with much to say would wait for its reader.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        server = Server(int(said[1]), process.pid)
        while Client(server).get("/ready")[0] != 200:
            time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        process.wait()


class Client:
    """One connection that is kept, as that of a browser is."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def get(self, path: str, encoding: str = "gzip") -> tuple[int, bytes]:
        try:
            self._connection.request("GET", path, headers={"Accept-Encoding": encoding})
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0, b""

    def json(self, path: str) -> Any:
        status, body = self.get(path, "identity")
        if status != 200:
            raise RuntimeError(f"{path}: {status}")
        return json.loads(body)


@dataclass
class Searches:
    """What came of a number of searches by several clients."""

    seconds: list[float] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        return {
            "searches": len(self.seconds),
            "errors": len(self.errors),
            "statuses_of_errors": sorted(set(self.errors)),
            "p50_ms": percentile(self.seconds, 0.5) * 1000,
            "p95_ms": percentile(self.seconds, 0.95) * 1000,
            "slowest_ms": max(self.seconds) * 1000,
        }


def chunks_of(server: Server) -> int:
    # A new connection: the server ends those that are silent for some seconds.
    return int(Client(server).json("/api/status")["libraries"][0]["chunks"])


def search_path(query: str) -> str:
    return f"/api/search?q={quote(query)}&top_k=10"


def one_by_one(server: Server, rounds: int) -> dict[str, Any]:
    """Return how long one client waits that asks one thing after the other."""
    client, found = Client(server), Searches()
    for query in QUERIES:
        client.get(search_path(query))
    before = server.processor_seconds()
    for _ in range(rounds):
        for query in QUERIES:
            ask(client, query, found)
    figures = found.figures()
    figures["processor_ms_a_search"] = (server.processor_seconds() - before) / len(found.seconds) * 1000
    prefixes = [query[:length] for query in QUERIES for length in (2, 4, 8)]
    seconds = []
    for prefix in prefixes * 2:
        start = time.perf_counter()
        client.get(f"/api/suggest?q={quote(prefix)}")
        seconds.append(time.perf_counter() - start)
    figures["suggest_p50_ms"] = percentile(seconds[len(prefixes) :], 0.5) * 1000
    return figures


def ask(client: Client, query: str, found: Searches) -> None:
    start = time.perf_counter()
    status, body = client.get(search_path(query))
    found.seconds.append(time.perf_counter() - start)
    if status != 200 or not body:
        found.errors.append(status)


@contextlib.contextmanager
def many_searching(server: Server, clients: int, queries: list[str]) -> Iterator[Searches]:
    """Have several clients search, each as soon as it has its answer, until the block ends."""
    found, stop = Searches(), threading.Event()
    turns = itertools.cycle(queries)
    guard = threading.Lock()

    def search() -> None:
        client = Client(server)
        while not stop.is_set():
            with guard:
                query = next(turns)
            ask(client, query, found)

    threads = [threading.Thread(target=search) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def at_once(server: Server, clients: int, seconds: float, queries: list[str]) -> dict[str, Any]:
    """Return how a number of clients fare who all search without a pause, and what memory the server takes."""
    load, before = os.getloadavg()[0], server.processor_seconds()
    with many_searching(server, clients, queries) as found:
        memory = {}
        begun = time.monotonic()
        for moment in (seconds / 6, seconds / 2, seconds):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            memory[f"memory_mb_at_{moment:.0f}_s"] = server.memory_mb()
    processor = (server.processor_seconds() - before) / len(found.seconds) * 1000
    took = time.monotonic() - begun
    return {
        "clients": clients,
        **found.figures(),
        "searches_a_second": len(found.seconds) / took,
        "processes": server.processes(),
        "processor_ms_a_search": processor,
        **memory,
        "load_before": load,
    }


def agents_at_once(server: Server, clients: int, seconds: float) -> dict[str, Any]:
    """Return how agents fare who all search over MCP without a pause, once the server has gathered its processes."""
    found = Searches()

    async def search(number: int, until: float) -> None:
        async with McpClient(f"http://127.0.0.1:{server.port}/mcp", mode="legacy") as client:
            for query in itertools.cycle([*QUERIES[number % 20 :], *QUERIES[: number % 20]]):
                start = time.perf_counter()
                answer = await client.call_tool("search_documents", {"query": query})
                found.seconds.append(time.perf_counter() - start)
                found.errors += [500] if answer.is_error else []
                if time.monotonic() > until:
                    return

    async def search_all(until: float) -> None:
        await asyncio.gather(*(search(number, until) for number in range(clients)))

    asyncio.run(search_all(time.monotonic() + seconds / 3))
    found = Searches()
    load, before, begun = os.getloadavg()[0], server.processor_seconds(), time.monotonic()
    asyncio.run(search_all(begun + seconds))
    took = time.monotonic() - begun
    return {
        "clients": clients,
        **found.figures(),
        "searches_a_second": len(found.seconds) / took,
        "processes": server.processes(),
        "processor_ms_a_search": (server.processor_seconds() - before) / len(found.seconds) * 1000,
        "load_before": load,
    }


def while_indexing(
    server: Server, index: Path, docs: Path, scratch: Path, queries: list[str]
) -> dict[str, Any]:
    """Return how a few clients fare while another process adds files to the same index."""
    new = scratch / "new"
    new.mkdir()
    files = sorted(docs.rglob("*.md"), key=lambda path: path.stat().st_size)
    middle = files[len(files) // 2 :][:_FILES]
    for number, path in enumerate(middle):
        # Changed, or their vectors would be taken from the cache.
        text = re.sub(r"\b[Tt]he\b", "that", path.read_text(encoding="utf-8"))
        (new / f"{number}.md").write_text(text, encoding="utf-8")
    before = chunks_of(server)
    load, start = os.getloadavg()[0], time.monotonic()
    command = [sys.executable, "-m", "loccit", "index", str(new), "--index", str(index)]
    with many_searching(server, 4, queries) as found:
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=400)
        took = time.monotonic() - start
    return {
        "files": len(middle),
        "chunks_added": chunks_of(server) - before,
        "indexing_s": took,
        "indexing_failed": run.returncode != 0,
        "clients": 4,
        **found.figures(),
        "load_before": load,
    }


def weight(server: Server) -> dict[str, Any]:
    """Return what the files of the page weigh, as they lie there and as they are sent."""
    client = Client(server)
    plain = sent = 0
    names = [str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()]
    for name in names:
        status, body = client.get(f"/static/{name}")
        if status == 200:
            sent += len(body)
            plain += len(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
    return {"files": len(names), "plain_kb": plain / 1000, "sent_kb": sent / 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, default=RESULTS / "k8s" / "index")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    eval_dir("k8s_docs.tar.gz")
    if not options.index.exists():
        print(f"skipped: there is no index at {options.index}; run python -m benchmarks.ingest first")
        return
    figures: dict[str, Any] = {"load_at_start": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory(dir=RESULTS) as name:
        scratch = Path(name)
        index = scratch / "index"
        shutil.copytree(options.index, index)
        cut_down(index, options.chunks)
        with served(index) as server:
            figures["chunks"] = chunks_of(server)
            figures["weight"] = weight(server)
            figures["search"] = one_by_one(server, options.rounds)
            show(figures)
            figures.update(in_browser(f"http://127.0.0.1:{server.port}", scratch, served))
            titles = [item["title"] for item in Client(server).json("/api/documents")["documents"]]
            queries = [*QUERIES, *dict.fromkeys(title for title in titles if title)]
            random.Random(7).shuffle(queries)
            figures["at_once"] = at_once(server, options.at_once, options.seconds, queries)
            show({name: figures[name] for name in ("typing", "reading", "at_once") if name in figures})
            docs = options.index.parent / "docs"
            figures["while_indexing"] = while_indexing(server, index, docs, scratch, queries)
        for processes in ("1", "2"):
            with served(index, "--processes", processes) as server:
                figures[f"agents_{processes}"] = agents_at_once(server, 12, options.seconds / 3)
    show({name: value for name, value in figures.items() if name.startswith("agents")})
    figures["load_at_end"] = os.getloadavg()[0]
    show({"while_indexing": figures["while_indexing"]})
    save("server_load", figures)


if __name__ == "__main__":
    main()
