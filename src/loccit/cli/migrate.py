"""``loccit migrate``: move the library to another database, or out of one."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.database import (
    PANEL,
    CollectionOption,
    ConnectionEnvOption,
    ConnectionOption,
    NativeOption,
    SettingsOption,
    given_database,
)
from loccit.cli.folder import open_library
from loccit.cli.options import IndexOption, JsonOption, QuietOption
from loccit.cli.output import duration, one_line, plural, print_json, show
from loccit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import MoveReport


def migrate(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PROVIDER",
            help="The destination: a database such as postgres, or embedded for the index folder.",
            show_default=False,
        ),
    ],
    drop_old: Annotated[
        bool,
        typer.Option(
            "--drop-old", help="Delete the library at its old place, once the copy has been verified."
        ),
    ] = False,
    replace_other: Annotated[
        bool, typer.Option("--replace", help="Replace another library in the collection.")
    ] = False,
    connection: ConnectionOption = None,
    connection_env: ConnectionEnvOption = None,
    collection: CollectionOption = None,
    native: NativeOption = None,
    options: SettingsOption = None,
    key_env: Annotated[
        str | None,
        typer.Option(
            "--api-key-env",
            metavar="NAME",
            help="An environment variable with the key of the new database, if the old one uses another.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    quiet: QuietOption = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move the library to another database, without embedding anything again.

    The index switches to the new database once everything has been copied and counted. If interrupted
    before that, it stays where it was, and the same command continues. The old copy stays without --drop-old.

    [bold]Examples[/bold]
    $ loccit migrate --to postgres --collection laws
    $ loccit migrate --to qdrant --connection https://qdrant.example:6333 --drop-old
    $ loccit migrate --to embedded
    """
    from loccit.cli.progress import reporter

    with open_library(index) as library, reporter(quiet) as progress:
        database = given_database(
            None,  # what the index remembers is about the old one
            to,
            connection=connection,
            connection_env=connection_env,
            collection=collection,
            native=native,
            options=options,
        )
        assert database is not None
        if key_env:
            if not os.environ.get(key_env):
                raise UsageError(f"The environment variable {key_env} (--api-key-env) is not set.")
            database = replace(database, api_key=os.environ[key_env])
        report = library.migrate(database, replace=replace_other, drop_old=drop_old, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        show(*_summary(report))


def _summary(report: MoveReport) -> list[RenderableType]:
    from rich.text import Text

    line = Text(f"Moved from {report.source} to {report.target}", style="green")
    counts = f"{plural(report.documents, 'document')}, {plural(report.passages, 'passage')}"
    line.append(f" · {counts} · {report.copied:,} copied · {duration(report.seconds)}", style="default")
    left = "The old copy was deleted." if report.dropped else "The old copy is still there."
    lines: list[RenderableType] = [line, Text(left, style="dim")]
    lines += [Text(f"warning: {one_line(warning)}", style="yellow") for warning in report.warnings]
    return lines
