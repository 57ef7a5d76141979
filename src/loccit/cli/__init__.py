"""The command line: each module parses one command, calls the library and shows what it answers."""

from __future__ import annotations

import os
import sys

# Variables with which a command does more than answer.
_CHANGING = ("LOCCIT_DEBUG", "LOCCIT_LOG_FORMAT", "LOCCIT_LOG_LEVEL", "_LOCCIT_COMPLETE")


def main() -> None:
    """Run the command line and leave with its exit code."""
    _fill_standard_streams()
    _ask_plainly(sys.argv[1:])
    from loccit.cli.app import app

    app(prog_name="loccit")


def _ask_plainly(words: list[str]) -> None:
    """Answer a question without Typer, and leave; come back if it is for Typer to read the command line."""
    if not words or words[0].startswith("-") or any(map(os.environ.get, _CHANGING)):
        return
    from loccit.cli.asking import parse
    from loccit.cli.questions import COMMANDS

    command = COMMANDS.get(words[0])
    given = None if command is None else parse(command.options(), words[1:])
    if command is None or given is None:
        return
    import logging

    from loccit.cli.errors import guarded

    asked = command()

    def run() -> int:
        logging.getLogger("loccit").setLevel(logging.WARNING)
        return asked.run(given)

    guarded(run, words)


def _fill_standard_streams() -> None:
    """Open what a shell has closed of the three standard streams: other files would get their numbers."""
    # What is opened gets the lowest number that is free.
    while (free := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(free)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))
