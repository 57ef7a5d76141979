"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GENERAL = "General"

IndexOption = Annotated[
    Path | None,
    typer.Option(
        "--index",
        "-i",
        metavar="DIR",
        envvar="PINAKES_INDEX",
        help="The index to use; else the nearest .pinakes/ upwards.",
        rich_help_panel=GENERAL,
    ),
]
DocumentOption = Annotated[
    str | None,
    typer.Option(
        "--document", "-d", metavar="DOC", help="Look in this document: its path, file name or title."
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output.", rich_help_panel=GENERAL),
]
