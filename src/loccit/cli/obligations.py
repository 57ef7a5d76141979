"""``loccit obligations``: who shall do what by when, and for how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.errors import NOTHING_FOUND
from loccit.cli.options import IndexOption, JsonOption, meant, open_library
from loccit.cli.output import display_path, one_line, print_json, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import ObligationsResponse


def obligations(
    document: Annotated[
        str | None,
        typer.Argument(metavar="DOC", help="The document: its path, file name or title; all by default."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            "-k",
            metavar="KIND",
            help="Only a duty, prohibition, permission, recommendation or statement; or anything with a deadline "
            "or an amount.",
        ),
    ] = None,
    bearer: Annotated[
        str | None,
        typer.Option("--bearer", "-b", metavar="WORDS", help="Only if the bearer contains these words."),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="WORDS", help="Only sentences with these words.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option("--unit", "-u", metavar="UNIT", help="Only with this unit: day, month, EUR, %, …"),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option("--path", "-p", metavar="GLOB", help="Only in this folder, or matching this pattern."),
    ] = None,
    gap: Annotated[
        str | None,
        typer.Option(
            "--not-understood",
            metavar="PART",
            help="Only rows without this: bearer, action, deadline, amount, language; or inherited ones.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="Show at most this many rows.")
    ] = 100,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help="Skip this many rows.")] = 0,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """List duties, prohibitions, permissions, deadlines and amounts, each with its place.

    The table is built during indexing, for English and German. What was not understood is marked and counted.

    [bold]Examples[/bold]
    $ loccit obligations service-agreement.docx --kind deadline --unit day
    $ loccit obligations --bearer "harbour master" --kind duty
    $ loccit obligations --kind amount --text fine --json
    """
    with open_library(index) as library:
        answer = library.obligations(
            None if document is None else meant(document),
            filters={"path": [meant(one) for one in path]} if path else None,
            kind=kind,
            bearer=bearer,
            text=text,
            unit=unit,
            gap=gap,
            limit=limit,
            offset=offset,
        )
    if as_json:
        print_json(answer.to_dict())
    else:
        show(*_lines(answer))
    if not answer.rows:
        raise typer.Exit(NOTHING_FOUND)


def _lines(answer: ObligationsResponse) -> list[RenderableType]:
    from rich.text import Text

    from loccit.model.obligation import GAPS, row_line

    lines: list[RenderableType] = []
    path = ""
    for row in answer.rows:
        if row.source_path != path:
            path = row.source_path
            lines += (
                ["", Text(display_path(path), style="cyan")]
                if lines
                else [Text(display_path(path), style="cyan")]
            )
        lines.append(Text(f"  {one_line(row_line(row))}"))
    first, last = answer.offset + 1, answer.offset + len(answer.rows)
    shown = f"{first}–{last} of {answer.total}" if answer.rows else f"0 of {answer.total}"
    kinds = ", ".join(f"{name} {count}" for name, count in answer.kinds.items() if count)
    lines += [""] if lines else []
    lines.append(Text(f"{shown} · {kinds or 'nothing'}", style="dim"))
    for name, count in answer.gaps.items():
        if count:
            said = name if name == "inherited" else f"not understood: {name}"
            lines.append(Text(f"{said} ({count}): {GAPS[name]}", style="yellow"))
    if answer.unread_documents:
        lines.append(
            Text(
                f"{answer.unread_documents} of {answer.documents} documents are in languages without rules.",
                style="yellow",
            )
        )
    if answer.note:
        lines.append(Text(answer.note, style="dim"))
    if answer.next_offset is not None:
        lines.append(Text(f"More with --offset {answer.next_offset}", style="dim"))
    return lines
