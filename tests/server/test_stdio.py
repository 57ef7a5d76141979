"""``loccit mcp`` as clients run it: a process of its own that speaks the protocol and nothing else."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

from mcp import Client
from mcp_types import CallToolResult
from tests.server.conftest import ask, stdio, text_of, write_documents

from loccit import Library

FRAMES: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "search_documents", "arguments": {"query": "collision"}},
    },
]


def test_a_client_of_the_older_protocol_gets_ten_answers_at_once(index_folder: Path) -> None:
    async def talk(client: Client) -> tuple[list[str], list[CallToolResult]]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        calls = (client.call_tool("search_documents", {"query": f"seal {number}"}) for number in range(10))
        return names, list(await asyncio.gather(*calls))

    names, answers = ask(stdio(folder=index_folder), talk, mode="legacy")
    assert "read_section" in names
    assert [answer.structured_content["query"] for answer in answers] == [f"seal {n}" for n in range(10)]


def start(folder: Path) -> tuple[subprocess.Popen[str], IO[str], IO[str]]:
    parameters = stdio(folder=folder)
    process = subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin and process.stdout
    return process, process.stdin, process.stdout


def send(stdin: IO[str], *lines: str) -> None:
    stdin.write("".join(f"{line}\n" for line in lines))
    stdin.flush()


def test_standard_output_holds_the_protocol_and_a_client_that_leaves_ends_the_server(
    index_folder: Path,
) -> None:
    process, stdin, stdout = start(index_folder)
    send(stdin, *map(json.dumps, FRAMES[:2]), "this is no JSON", json.dumps(FRAMES[2]))
    answers: dict[int, Any] = {}
    while 2 not in answers:
        frame = json.loads(stdout.readline())
        if "id" in frame and frame["id"] is not None:
            answers[frame["id"]] = frame
    assert answers[1]["result"]["serverInfo"]["name"] == "loccit"
    assert "within one hour" in answers[2]["result"]["content"][0]["text"]
    stdin.close()
    assert process.wait(30) == 0
    assert [json.loads(line) for line in stdout.read().splitlines()] == []
    assert process.stderr
    assert "Traceback" not in process.stderr.read()


def test_a_client_that_dies_in_the_middle_of_a_call_ends_the_server(index_folder: Path) -> None:
    process, stdin, stdout = start(index_folder)
    send(stdin, *map(json.dumps, FRAMES[:2]))
    stdout.readline()
    # Nobody will read the answers any more, and then nobody writes either.
    stdout.close()
    send(stdin, *(json.dumps({**FRAMES[2], "id": number}) for number in range(2, 30)))
    process.stdin = None
    stdin.close()
    assert process.stderr
    errors = process.stderr.read()
    assert process.wait(30) == 0, errors
    assert "Traceback" not in errors


def test_a_signal_ends_the_server_while_it_waits_for_input(index_folder: Path) -> None:
    process, stdin, stdout = start(index_folder)
    send(stdin, *map(json.dumps, FRAMES[:2]))
    stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    process.communicate()


def test_what_another_process_indexes_is_found_without_a_new_start(tmp_path: Path) -> None:
    """The server is started before there is an index, sees it come, change, go, and come anew."""

    async def talk(client: Client) -> list[str]:
        seen = [text_of(await client.call_tool("search_documents", {"query": "collision"}))]
        write_documents(tmp_path / "docs")
        await index(tmp_path)
        seen.append(text_of(await client.call_tool("search_documents", {"query": "collision"})))
        (tmp_path / "docs/new.md").write_text("# Tides\n\nThe quokka tide is at noon.", encoding="utf-8")
        await index(tmp_path)
        seen.append(text_of(await client.call_tool("search_documents", {"query": "quokka"})))
        seen.append(text_of(await client.call_tool("list_documents", {})))
        (tmp_path / ".loccit").rename(tmp_path / "old")
        (tmp_path / "docs/new.md").write_text("# Tides\n\nThe wombat tide is at noon.", encoding="utf-8")
        await index(tmp_path)
        seen.append(text_of(await client.call_tool("search_documents", {"query": "tide at noon"})))
        return seen

    async def index(folder: Path) -> None:
        def run() -> None:
            with Library(folder / ".loccit") as library:
                library.index([folder / "docs"])

        await asyncio.to_thread(run)

    none_yet, first, second, listed, anew = ask(stdio(folder=tmp_path), talk)
    assert "loccit index PATH" in none_yet
    assert "within one hour" in first
    assert "quokka" in second
    assert "new.md" in listed
    assert "wombat" in anew
    assert "quokka" not in anew
