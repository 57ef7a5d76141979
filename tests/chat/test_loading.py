"""Documents are read when a tool is first called: one tool after the other, and without the clock running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.chat.conftest import TOOL
from tests.chat.servers import Call, Say, Server

from loccit.chat import open_session
from loccit.chat.conversation import Deadline
from loccit.model import Progress

WriteAgent = Callable[..., Path]


def test_two_tools_that_are_called_at_once_report_one_after_the_other(
    openai: Server, write_agent: WriteAgent
) -> None:
    reports: list[str] = []

    @contextmanager
    def reporter() -> Iterator[Callable[[Progress], None]]:
        reports.append("begin")
        yield lambda step: None
        reports.append("end")

    names = ("search_harbour", "search_quay")
    calls = [Call(name, {"query": "collision"}) for name in (*names, *names)]
    openai.script = [calls, [Say("Within one hour.")]]
    agent = write_agent(openai, tools=TOOL + TOOL.replace(names[0], names[1]))
    with open_session(agent, reporter=reporter) as session:
        turn = session.ask("When?", lambda event: None)
    assert turn.answer == "Within one hour."
    assert [call.error for call in turn.tool_calls] == [""] * 4
    assert reports == ["begin", "end"] * 2


def test_a_pause_that_ends_after_the_question_does_not_start_the_clock_again() -> None:
    fired: list[str] = []

    async def main() -> None:
        deadline = Deadline(0.01, lambda: fired.append("too late"))
        with deadline.paused():
            deadline.cancel()
        await asyncio.sleep(0.05)

    asyncio.run(main())
    assert fired == []


def test_the_clock_runs_except_in_pauses() -> None:
    fired: list[str] = []

    async def main() -> None:
        deadline: Any = Deadline(0.02, lambda: fired.append("time is up"))
        with deadline.paused():
            await asyncio.sleep(0.05)
            assert fired == []
        while not fired:
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert fired == ["time is up"]
