"""``pinakes mcp install``: shows, or writes, what a client must know to start the server."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.opening import FOLDER, index_path
from pinakes.cli.options import IndexOption, JsonOption
from pinakes.cli.output import message, print_json
from pinakes.cli.paths import display_path
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.server.clients import Client

NAMES = "claude-code, claude-desktop, cursor or vscode"


def install(
    client: Annotated[
        str | None, typer.Option("--client", metavar="NAME", help=f"{NAMES}; without it, all are shown.")
    ] = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Put it into the client's file; the rest of the file stays, with a copy beside it.",
        ),
    ] = False,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", metavar="SCOPE", help="For this project (the default, where there is such), or user."
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What the server is called there.")
    ] = "pinakes",
    command: Annotated[
        str | None,
        typer.Option("--command", metavar="COMMAND", help="What starts Pinakes, such as 'uvx pinakes[mcp]'."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", metavar="AGENT.YAML", help="Serve the tools of this file, not an index."
        ),
    ] = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the configuration with which a client starts the server, or write it.

    [bold]Examples[/bold]
    $ pinakes mcp install
    $ pinakes mcp install --client claude-code --write
    $ pinakes mcp install --client claude-desktop --index ~/notes/.pinakes --write
    """
    from pinakes.server.clients import CLIENTS, own_command, write_configuration

    if client is not None and client not in CLIENTS:
        raise UsageError(f"--client must be one of {', '.join(CLIENTS)}, not {client!r}.")
    if write and client is None:
        raise UsageError(f"Say which client to write to, with --client: {NAMES}.")
    start = [*(shlex.split(command) if command else own_command()), *_arguments(config, index)]
    chosen = [CLIENTS[client]] if client else list(CLIENTS.values())
    if not write:
        _show(chosen, scope if client else None, name, start, as_json)
        return
    written = write_configuration(chosen[0], chosen[0].path(scope, Path.cwd()), name, start)
    if as_json:
        backup = str(written.backup) if written.backup else None
        print_json(
            {"client": client, "path": str(written.path), "changed": written.changed, "backup": backup}
        )
        return
    where = display_path(str(written.path))
    if not written.changed:
        message(f"{where} has it already.")
        return
    kept = f" What it was before is in {display_path(str(written.backup))}." if written.backup else ""
    message(f"Wrote {where}.{kept} Start {chosen[0].title} again to use it.")


def _arguments(config: Path | None, index: Path | None) -> list[str]:
    """Return the arguments of ``pinakes``, with paths that hold wherever the client starts it."""
    # A model that is shown values instead of text would miss the marks around quoted material.
    tail = ["--output", "text"]
    if config is not None:
        if not config.exists():
            raise UsageError(f"{config} does not exist.")
        return ["mcp", "--config", str(config.absolute()), *tail]
    found = index_path(index) or Path.cwd() / FOLDER
    if not found.exists():
        message(f"There is no index at {display_path(str(found))} yet. Make it with: pinakes index PATH")
    return ["mcp", "--index", str(found.absolute()), *tail]


def _show(chosen: list[Client], scope: str | None, name: str, start: list[str], as_json: bool) -> None:
    entries = [(client, client.path(scope, Path.cwd())) for client in chosen]
    if as_json:
        print_json(
            [
                {"client": client.name, "path": str(path), "configuration": client.configuration(name, start)}
                for client, path in entries
            ]
        )
        return
    for client, path in entries:
        message(f"{client.title}, in {display_path(str(path))}:")
        typer.echo(json.dumps(client.configuration(name, start), indent=2, ensure_ascii=False))
