"""``loccit connect``: use a library here that a database holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.database import (
    CollectionOption,
    ConnectionEnvOption,
    ConnectionOption,
    DatabaseOption,
    NativeOption,
    SettingsOption,
    given_database,
)
from loccit.cli.folder import FOLDER, index_path
from loccit.cli.options import IndexOption, JsonOption, QuietOption
from loccit.cli.output import display_path, plural, print_json, show
from loccit.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from loccit.model import Status


def connect(
    provider: Annotated[
        str | None,
        typer.Argument(
            metavar="PROVIDER",
            help="The database, such as postgres or qdrant; LOCCIT_DATABASE by default.",
            show_default=False,
        ),
    ] = None,
    database: DatabaseOption = None,
    connection: ConnectionOption = None,
    connection_env: ConnectionEnvOption = None,
    collection: CollectionOption = None,
    native: NativeOption = None,
    options: SettingsOption = None,
    quiet: QuietOption = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Connect this machine to a library that a database holds.

    Copies its record into an index folder, ./.loccit unless there is one here or above. After that every
    command works on the library and follows what others publish. Nothing is embedded again.

    [bold]Examples[/bold]
    $ export LOCCIT_CONNECTION_STRING=postgresql://ann:secret@db.example/search
    $ loccit connect postgres --collection laws
    $ loccit search reporting duties of the harbour master
    """
    from loccit.cli.progress import reporter
    from loccit.index.settings import PROVIDER_VARIABLE
    from loccit.library import Library

    if provider and database and provider != database:
        raise UsageError(f"{provider} and --database {database} are different databases; give only one.")
    target = index_path(index) or Path(FOLDER)
    settings = given_database(
        target,
        provider or database or os.environ.get(PROVIDER_VARIABLE),
        connection=connection,
        connection_env=connection_env,
        collection=collection,
        native=native,
        options=options,
    )
    if settings is None:
        raise UsageError("Name the database that holds the library, as in: loccit connect postgres")
    with reporter(quiet) as progress, Library.connect(target, settings, progress=progress) as library:
        state = library.status()
    if as_json:
        print_json(state.to_dict())
    else:
        show(_summary(state))


def _summary(state: Status) -> Text:
    from rich.text import Text

    line = Text(f"Connected to {state.database}", style="green")
    line.append(
        f" · {plural(state.documents, 'document')} · {plural(state.chunks, 'chunk')}", style="default"
    )
    return line.append(f" · {display_path(state.path)}", style="dim")
