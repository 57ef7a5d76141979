"""Shows an answer as it comes, the tools that are called, and the sources below it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pinakes.chat.turn import INTERRUPTED, Called, Event, ToolCall, Turn, Words
from pinakes.cli.figures import plural
from pinakes.cli.output import console, show
from pinakes.cli.paths import path_text, span
from pinakes.cli.safe import one_line, safe

if TYPE_CHECKING:
    from rich.text import Text

    from pinakes.chat.sources import Source

_ARGUMENTS_WIDTH = 90


class Screen:
    """One answer on the terminal: its words on standard output, everything else on standard error."""

    def __init__(self) -> None:
        self._errors = console(stderr=True)
        self._open_line = False
        self._held = ""

    def show(self, event: Event) -> None:
        """Show what happens next."""
        if isinstance(event, Words):
            self._write(event.text)
        elif isinstance(event, Called):
            self._end_line()
            self._note(_tool_line(event.call, event.done), "red" if event.call.error else "dim")

    def finish(self, turn: Turn) -> None:
        """Show what stands below an answer."""
        self._end_line()
        if turn.citations:
            show("", *(source_line(source) for source in turn.citations))
        if turn.stopped:
            why = (
                "Stopped."
                if turn.stopped == INTERRUPTED
                else "Stopped: the time limit is reached (--timeout)."
            )
            self._note(why, "yellow")
        for note in turn.notes:
            self._note(note, "yellow")
        if turn.unknown_citations:
            numbers = ", ".join(f"[{number}]" for number in turn.unknown_citations)
            self._note(f"Cited, but never shown by a tool: {numbers}. Do not rely on it.", "yellow")
        elif not turn.citations and not turn.stopped and any(call.found for call in turn.tool_calls):
            self._note("The answer cites nothing of what was found.", "yellow")

    def trouble(self, text: str) -> None:
        """Show what went wrong; the conversation goes on."""
        self._end_line()
        self._note(f"error: {text}", "red")

    def _write(self, text: str) -> None:
        # A carriage return is shown as a symbol, unless a newline follows: that may come with the next piece.
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        text = safe(text[:-1] if self._held else text)
        if not text:
            return
        sys.stdout.write(text)
        sys.stdout.flush()
        self._open_line = not text.endswith("\n")

    def _end_line(self) -> None:
        self._held = ""
        if self._open_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open_line = False

    def _note(self, text: str, style: str) -> None:
        from rich.text import Text

        self._errors.print(Text(one_line(text), style=style), soft_wrap=True)


def source_line(source: Source) -> Text:
    """Return a source on one line: its number, its path, its section, its lines or pages."""
    from rich.text import Text

    line = Text(f"[{source.number}] ", style="bold").append_text(path_text(source.source_path))
    if source.name:
        line.append(f"  {one_line(source.name, 60)}")
    where = span(source.lines, source.pages, source.source_path)
    return line.append(f"  {where}" if where else "", style="dim")


def _tool_line(call: ToolCall, done: bool) -> str:
    if not done:
        return f"→ {call.name}({_arguments(call.arguments)})"
    if call.error:
        return f"✗ {call.name}: {call.error}"
    return f"✓ {call.name}: {'done' if call.found is None else _found(call.found)}"


def _found(count: int) -> str:
    return plural(count, "result") if count else "nothing found"


def _arguments(arguments: dict[str, Any]) -> str:
    values: Sequence[object] = list(arguments.values())
    if len(values) == 1:
        return one_line(json.dumps(values[0], ensure_ascii=False, default=str), _ARGUMENTS_WIDTH)
    pairs = (
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items()
    )
    return one_line(", ".join(pairs), _ARGUMENTS_WIDTH)
