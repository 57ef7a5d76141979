"""How long an agent waits for ``loccit mcp``: for the first answer of a new process, and for those that follow.

    python -m benchmarks.mcp_speed [--index DIR] [--chunks 10000] [--starts 7] [--rounds 5]

Uses the index that ``benchmarks.ingest`` leaves, cut down as in ``search_speed``. The client is the SDK's own, over
standard input and output; the first answer is timed from before the process is started. Both kinds of answers are
timed: text with structured values, and text alone, which is what ``loccit mcp install`` asks for. Beside the time that
passes stands that of the processor, which other work on the machine hardly touches: on an idle one they are the same.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters

from benchmarks.common import RESULTS, eval_dir, load_average, percentile, save
from benchmarks.large_index import cut_down
from benchmarks.search_speed import QUERIES
from loccit import Library

TOOL = "search_documents"


def server(index: Path, output: str) -> StdioServerParameters:
    arguments = ["-m", "loccit", "mcp", "--index", str(index), "--output", output]
    return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))


async def first_answer(index: Path, output: str) -> float:
    """Return the seconds from before a process is started until it has answered a search."""
    start = time.perf_counter()
    async with Client(server(index, output), mode="legacy") as client:
        answer = await client.call_tool(TOOL, {"query": QUERIES[0]})
        seconds = time.perf_counter() - start
    if answer.is_error:
        raise RuntimeError(answer.content)
    return seconds


class Following(NamedTuple):
    """Milliseconds of searches: until the answer is there, and of the processor, for the server and for the client."""

    waited: list[float]
    server: list[float]
    client: list[float]


async def following_answers(index: Path, output: str, rounds: int) -> Following:
    """Return how long searches take by a client that has been there for a while."""
    found = Following([], [], [])
    before = children()
    async with Client(server(index, output), mode="legacy") as client:
        (process,) = children() - before
        await client.list_tools()
        for query in QUERIES:
            await client.call_tool(TOOL, {"query": query})
        clocks: list[Callable[[], float]] = [
            time.perf_counter,
            partial(processor_seconds, process),
            time.process_time,
        ]
        for _ in range(rounds):
            for query in QUERIES:
                starts = [clock() for clock in clocks]
                await client.call_tool(TOOL, {"query": query})
                for times, clock, start in zip(found, clocks, starts, strict=True):
                    times.append((clock() - start) * 1000)
    return found


def children() -> set[int]:
    """Return the processes that this one has started."""
    return {
        int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()
    }


def processor_seconds(process: int) -> float:
    """Return the processor time of all threads of a process, to the microsecond."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


async def measured(index: Path, starts: int, rounds: int) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for output in ("both", "text"):
        firsts = [await first_answer(index, output) for _ in range(starts + 1)][1:]
        later = await following_answers(index, output, rounds)
        figures[output] = {
            "first_s": percentile(firsts, 0.5),
            "first_slowest_s": max(firsts),
            "p50_ms": percentile(later.waited, 0.5),
            "p95_ms": percentile(later.waited, 0.95),
            "server_ms": percentile(later.server, 0.5),
            "client_ms": percentile(later.client, 0.5),
        }
    with Library(index, create=False) as library:
        for query in QUERIES:
            library.search(query)
        alone = []
        for query in QUERIES * rounds:
            start = time.process_time()
            library.search(query)
            alone.append((time.process_time() - start) * 1000)
        figures["in_process_ms"] = percentile(alone, 0.5)
        figures["chunks"] = library.status().chunks
    figures["load"] = load_average()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, default=RESULTS / "k8s" / "index")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    eval_dir("k8s_docs.tar.gz")
    if not options.index.exists():
        print(f"skipped: there is no index at {options.index}; run python -m benchmarks.ingest first")
        return
    with tempfile.TemporaryDirectory(dir=RESULTS) as scratch:
        copy = Path(scratch) / "index"
        shutil.copytree(options.index, copy)
        cut_down(copy, options.chunks)
        figures = asyncio.run(measured(copy, options.starts, options.rounds))
    for name, value in figures.items():
        print(f"{name:20} {value}")
    save("mcp_speed", figures)


if __name__ == "__main__":
    main()
