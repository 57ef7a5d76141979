"""A conversation for callers that wait: opened from an agent file, asked, closed."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from loccit.chat.conversation import Conversation
from loccit.chat.models import build_model
from loccit.errors import UsageError

if TYPE_CHECKING:
    from loccit.agent import AgentConfig
    from loccit.chat.toolset import Reporter
    from loccit.chat.turn import Limits, Show, Sources, Turn
    from loccit.model import SectionView


T = TypeVar("T")


class TurnLoop:
    """An event loop that lives as long as the conversation: connections to the model stay open between answers."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, T], stop: Callable[[], None] | None = None) -> T:
        """Run to the end. The first Ctrl-C calls ``stop``, which should bring the end about; the second raises."""
        if stop is None or threading.current_thread() is not threading.main_thread():
            return self._loop.run_until_complete(work)
        asked = False

        def interrupt(number: int, frame: FrameType | None) -> None:
            nonlocal asked
            if asked:
                raise KeyboardInterrupt
            asked = True
            self._loop.call_soon_threadsafe(stop)

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            return self._loop.run_until_complete(work)
        finally:
            signal.signal(signal.SIGINT, before)

    def close(self) -> None:
        """End what is still running and close the loop."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


class Session:
    """One conversation and the event loop that it runs on."""

    def __init__(self, name: str, conversation: Conversation, tool_names: list[str]) -> None:
        self.name = name
        self.tool_names = tool_names
        self._conversation = conversation
        self._loop = TurnLoop()

    @property
    def model_name(self) -> str:
        """The model that is asked."""
        return self._conversation.model.name

    @property
    def sources(self) -> Sources:
        """Everything that was found so far."""
        return self._conversation.sources

    def ask(self, question: str, show: Show) -> Turn:
        """Return the answer to a question; Ctrl-C stops it."""
        return self._loop.run(self._conversation.ask(question, show), self._conversation.stop)

    def open(self, number: int) -> SectionView:
        """Return the section behind a citation."""
        return self._loop.run(self._conversation.open(number))

    def forget(self) -> None:
        """Begin anew."""
        self._conversation.forget()

    def close(self) -> None:
        """Let go of everything."""
        try:
            self._loop.close()
        finally:
            self._conversation.close()


@contextmanager
def open_session(
    path: str | Path, limits: Limits | None = None, reporter: Callable[[], Reporter] = nullcontext
) -> Iterator[Session]:
    """Open a conversation with the agent of a file; ``reporter`` shows the reading of documents."""
    from loccit.agent import load_agent

    agent = load_agent(path)
    session = Session(
        agent.name,
        _conversation(agent, str(path), limits, reporter),
        [tool.name for tool in agent.document_tools],
    )
    try:
        yield session
    finally:
        session.close()


def _conversation(
    agent: AgentConfig, file: str, limits: Limits | None, reporter: Callable[[], Reporter]
) -> Conversation:
    if not agent.document_tools:
        raise UsageError(
            f"{file} has no tool of type hierarchical_document, so there is nothing to look up: add one below tools."
        )
    model = build_model(agent.model, file)
    from loccit.tools.document_tool import close_tools, open_tools

    for config in agent.document_tools:
        config.check_source()
    tools = open_tools(agent)
    try:
        return Conversation(
            model,
            tools,
            instructions=agent.instructions_text(),
            limits=limits,
            name=agent.name,
            reporter=reporter,
        )
    except BaseException:
        close_tools(tools)
        raise
