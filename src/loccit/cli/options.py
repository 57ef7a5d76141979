"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from loccit.cli.asking import INDEX, JSON
from loccit.config.settings import setting

IndexOption = Annotated[
    Path | None,
    typer.Option(
        *INDEX.flags,
        metavar=INDEX.metavar,
        envvar=INDEX.variable,
        help=INDEX.help,
        rich_help_panel=INDEX.panel,
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
JsonOption = Annotated[bool, typer.Option(*JSON.flags, help=JSON.help, rich_help_panel=JSON.panel)]


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
