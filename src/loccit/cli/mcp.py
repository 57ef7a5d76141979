"""``loccit mcp``: the library as tools for an agent; ``loccit mcp install`` tells a client about it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.folder import FOLDER, index_path
from loccit.cli.options import IndexOption, JsonOption
from loccit.cli.output import display_path, message, print_json
from loccit.errors import UsageError

if TYPE_CHECKING:
    from loccit.server.clients import Client, Written
    from loccit.server.services import LibraryRegistry

OUTPUTS = ("both", "text")

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="AGENT.YAML",
        help="Serve the document tools of this file, under their own names.",
    ),
]
WriteOption = Annotated[
    bool, typer.Option("--write", help="Let clients update the index, with index_documents.")
]
BudgetOption = Annotated[
    int | None,
    typer.Option(
        "--token-budget",
        min=100,
        metavar="N",
        help="Most tokens of an answer if the call sets no budget; 6000.",
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "--output",
        metavar="KIND",
        help="What answers contain: both text and structured values, or only text, for clients that would show a model "
        "only the values.",
    ),
]

mcp: typer.Typer = typer.Typer(rich_markup_mode="rich", invoke_without_command=True)


@mcp.callback()
def serve_stdio(
    context: typer.Context,
    config: ConfigOption = None,
    write: WriteOption = False,
    token_budget: BudgetOption = None,
    output: OutputOption = "both",
    index: IndexOption = None,
) -> None:
    """Serve the library to an agent over MCP, on standard input and output.

    The client starts this command; [cyan]loccit mcp install[/cyan] configures the client.

    [bold]Examples[/bold]
    $ loccit mcp install --client claude-code --write
    $ loccit mcp --index ~/notes/.loccit
    $ loccit mcp --config agent.yaml
    """
    if context.invoked_subcommand is not None:
        return
    import gc

    registry = make_registry(index, config, write=write, token_budget=token_budget, output=output)
    # The first question comes at once. What it needs is loaded while the protocol is imported, and nothing of all
    # that is rubbish to be collected meanwhile.
    gc.disable()
    registry.warm()
    from loccit.server.mcp import build_server, run_stdio

    server = build_server(registry)
    gc.freeze()
    gc.enable()
    try:
        run_stdio(server)
    finally:
        registry.close()


def make_registry(
    index: Path | None, config: Path | None, *, write: bool, token_budget: int | None, output: str
) -> LibraryRegistry:
    """Return what a server answers from: an index, or the tools of an agent file."""
    from loccit.server.services import (
        TOKEN_BUDGET,
        IndexService,
        LibraryRegistry,
        LibraryService,
        tool_services,
    )

    if output not in OUTPUTS:
        raise UsageError(f"--output must be one of {', '.join(OUTPUTS)}, not {output!r}.")
    services: list[LibraryService] = []
    if config is not None:
        services += tool_services(config)
    else:
        here = Path.cwd()
        create_at = index or here / FOLDER if write else None
        services.append(IndexService(lambda: index_path(index), create_at=create_at))
    return LibraryRegistry(
        services,
        configured=config is not None,
        write=write,
        token_budget=token_budget or TOKEN_BUDGET,
        structured=output == "both",
    )


NAMES = "claude-code, claude-desktop, cursor or vscode"


@mcp.command()
def install(
    client: Annotated[
        str | None, typer.Option("--client", metavar="NAME", help=f"{NAMES}; shows all by default.")
    ] = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Write it to the client's configuration file; the rest of the file stays, and a backup is kept.",
        ),
    ] = False,
    scope: Annotated[
        str | None,
        typer.Option("--scope", metavar="SCOPE", help="project (the default, if the client has it) or user."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The server's name in the client.")
    ] = "loccit",
    command: Annotated[
        str | None,
        typer.Option(
            "--command",
            metavar="COMMAND",
            help="The command that starts Loccit, if not this installation's.",
        ),
    ] = None,
    skill: Annotated[
        bool,
        typer.Option("--skill", help="Print the skill that teaches an agent the tools; --write installs it."),
    ] = False,
    plugin: Annotated[
        Path | None,
        typer.Option(
            "--plugin",
            metavar="FOLDER",
            help="Write a Claude Code plugin there: manifest, skill and server.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", metavar="AGENT.YAML", help="Serve the tools of this file instead of an index."
        ),
    ] = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the configuration that lets a client start the server, or write it.

    [bold]Examples[/bold]
    $ loccit mcp install
    $ loccit mcp install --client claude-code --write
    $ loccit mcp install --client claude-desktop --index ~/notes/.loccit --write
    $ loccit mcp install --skill --write
    """
    from loccit.server.clients import (
        CLIENTS,
        SKILL,
        own_command,
        skill_file,
        write_configuration,
        write_plugin,
        write_skill,
    )

    if skill and not write:
        typer.echo(SKILL.read_text(encoding="utf-8"), nl=False)
        return
    if skill:
        _say_written([write_skill(skill_file(scope, Path.cwd()))], as_json, "Claude Code")
        return

    if client is not None and client not in CLIENTS:
        raise UsageError(f"--client must be one of {', '.join(CLIENTS)}, not {client!r}.")
    if write and client is None:
        raise UsageError(f"Name the client to write to with --client: {NAMES}.")
    start = [*(shlex.split(command) if command else own_command()), *_arguments(config, index)]
    if plugin is not None:
        _say_written(write_plugin(plugin, name, start), as_json, "Claude Code")
        return
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
        message(f"{where} already has it.")
        return
    kept = f" The old version is in {display_path(str(written.backup))}." if written.backup else ""
    message(f"Wrote {where}.{kept} Restart {chosen[0].title} to use it.")


def _say_written(files: list[Written], as_json: bool, client: str) -> None:
    """Say which files were written, and where what they were before is kept."""
    if as_json:
        print_json(
            [
                {
                    "path": str(file.path),
                    "changed": file.changed,
                    "backup": str(file.backup) if file.backup else None,
                }
                for file in files
            ]
        )
        return
    for file in files:
        where = display_path(str(file.path))
        kept = f" The old version is in {display_path(str(file.backup))}." if file.backup else ""
        message(f"Wrote {where}.{kept}" if file.changed else f"{where} already has it.")
    if any(file.changed for file in files):
        message(f"Restart {client} to use it.")


def _arguments(config: Path | None, index: Path | None) -> list[str]:
    """Return the arguments of ``loccit``, with paths that hold wherever the client starts it."""
    # A model that is shown values instead of text would miss the marks around quoted material.
    tail = ["--output", "text"]
    if config is not None:
        if not config.exists():
            raise UsageError(f"{config} does not exist.")
        return ["mcp", "--config", str(config.absolute()), *tail]
    found = index_path(index) or Path.cwd() / FOLDER
    if not found.exists():
        message(f"There is no index at {display_path(str(found))} yet. Create it with: loccit index PATH")
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
