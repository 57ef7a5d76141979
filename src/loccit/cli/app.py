"""The application: every command under its name, and what holds for all of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from loccit.cli.asking import typed
from loccit.cli.chat import chat
from loccit.cli.config import config
from loccit.cli.connect import connect
from loccit.cli.doctor import doctor
from loccit.cli.errors import guarded, interrupted
from loccit.cli.eval import evaluate
from loccit.cli.forget import forget
from loccit.cli.index import index
from loccit.cli.logs import LogFormat, LogFormatOption, LogLevelOption, configure
from loccit.cli.mcp import mcp
from loccit.cli.migrate import migrate
from loccit.cli.questions import COMMANDS
from loccit.cli.serve import serve
from loccit.cli.status import status

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


class GuardedGroup(TyperGroup):
    """The group of all commands; turns every exception into a message and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line."""
        given = list(sys.argv[1:] if args is None else args)
        end = given.index("--") if "--" in given else len(given)
        words = [word for word in given[:end] if word != "--debug"] + given[end:]
        run = super().main
        guarded(lambda: run(words, prog_name, complete_var, False, windows_expand_args, **extra), given)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(interrupted()) from None


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


for _name, _command in COMMANDS.items():
    app.command(_name, rich_help_panel=FIND, hidden=_name == "ls")(typed(_command))
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
