"""``loccit chat``: a conversation with a model that looks things up in the documents and cites them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loccit.answers.verbatim.render import quote_lines
from loccit.cli.errors import ERROR, INTERRUPTED, NOTHING_FOUND
from loccit.cli.options import JsonOption
from loccit.cli.output import (
    console,
    display_path,
    message,
    one_line,
    path_text,
    plural,
    print_json,
    safe,
    show,
)
from loccit.errors import LoccitError, UsageError
from loccit.model.document import span

if TYPE_CHECKING:
    from rich.text import Text

    from loccit.chat import Event, Session, Source, ToolCall, Turn

LIMITS = "Limits per question"
_ARGUMENTS_WIDTH = 90
_INTERRUPTED = "interrupted"  # how a turn says that it was stopped at the keyboard
_PROMPT = "> "
_HELP = """\
/open N     read the section behind [N]
/sources    list every source found so far
/new        start a new conversation
/help       show this
/quit       quit; so does Ctrl-D
Ctrl-C stops an answer. Everything else is a question."""


def chat(
    agent: Annotated[Path, typer.Argument(metavar="AGENT.YAML", help="The agent: its model and its tools.")],
    message: Annotated[
        str | None,
        typer.Option(
            "--message", "-m", metavar="TEXT", help="Ask this and exit; - reads it from standard input."
        ),
    ] = None,
    max_tool_calls: Annotated[
        int, typer.Option(min=1, max=200, help="Most tool calls by the model.", rich_help_panel=LIMITS)
    ] = 12,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="Time limit for an answer.", rich_help_panel=LIMITS),
    ] = 180.0,
    token_budget: Annotated[
        int | None,
        typer.Option(
            min=100,
            max=1_000_000,
            metavar="N",
            help="Most tokens of a tool's answer; by default the tool's own setting, or 4000.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Chat with a model that looks things up in your documents and cites them.

    The model and the tools come from an agent file. In the conversation,
    /open 2 shows the section behind [2], /sources what was found so far, and
    /help the rest; Ctrl-C stops an answer, Ctrl-D quits. Piped lines are
    questions and commands, one per line.

    [bold]Examples[/bold]
    $ loccit chat agent.yaml
    $ loccit chat agent.yaml -m "Who must report a collision?"
    $ echo "Who must report a collision?" | loccit chat agent.yaml
    """
    from loccit.chat import Limits, open_session
    from loccit.cli.progress import reporter

    question = _question(message, as_json)
    limits = Limits(max_tool_calls, timeout, token_budget)
    with open_session(agent, limits, lambda: reporter(quiet=as_json)) as session:
        if question is None:
            if not _converse(session):
                raise typer.Exit(ERROR)
            return
        if as_json:
            turn = session.ask(question, lambda event: None)
            print_json({**turn.to_dict(), "model": session.model_name})
        else:
            screen = _Screen()
            turn = session.ask(question, screen.show)
            screen.finish(turn)
    raise typer.Exit(_code(turn.stopped, turn.nothing_found))


def _question(message: str | None, as_json: bool) -> str | None:
    """Return the one question to ask; None for a conversation."""
    if message is None and as_json and sys.stdin.isatty():
        raise UsageError("--json needs one question: pass it with --message, or pipe it in.")
    if message == "-" or (message is None and as_json):
        message = sys.stdin.read()
    if message is not None and not message.strip():
        raise UsageError("The question is empty.")
    return message


def _code(stopped: str, nothing_found: bool) -> int:
    if stopped:
        return INTERRUPTED if stopped == _INTERRUPTED else ERROR
    return NOTHING_FOUND if nothing_found else 0


def _converse(session: Session) -> bool:
    """Answer questions until there are no more; return whether all of them were answered."""
    at_keyboard = sys.stdin.isatty()
    if at_keyboard:
        _edit_lines()
        message(f"{session.name} · {session.model_name} · {', '.join(session.tool_names)}")
        message("Ask a question, or type /help.")
    well = True
    while True:
        try:
            line = input(_PROMPT) if at_keyboard else _next_line()
        except EOFError:
            if at_keyboard:
                message("")
            return well
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            message("Type /quit or press Ctrl-D to quit.")
            continue
        if not line.strip():
            continue
        screen = _Screen()
        try:
            if line.lstrip().startswith("/"):
                if not _command(session, line.strip()):
                    return well
            else:
                screen.finish(session.ask(line, screen.show))
        except LoccitError as error:
            # What went wrong concerns this line; the next one may do better.
            screen.trouble(str(error))
            well = False


def _command(session: Session, line: str) -> bool:
    """Do what a command says; return whether the conversation goes on."""
    from loccit.cli.views import show_section

    word, _, rest = line.partition(" ")
    if word in ("/quit", "/exit", "/q"):
        return False
    if word == "/open":
        number = rest.strip().strip("[]")
        if number.isdecimal():
            show_section(session.open(int(number)))
        else:
            message("Which one? /open 2 reads the section behind [2].")
    elif word == "/sources":
        sources = list(session.sources)
        if sources:
            show(*(_source_line(source) for source in sources))
        else:
            message("Nothing found so far.")
    elif word == "/new":
        session.forget()
        message("Started a new conversation.")
    elif word == "/help":
        show(_HELP)
    else:
        message(f"There is no command {one_line(word, 30)}; /help lists them.")
    return True


def _next_line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _edit_lines() -> None:
    """Let the arrow keys edit the line and bring back earlier ones, where Python can."""
    with suppress(ImportError):
        import readline  # noqa: F401


class _Screen:
    """One answer on the terminal: its words on standard output, everything else on standard error."""

    def __init__(self) -> None:
        self._errors = console(stderr=True)
        self._open_line = False
        self._held = ""

    def show(self, event: Event) -> None:
        """Show what happens next."""
        from loccit.chat import Called, Words

        if isinstance(event, Words):
            self._write(event.text)
        elif isinstance(event, Called):
            self._end_line()
            self._note(_tool_line(event.call, event.done), "red" if event.call.error else "dim")

    def finish(self, turn: Turn) -> None:
        """Show what stands below an answer."""
        self._end_line()
        if turn.citations:
            show("", *(_source_line(source) for source in turn.citations))
        if turn.stopped:
            why = "" if turn.stopped == _INTERRUPTED else ": time limit reached (--timeout)"
            self._note(f"Stopped{why}.", "yellow")
        for note in turn.notes:
            self._note(note, "yellow")
        for check in turn.false_quotations:
            first, *rest = quote_lines(check, display_path)
            self._note(f"Quotation {first}", "yellow")
            for line in rest:
                self._note(f"  {line}", "yellow")
        if turn.unknown_citations:
            numbers = ", ".join(f"[{number}]" for number in turn.unknown_citations)
            self._note(f"Cited, but never shown by a tool: {numbers}. Do not rely on it.", "yellow")
        elif not turn.citations and not turn.stopped and any(call.found for call in turn.tool_calls):
            self._note("The answer cites none of the sources found.", "yellow")

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


def _source_line(source: Source) -> Text:
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
