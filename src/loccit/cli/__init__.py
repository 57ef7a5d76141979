"""The command line: each module parses one command, calls the library and shows what it answers."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    _fill_standard_streams()
    from loccit.cli.app import app

    app(prog_name="loccit")


def _fill_standard_streams() -> None:
    """Open what a shell has closed of the three standard streams: other files would get their numbers."""
    # What is opened gets the lowest number that is free.
    while (free := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(free)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))
