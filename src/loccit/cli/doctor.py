"""``loccit doctor``: check the index, and put right what can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.errors import ERROR
from loccit.cli.folder import open_library
from loccit.cli.options import IndexOption, JsonOption
from loccit.cli.output import one_line, print_json, show

if TYPE_CHECKING:
    from rich.text import Text

    from loccit.model import Check, DoctorReport


def doctor(
    check: Annotated[bool, typer.Option("--check", help="Only check; repair nothing.")] = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the index, and repair what is damaged.

    The exit code is 1 if a problem remains.

    [bold]Examples[/bold]
    $ loccit doctor
    $ loccit doctor --check --json
    """
    with open_library(index) as library:
        report = library.doctor(repair=not check)
    if as_json:
        print_json(report.to_dict())
    else:
        show(*(_line(item) for item in report.checks), "", _verdict(report, check))
    if not report.healthy:
        raise typer.Exit(ERROR)


def _line(item: Check) -> Text:
    from rich.text import Text

    mark, style = (
        ("ok", "green") if item.ok else ("fixed", "yellow") if item.repaired else ("wrong", "bold red")
    )
    line = Text(f"{mark:<6}", style=style).append(one_line(item.name), style="bold")
    detail = ". ".join(one_line(part).rstrip(".") for part in (item.detail, item.repaired) if part)
    return line.append(f"  {detail}" if detail else "", style="dim" if item.ok else "")


def _advice(report: DoctorReport) -> str:
    """Say how what was derived is made again; what is wrong with the record has its own advice."""
    left = {item.name for item in report.checks if not item.ok and not item.repaired}
    own = left <= {"record", "settings", "losses", "lock"}
    return "What to do is said above." if own else "Rebuild it with: loccit index --rebuild"


def _verdict(report: DoctorReport, check: bool) -> Text:
    from rich.text import Text

    if report.healthy and report.left:
        return Text(f"What the index has is sound. Still to do: {report.left}", style="yellow")
    if report.healthy:
        return Text("The index is healthy.", style="green")
    if report.out_of_room:
        advice = "Its disk is full: free some space, then run loccit doctor again."
    else:
        advice = "Run without --check to repair it." if check else _advice(report)
    return Text(f"The index is not healthy. {advice}", style="red")
