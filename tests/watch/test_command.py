"""``loccit index --watch`` as a user meets it: a process of its own, real files, signals."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PATIENCE = 90.0

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


class Command:
    """A running command whose lines are read as they come."""

    def __init__(self, folder: Path, *args: str) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("LOCCIT_", "OTEL_"))
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "loccit", *args],
            cwd=folder,
            env={**environment, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.out, self.err = self._reader(self.process.stdout), self._reader(self.process.stderr)

    @staticmethod
    def _reader(stream: Any) -> queue.Queue[str]:
        lines: queue.Queue[str] = queue.Queue()

        def read() -> None:
            for line in stream:
                lines.put(line)

        threading.Thread(target=read, daemon=True).start()
        return lines

    def line(self, holding: str = "") -> str:
        while holding not in (line := self.out.get(timeout=PATIENCE)):
            pass
        return line

    def data(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.line())
        return loaded

    def said(self, holding: str) -> str:
        while holding not in (line := self.err.get(timeout=PATIENCE)):
            pass
        return line

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "first.md").write_text("# First\n\nThe harbour is closed.\n", encoding="utf-8")
    begun: list[Command] = []

    def start(*args: str) -> Command:
        begun.append(Command(tmp_path, *args))
        return begun[-1]

    yield start
    for command in begun:
        if command.process.poll() is None:
            command.process.kill()
            command.process.wait()


def test_json_is_one_line_a_run_until_it_is_terminated(tmp_path: Path, run: Callable[..., Command]) -> None:
    command = run("index", "docs", "--watch", "--json", "--workers", "1")
    first = command.data()
    assert (first["run"], len(first["added"])) == (1, 1)
    (tmp_path / "docs" / "second.md").write_text("# Second\n\nA gale warning.\n", encoding="utf-8")
    second = command.data()
    assert (second["run"], second["added"]) == (2, [str(tmp_path / "docs" / "second.md")])
    (tmp_path / "docs" / "first.md").unlink()
    assert command.data()["removed"] == [str(tmp_path / "docs" / "first.md")]
    assert command.end(signal.SIGTERM) == 0
    assert command.out.empty()
    assert command.said("Stopped watching.")


def test_people_see_what_changed_until_they_press_ctrl_c(tmp_path: Path, run: Callable[..., Command]) -> None:
    command = run("index", "docs", "--watch", "--workers", "1")
    assert "1 added" in command.line()
    assert "docs" in command.said("Watching")
    (tmp_path / "docs" / "first.md").write_text("# First\n\nThe harbour is open.\n", encoding="utf-8")
    assert "1 updated" in command.line("updated")
    assert "docs/first.md" in command.line("first.md")
    assert command.end(signal.SIGINT) == 0
    assert "Traceback" not in "".join(command.err.queue)


def test_it_can_be_stopped_amid_the_first_run(tmp_path: Path, run: Callable[..., Command]) -> None:
    for number in range(60):
        text = "\n\n".join(f"Paragraph {count} of number {number}." for count in range(300))
        (tmp_path / "docs" / f"n{number}.md").write_text(f"# N\n\n{text}", encoding="utf-8")
    command = run("index", "docs", "--watch", "--workers", "1")
    # Whichever stage it has come to when it first says how far it is.
    command.said(" of ")
    assert command.end(signal.SIGTERM) == 0
    assert command.said("Stopped watching.")


def test_an_error_at_the_start_ends_it(run: Callable[..., Command]) -> None:
    command = run("index", "nowhere", "--watch", "--json", "--index", "made")
    assert command.process.wait(PATIENCE) == 2
    command = run("index", "docs", "--watch", "--estimate")
    assert command.process.wait(PATIENCE) == 2
    assert "give only one" in command.said("error")


def test_an_error_at_the_start_is_one_line_of_json(tmp_path: Path, run: Callable[..., Command]) -> None:
    assert run("index", "docs", "--no-embed", "--workers", "1").process.wait(PATIENCE) == 0
    command = run("index", "nowhere", "--watch", "--json")
    assert command.data()["error"]["type"] == "UsageError"
    assert command.process.wait(PATIENCE) == 2
    assert "does not exist" in command.said("error")
