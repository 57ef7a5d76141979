"""``loccit define``: what the documents say a term means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.errors import NOTHING_FOUND
from loccit.cli.options import DocumentOption, IndexOption, JsonOption, open_library
from loccit.cli.output import one_line, path_text, print_json, show
from loccit.model.document import span

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import DefineResponse, TermDefinition


def define(
    words: Annotated[
        list[str],
        typer.Argument(metavar="TERM", help="The term, in singular or plural, upper or lower case."),
    ],
    document: DocumentOption = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how the documents define a term, and where they disagree.

    [bold]Examples[/bold]
    $ loccit define vessel
    $ loccit define personal data breach
    $ loccit define Services --document service-agreement.docx
    """
    with open_library(index) as library:
        answer = library.define(" ".join(words), document=document)
    if as_json:
        print_json(answer.to_dict())
    else:
        show(*_lines(answer))
    if not answer.definitions:
        raise typer.Exit(NOTHING_FOUND)


def _lines(answer: DefineResponse) -> list[RenderableType]:
    from rich.text import Text

    if not answer.definitions:
        near = ", ".join(one_line(term) for term in answer.near)
        return [Text(f"No document defines “{one_line(answer.term)}”. Similar terms: {near}", style="yellow")]
    lines: list[RenderableType] = []
    if answer.conflict:
        lines += [Text("The documents do not agree on this term.", style="yellow"), ""]
    for item in answer.definitions:
        lines += _entry(item)
    return lines[:-1]


def _entry(item: TermDefinition) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    definition = item.definition
    head = Text(one_line(definition.term), style="bold").append(
        f"  {one_line(item.document_title)}", style="dim"
    )
    place = Text().append_text(path_text(definition.source_path))
    place.append(f"#{one_line(definition.source_section)}" if definition.source_section else "", style="cyan")
    where = span(definition.lines, definition.pages, definition.source_path)
    place.append(f", {where}" if where else "", style="dim")
    place.append(f" [{definition.place_id}]" if definition.place_id else "", style="dim")
    lines: list[RenderableType] = [head, place]
    lines.append(Padding(Text(one_line(definition.definition_text)), (0, 0, 0, 4)))
    if definition.goes_on:
        below = f"goes on below {where}" if where else "goes on below"
        lines.append(Padding(Text(below, style="yellow"), (0, 0, 0, 4)))
    lines += [
        Padding(Text(f"except: {one_line(exception)}", style="yellow"), (0, 0, 0, 4))
        for exception in definition.exceptions
    ]
    if item.conflicts_with:
        others = ", ".join(dict.fromkeys(one_line(title) for title in item.conflicts_with))
        lines.append(Padding(Text(f"defined differently in: {others}", style="yellow"), (0, 0, 0, 4)))
    return [*lines, ""]
