"""``loccit documents``: what is in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from loccit.cli.errors import NOTHING_FOUND
from loccit.cli.options import IndexOption, JsonOption, open_library
from loccit.cli.output import message, one_line, path_text, print_json, show
from loccit.model.document import IMAGE_PAGES

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from loccit.model import DocumentInfo


def documents(index: IndexOption = None, as_json: JsonOption = False) -> None:
    """List the documents of the index.

    [bold]Examples[/bold]
    $ loccit documents
    $ loccit ls --json
    """
    with open_library(index) as library:
        entries = library.documents()
    if as_json:
        print_json([entry.to_dict() for entry in entries])
    elif entries:
        show(_table(entries))
    else:
        message("The index has no documents. Add some with: loccit index PATH")
    if not entries:
        raise typer.Exit(NOTHING_FOUND)


def _title(entry: DocumentInfo) -> Text:
    from rich.text import Text

    title = Text(one_line(entry.title))
    if pages := entry.metadata.get(IMAGE_PAGES):
        title.append(f"\nread from images: p. {one_line(str(pages))}", style="yellow")
    return title


def _table(entries: list[DocumentInfo]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False)
    table.add_column("document", overflow="fold")
    table.add_column("title", overflow="fold", ratio=1)
    table.add_column("language")
    table.add_column("pages", justify="right")
    table.add_column("chunks", justify="right")
    table.add_column("modified", no_wrap=True)
    for entry in entries:
        table.add_row(
            path_text(entry.source_path),
            _title(entry),
            one_line(entry.language),
            str(entry.pages or ""),
            str(entry.total_chunks),
            one_line(entry.modified)[:10],
        )
    return table
