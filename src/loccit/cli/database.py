"""Options that name a database, and the settings that come of them."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loccit.cli.output import message
from loccit.errors import UsageError

if TYPE_CHECKING:
    from loccit.index.settings import DatabaseSettings

PANEL = "Database"
_NAMES = {
    "connection_string": "--connection",
    "connection_env": "--connection-env",
    "collection": "--collection",
    "native": "--native",
    "options": "--database-option",
}

DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="PROVIDER",
        help="The database that holds the library, such as postgres or qdrant; LOCCIT_DATABASE by default for a new "
        "index. The index remembers it.",
        rich_help_panel=PANEL,
    ),
]
ConnectionOption = Annotated[
    str | None,
    typer.Option(
        "--connection",
        metavar="ADDRESS",
        help="Its connection string; if it contains a password, set LOCCIT_CONNECTION_STRING instead.",
        rich_help_panel=PANEL,
    ),
]
ConnectionEnvOption = Annotated[
    str | None,
    typer.Option(
        "--connection-env",
        metavar="NAME",
        help="Another environment variable that holds the connection string.",
        rich_help_panel=PANEL,
    ),
]
CollectionOption = Annotated[
    str | None,
    typer.Option(
        "--collection",
        metavar="NAME",
        help="Name of the library in the database; loccit by default.",
        rich_help_panel=PANEL,
    ),
]
NativeOption = Annotated[
    str | None,
    typer.Option(
        "--native",
        metavar="WHAT",
        help="What the database does itself beyond vectors: none (the default), keyword or hybrid.",
        rich_help_panel=PANEL,
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--database-option",
        metavar="NAME=VALUE",
        help="An option for the provider, such as ef_search=200; may be repeated.",
        rich_help_panel=PANEL,
    ),
]


def given_database(
    folder: Path | None,
    provider: str | None,
    *,
    connection: str | None = None,
    connection_env: str | None = None,
    collection: str | None = None,
    native: str | None = None,
    options: Sequence[str] | None = None,
) -> DatabaseSettings | None:
    """Return the database that a command names for an index folder; None where it is the one the folder has.

    Without a folder, nothing is remembered.
    """
    from loccit.index.home import read_home
    from loccit.index.settings import EMBEDDED, PROVIDER_VARIABLE, DatabaseSettings

    home = read_home(folder) if folder else DatabaseSettings()
    values = _values(connection, connection_env, collection, native, options)
    if not provider and folder and not (folder / "record.sqlite3").exists():
        provider = os.environ.get(PROVIDER_VARIABLE) or None
    if not provider and values and home.provider != EMBEDDED:
        provider = home.provider
    if not provider:
        if values:
            raise UsageError(f"{_NAMES[next(iter(values))]} needs --database PROVIDER.")
        return None
    _check_name(provider)
    if provider == "in-memory":
        raise UsageError(
            "--database in-memory is for programs: nothing would be left when this command ends. Leave it out to keep "
            "the index in its folder."
        )
    if provider == EMBEDDED and values:
        raise UsageError(
            "embedded is the index folder itself and has no address or collection: leave them out."
        )
    known = home if home.provider == provider else DatabaseSettings(provider=provider)
    if connection_env:
        values["connection_string"] = ""
    settings = replace(known, **values)
    if connection:
        _advise(settings)
    return settings


def _check_name(provider: str) -> None:
    """Refuse a provider that nobody has heard of, before anything else is wrong with it."""
    from loccit.index.registry import known_providers

    known = known_providers()
    if provider not in known:
        near = difflib.get_close_matches(provider.lower(), known, 1, 0.6)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise UsageError(f"There is no database provider {provider!r}{hint}; available: {', '.join(known)}.")


def _values(
    connection: str | None,
    connection_env: str | None,
    collection: str | None,
    native: str | None,
    options: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the settings that were given, by their names."""
    if connection and connection_env:
        raise UsageError("--connection and --connection-env both say where the database is; give only one.")
    if connection_env and not os.environ.get(connection_env):
        raise UsageError(f"The environment variable {connection_env} (--connection-env) is not set.")
    values: dict[str, Any] = {
        "connection_string": connection,
        "connection_env": connection_env,
        "collection": collection,
        "native": native,
    }
    if options:
        values["options"] = dict(_option(pair) for pair in options)
    return {name: value for name, value in values.items() if value is not None}


def _option(pair: str) -> tuple[str, Any]:
    """Read ``name=value``; numbers and switches are taken for what they are.

    >>> _option("ef_search=200"), _option("tls=false"), _option("schema=laws")
    (('ef_search', 200), ('tls', False), ('schema', 'laws'))
    """
    name, equals, text = (part.strip() for part in pair.partition("="))
    if not name or not equals:
        raise UsageError(f"--database-option takes NAME=VALUE, such as ef_search=200, not {name!r}.")
    try:
        value = json.loads(text)
    except ValueError:
        return name, text
    return name, value if isinstance(value, (bool, int, float)) else text


def _advise(settings: DatabaseSettings) -> None:
    """Say that a connection string which may hold a password is not kept, and where it belongs."""
    from loccit.index.home import is_harmless

    if not is_harmless(settings.provider, settings.connection_string):
        message(
            "note: the connection string may contain a password, so the index does not store it. For later commands "
            f"set the environment variable {settings.connection_env}, which also keeps it out of your shell history."
        )
