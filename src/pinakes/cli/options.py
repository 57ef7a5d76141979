"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pinakes.config.settings import setting

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


def setting_option(
    name: str, *flags: str, metavar: str | None = None, panel: str | None = None, more: str = ""
) -> Any:
    """Return the option that changes a setting; its help says what the setting does and what it may be."""
    known = setting(name)
    return typer.Option(
        *flags,
        metavar=metavar,
        help=f"{known.said()} {more}".strip(),
        rich_help_panel=panel,
        autocompletion=(lambda: list(known.choices)) if known.choices else None,
    )
