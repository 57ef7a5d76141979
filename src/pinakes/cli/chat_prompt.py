"""The conversation at the prompt: questions, and commands that begin with a slash."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pinakes.cli.chat_screen import Screen, source_line
from pinakes.cli.output import message, show
from pinakes.cli.safe import one_line
from pinakes.errors import PinakesError

if TYPE_CHECKING:
    from pinakes.chat import Session

PROMPT = "> "
HELP = """\
/open N     read the section behind [N]
/sources    list every source that was found so far
/new        forget the conversation and begin anew
/help       show this
/quit       leave; so does Ctrl-D
Ctrl-C stops an answer. Everything else is a question."""


def converse(session: Session) -> bool:
    """Answer questions until there are no more; return whether all of them were answered."""
    at_keyboard = sys.stdin.isatty()
    if at_keyboard:
        _edit_lines()
        message(f"{session.name} · {session.model_name} · {', '.join(session.tool_names)}")
        message("Ask a question, or type /help.")
    well = True
    while True:
        try:
            line = input(PROMPT) if at_keyboard else _next_line()
        except EOFError:
            if at_keyboard:
                message("")
            return well
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            message("Type /quit or press Ctrl-D to leave.")
            continue
        if not line.strip():
            continue
        screen = Screen()
        try:
            if line.lstrip().startswith("/"):
                if not _command(session, line.strip()):
                    return well
            else:
                screen.finish(session.ask(line, screen.show))
        except PinakesError as error:
            # What went wrong concerns this line; the next one may do better.
            screen.trouble(str(error))
            well = False


def _command(session: Session, line: str) -> bool:
    """Do what a command says; return whether the conversation goes on."""
    from pinakes.cli.section import show_section

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
            show(*(source_line(source) for source in sources))
        else:
            message("Nothing was found so far.")
    elif word == "/new":
        session.forget()
        message("A new conversation.")
    elif word == "/help":
        show(HELP)
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
