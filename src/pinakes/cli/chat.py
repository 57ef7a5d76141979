"""``pinakes chat``: a conversation with a model that looks things up in the documents and cites them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.errors import ERROR, INTERRUPTED, NOTHING_FOUND
from pinakes.cli.options import JsonOption
from pinakes.cli.output import print_json
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.chat import Session

LIMITS = "Limits of one question"


def chat(
    agent: Annotated[Path, typer.Argument(metavar="AGENT.YAML", help="The agent: its model and its tools.")],
    message: Annotated[
        str | None,
        typer.Option(
            "--message", "-m", metavar="TEXT", help="Ask this and leave; - reads it from standard input."
        ),
    ] = None,
    max_tool_calls: Annotated[
        int, typer.Option(min=1, max=200, help="How often the model may call tools.", rich_help_panel=LIMITS)
    ] = 12,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="How long an answer may take.", rich_help_panel=LIMITS),
    ] = 180.0,
    token_budget: Annotated[
        int | None,
        typer.Option(
            min=100,
            max=1_000_000,
            metavar="N",
            help="Most tokens of what a tool answers; else what the tool says, or 4000.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a model that looks things up in your documents, and see what it cites.

    The model and the tools come from an agent file. In the conversation,
    /open 2 shows the section behind [2], /sources what was found so far, and
    /help the rest; Ctrl-C stops an answer, Ctrl-D leaves. Lines that are piped
    in are questions and commands, one by one.

    [bold]Examples[/bold]
    $ pinakes chat agent.yaml
    $ pinakes chat agent.yaml -m "Who must report a collision?"
    $ echo "Who must report a collision?" | pinakes chat agent.yaml
    """
    from pinakes.chat import Limits, open_session
    from pinakes.cli.progress import reporter

    question = _question(message, as_json)
    limits = Limits(max_tool_calls, timeout, token_budget)
    with open_session(agent, limits, lambda: reporter(quiet=as_json)) as session:
        if as_json:
            _answer_json(session, question or "")
        elif question is not None:
            _answer(session, question)
        else:
            _converse(session)


def _question(message: str | None, as_json: bool) -> str | None:
    """Return the one question to ask; None for a conversation."""
    if message is None and as_json and sys.stdin.isatty():
        raise UsageError("--json answers one question: give it with --message, or pipe it in.")
    if message == "-" or (message is None and as_json):
        message = sys.stdin.read()
    if message is not None and not message.strip():
        raise UsageError("The question is empty.")
    return message


def _answer_json(session: Session, question: str) -> None:
    turn = session.ask(question, lambda event: None)
    print_json({**turn.to_dict(), "model": session.model_name})
    raise typer.Exit(_code(turn.stopped, turn.nothing_found))


def _answer(session: Session, question: str) -> None:
    from pinakes.cli.chat_screen import Screen

    screen = Screen()
    turn = session.ask(question, screen.show)
    screen.finish(turn)
    raise typer.Exit(_code(turn.stopped, turn.nothing_found))


def _converse(session: Session) -> None:
    from pinakes.cli.chat_prompt import converse

    if not converse(session):
        raise typer.Exit(ERROR)


def _code(stopped: str, nothing_found: bool) -> int:
    if stopped:
        return INTERRUPTED if stopped == "interrupted" else ERROR
    return NOTHING_FOUND if nothing_found else 0
