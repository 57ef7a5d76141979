"""``pinakes mcp``: the library as tools for an agent; ``pinakes mcp install`` tells a client about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.mcp_install import install
from pinakes.cli.opening import FOLDER, index_path
from pinakes.cli.options import IndexOption
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.server.registry import LibraryRegistry

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
    bool, typer.Option("--write", help="Let clients bring the index up to date, with index_documents.")
]
BudgetOption = Annotated[
    int | None,
    typer.Option(
        "--token-budget", min=100, metavar="N", help="Most tokens of an answer that asks for no budget; 6000."
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "--output",
        metavar="KIND",
        help="What answers hold: both text and structured values, or text alone, for clients that show a model only "
        "the values when there are any.",
    ),
]

mcp = typer.Typer(rich_markup_mode="rich", invoke_without_command=True)


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

    A client starts this itself; [cyan]pinakes mcp install[/cyan] shows how to tell it.

    [bold]Examples[/bold]
    $ pinakes mcp install --client claude-code --write
    $ pinakes mcp --index ~/notes/.pinakes
    $ pinakes mcp --config agent.yaml
    """
    if context.invoked_subcommand is not None:
        return
    import gc

    registry = make_registry(index, config, write=write, token_budget=token_budget, output=output)
    # The first question comes at once. What it needs is loaded while the protocol is imported, and nothing of all
    # that is rubbish to be collected meanwhile.
    gc.disable()
    registry.warm()
    from pinakes.server.mcp import build_server
    from pinakes.server.mcp.stdio import run

    server = build_server(registry)
    gc.freeze()
    gc.enable()
    try:
        run(server)
    finally:
        registry.close()


mcp.command("install")(install)


def make_registry(
    index: Path | None, config: Path | None, *, write: bool, token_budget: int | None, output: str
) -> LibraryRegistry:
    """Return what a server answers from: an index, or the tools of an agent file."""
    from pinakes.server.registry import TOKEN_BUDGET, LibraryRegistry
    from pinakes.server.services import IndexService, LibraryService

    if output not in OUTPUTS:
        raise UsageError(f"--output must be one of {', '.join(OUTPUTS)}, not {output!r}.")
    services: list[LibraryService] = []
    if config is not None:
        from pinakes.server.tool_service import tool_services

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
