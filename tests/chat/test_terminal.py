"""At a real terminal: the prompt, Ctrl-C that stops the answer and not the program, and the way out."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.chat.servers import Call, Say, Server, Wait

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

WriteAgent = Callable[..., Path]
Start = Callable[..., subprocess.Popen[bytes]]
LONGEST = 60


class Terminal:
    """What is seen and typed at a pseudo-terminal."""

    def __init__(self, start: Start, *args: str | Path) -> None:
        self._ours, theirs = os.openpty()
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.process = start(*args, env={"TERM": "dumb", "COLUMNS": "120"}, **streams)
        os.close(theirs)
        self.seen = ""

    def wait_for(self, words: str, again: Callable[[], None] | None = None) -> None:
        """Read until these words are seen, after those before; ``again`` is called while nothing comes."""
        attempts = 0
        while words not in self.seen:
            ready, _, _ = select.select([self._ours], [], [], 1 if again else LONGEST)
            if not ready and again and attempts < LONGEST:
                attempts += 1
                again()
                continue
            assert ready, f"never saw {words!r} in {self.seen!r}"
            try:
                piece = os.read(self._ours, 65536)
            except OSError:  # how Linux says that nobody writes any more
                piece = b""
            assert piece, f"ended without {words!r}: {self.seen!r}"
            self.seen += piece.decode(errors="replace").replace("\r\n", "\n")
        self.seen = self.seen.partition(words)[2]

    def type(self, line: str) -> None:
        os.write(self._ours, line.encode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(LONGEST)
        os.close(self._ours)


@pytest.fixture
def sit_down(start: Start) -> Iterator[Callable[..., Terminal]]:
    """Start a conversation at a terminal."""
    opened = list[Terminal]()

    def begin(*args: str | Path) -> Terminal:
        opened.append(Terminal(start, *args))
        return opened[-1]

    yield begin
    for terminal in opened:
        terminal.close()


def test_ctrl_c_stops_the_answer_and_the_conversation_goes_on(
    openai: Server, write_agent: WriteAgent, sit_down: Callable[..., Terminal]
) -> None:
    wait = Wait()
    openai.script = [
        [Call("search_harbour", {"query": "collision"})],
        [Say("The master of "), wait],
        [Say("Within one hour [1].")],
    ]
    terminal = sit_down(write_agent(openai))
    terminal.wait_for("type /help")
    terminal.wait_for("> ")
    terminal.type("Who must report?\n")
    terminal.wait_for("✓ search_harbour")
    terminal.wait_for("The master of")
    assert wait.reached.wait(LONGEST)
    terminal.interrupt()
    terminal.wait_for("Stopped.")
    terminal.wait_for("> ")
    wait.go_on.set()
    # Python misses a Ctrl-C that comes between its prompt and its waiting for a key.
    terminal.wait_for("/quit", again=terminal.interrupt)
    terminal.wait_for("> ")
    terminal.type("And when?\n")
    terminal.wait_for("Within one hour [1].")
    terminal.wait_for("[1] docs/act.md")
    terminal.wait_for("> ")
    terminal.type("/open 1\n")
    terminal.wait_for("Section 21")
    terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.process.wait(LONGEST) == 0
    assert openai.refusals == []
    said = openai.requests[-1].messages
    assert [text for role, text in said if role == "user" and text][-1].endswith("And when?")
    assert any(role == "assistant" and "The master of" in text for role, text in said)


def test_ctrl_c_ends_a_single_question(
    openai: Server, write_agent: WriteAgent, sit_down: Callable[..., Terminal]
) -> None:
    wait = Wait()
    openai.script = [[Say("The master of "), wait]]
    terminal = sit_down(write_agent(openai), "-m", "Who must report?")
    terminal.wait_for("The master of")
    assert wait.reached.wait(LONGEST)
    terminal.interrupt()
    terminal.wait_for("Stopped.")
    wait.go_on.set()
    assert terminal.process.wait(LONGEST) == 130


def test_json_wants_a_question(
    openai: Server, write_agent: WriteAgent, sit_down: Callable[..., Terminal]
) -> None:
    terminal = sit_down(write_agent(openai), "--json")
    terminal.wait_for("--json needs one question")
    assert terminal.process.wait(LONGEST) == 2


def test_nobody_else_introduces_himself(
    openai: Server, write_agent: WriteAgent, start: Start, sit_down: Callable[..., Terminal]
) -> None:
    openai.script = [[Say("Hello.")]]
    process = start(
        write_agent(openai),
        "-m",
        "Hello?",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"AI_AGENT": "1", "PYTEST_VERSION": "", "CI": ""},
    )
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, err
    assert out.decode() == "Hello.\n"
    assert err == b""
