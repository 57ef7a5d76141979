"""The application: every command under its name, and what holds for all of them."""

from __future__ import annotations

from typing import Annotated

import typer

from loccit.cli.chat import chat
from loccit.cli.config import config
from loccit.cli.connect import connect
from loccit.cli.define import define
from loccit.cli.diff import diff
from loccit.cli.doctor import doctor
from loccit.cli.documents import documents
from loccit.cli.errors import GuardedGroup
from loccit.cli.eval import evaluate
from loccit.cli.forget import forget
from loccit.cli.grep import grep
from loccit.cli.index import index
from loccit.cli.logs import LogFormat, LogFormatOption, LogLevelOption, configure
from loccit.cli.mcp import mcp
from loccit.cli.migrate import migrate
from loccit.cli.obligations import obligations
from loccit.cli.outline import outline
from loccit.cli.refs import refs
from loccit.cli.search import search
from loccit.cli.section import section
from loccit.cli.serve import serve
from loccit.cli.status import status
from loccit.cli.verify import verify

HELP = """Search structured documents, and cite the exact place of every passage.

[bold]Start with[/bold]
$ loccit index docs/
$ loccit search reporting duties of the harbour master
$ loccit section "Section 306(b)"
$ loccit define vessel
$ loccit outline harbour-safety-act.md

The index is the folder given by [cyan]--index[/cyan] or [cyan]LOCCIT_INDEX[/cyan], else the nearest
[cyan].loccit/[/cyan] upwards.

With [cyan]--json[/cyan], standard output is exactly one JSON document. If the command fails, it
is {"error": {"type": …, "message": …}}; the message also goes to standard error.

[bold]Exit codes[/bold]  0 done · 1 error · 2 wrong usage · 3 done, but some documents failed · 4 nothing found
"""

FIND = "Find and read"
KEEP = "Build and maintain the index"
AGENTS = "Serve it to agents"

app: typer.Typer = typer.Typer(
    cls=GuardedGroup,
    help=HELP,
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from loccit.version import __version__

        typer.echo(f"loccit {__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; also works after the command.")
    ] = False,
    log_format: LogFormatOption = LogFormat.text,
    log_level: LogLevelOption = None,
) -> None:
    configure(log_format, log_level)


app.command(rich_help_panel=FIND)(search)
app.command(rich_help_panel=FIND)(grep)
app.command(rich_help_panel=FIND)(section)
app.command(rich_help_panel=FIND)(define)
app.command(rich_help_panel=FIND)(refs)
app.command(rich_help_panel=FIND)(verify)
app.command(rich_help_panel=FIND)(diff)
app.command(rich_help_panel=FIND)(outline)
app.command(rich_help_panel=FIND)(obligations)
app.command(rich_help_panel=FIND)(documents)
app.command("ls", hidden=True)(documents)
app.command(rich_help_panel=KEEP)(index)
app.command(rich_help_panel=KEEP)(connect)
app.command(rich_help_panel=KEEP)(migrate)
app.command(rich_help_panel=KEEP)(status)
app.command(rich_help_panel=KEEP)(forget)
app.command(rich_help_panel=KEEP)(doctor)
app.command("eval", rich_help_panel=KEEP)(evaluate)
app.add_typer(mcp, name="mcp", rich_help_panel=AGENTS)
app.command(rich_help_panel=AGENTS)(serve)
app.command(rich_help_panel=AGENTS)(chat)
app.add_typer(config, name="config", rich_help_panel=AGENTS)
