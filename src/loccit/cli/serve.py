"""``loccit serve``: the library over HTTP, for people in a browser, for programs and for agents."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from loccit.cli.folder import FOLDER, index_path
from loccit.cli.mcp import BudgetOption, ConfigOption, OutputOption, WriteOption, make_registry
from loccit.cli.options import IndexOption
from loccit.cli.output import message

PORT = 8765
RATE = 300.0


def serve(
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address to listen on; any but loopback needs a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            envvar="LOCCIT_TOKEN",
            show_envvar=True,
            help="Bearer token that clients must send.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Another name for the server, for instance behind a proxy; may be repeated.",
        ),
    ] = None,
    rate_limit: Annotated[
        float,
        typer.Option(
            "--rate-limit",
            min=0,
            metavar="N",
            help="Most requests a second from one address; 0 for no limit.",
        ),
    ] = RATE,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            min=1,
            max=64,
            metavar="N",
            help="Most processes under load; one per core by default, at most 4.",
        ),
    ] = None,
    config: ConfigOption = None,
    write: WriteOption = False,
    token_budget: BudgetOption = None,
    output: OutputOption = "both",
    index: IndexOption = None,
) -> None:
    """Serve the library over HTTP: a page to search and read, an API below /api, MCP at /mcp, and /health.

    Listens on this machine only, unless [cyan]--host[/cyan] says otherwise.

    [bold]Examples[/bold]
    $ loccit serve
    $ loccit serve --config agent.yaml --port 9000
    $ LOCCIT_TOKEN=… loccit serve --host 0.0.0.0
    """
    from loccit.server.http import Limits, build_app, has_mcp, listen, serve, url_of
    from loccit.server.services import RECORD

    registry = make_registry(index, config, write=write, token_budget=token_budget, output=output)
    app = build_app(
        registry,
        host=host,
        token=token,
        allowed_hosts=allow_host or (),
        limits=Limits(per_second=rate_limit),
        processes=processes or min(4, os.cpu_count() or 1),
    )
    listener = listen(host, port)
    address = url_of(listener, host)
    agents = f"MCP at {address}/mcp" if has_mcp() else "for agents: pip install 'loccit[mcp]'"
    message(f"Serving on {address} ({agents}). Stop with Ctrl-C.")
    if config is None and not ((index_path(index) or Path(FOLDER)) / RECORD).exists():
        message("There is no index here yet: the page explains how to create one.")
    try:
        # Ctrl-C is how a server is ended, not an accident.
        with contextlib.suppress(KeyboardInterrupt):
            serve(app, listener)
    finally:
        registry.close()
