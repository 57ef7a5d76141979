"""The command line: each module parses one command, calls the library and shows what it answers."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    from pinakes.processes import fill_standard_streams

    fill_standard_streams()
    from pinakes.cli.app import app

    app(prog_name="pinakes")
