"""An agent that follows a script: it calls the tools of a real server over stdio, and everything is counted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from loccit.models.embedding import load_tokenizer

_TOKENIZER = load_tokenizer()


def tokens(text: str) -> int:
    """Return how many tokens the bundled tokenizer makes of a text."""
    return len(_TOKENIZER.offsets(text))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answered."""

    text: str
    refused: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines between the marks of quoted text, where documents speak; all lines, where nothing is marked."""
        inside, found, marked = False, [], False
        for line in self.text.splitlines():
            if line.startswith("<quote-"):
                inside = marked = True
            elif line.startswith("</quote-"):
                inside = False
            elif inside and line.strip():
                found.append(line)
        return found if marked else [line for line in self.text.splitlines() if line.strip()]


@dataclass(slots=True)
class Agent:
    """What a script holds: the tools that the server has, and what was said so far."""

    client: Client
    schemas: Mapping[str, Mapping[str, Any]]
    replies: list[Reply] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    sent: int = 0
    received: int = 0

    def takes(self, tool: str, argument: str = "") -> bool:
        """Whether the server has a tool, and whether the tool lists an argument."""
        return tool in self.schemas and (not argument or argument in self.schemas[tool])

    async def call(self, tool: str, **arguments: Any) -> Reply:
        """Call a tool; the answer is remembered."""
        answer = await self.client.call_tool(tool, arguments)
        text = "\n".join(getattr(block, "text", "") for block in answer.content)
        values = answer.structured_content
        self.asked.append(json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False))
        self.sent += tokens(self.asked[-1])
        self.received += tokens(text) + (tokens(json.dumps(values, ensure_ascii=False)) if values else 0)
        reply = Reply(text, bool(answer.is_error))
        self.replies.append(reply)
        return reply

    def transcript(self) -> str:
        """Return what was asked and answered."""
        turns = zip(self.asked, self.replies, strict=True)
        return "\n\n".join(f">>> {asked}\n{reply.text}" for asked, reply in turns)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started, and how long the list of its tools is."""

    client: Client
    schemas: Mapping[str, Mapping[str, Any]]
    listed: int

    def agent(self) -> Agent:
        """Return an agent that has not asked anything yet."""
        return Agent(self.client, self.schemas)


@asynccontextmanager
async def serving(index: Path, output: str = "text", source: Path | None = None) -> AsyncIterator[Server]:
    """Start a server on an index, from this checkout or from the sources of another one."""
    start = StdioServerParameters(
        command=sys.executable,
        args=["-m", "loccit", "mcp", "--index", str(index), "--output", output],
        env=environment(source),
    )
    async with Client(start, mode="legacy") as client:
        tools = (await client.list_tools()).tools
        listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
        schemas = {tool.name: tool.input_schema["properties"] for tool in tools}
        yield Server(client, schemas, tokens(json.dumps(listed, ensure_ascii=False)))


def environment(source: Path | None) -> dict[str, str]:
    """Return the environment in which the package of a checkout is imported."""
    here = source or Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": str(here / "src")}
