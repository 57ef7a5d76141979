"""``loccit forget``: take documents out of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loccit.cli.folder import open_library
from loccit.cli.options import IndexOption, JsonOption
from loccit.cli.output import one_line, plural, print_json, show


def forget(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="A folder or file that was indexed.", show_default=False),
    ],
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a folder or a file from the index; the files themselves stay.

    For folders that were moved or deleted. A path that was given to [cyan]loccit index[/cyan] itself is forgotten
    too; a part of one comes back with the next run, unless a .loccitignore file excludes it.

    [bold]Example[/bold]
    $ loccit forget old-contracts/
    """
    with open_library(index) as library:
        gone = library.forget(paths)
    if as_json:
        print_json({"removed": gone})
    else:
        show(f"{plural(len(gone), 'document')} removed: {', '.join(one_line(str(path)) for path in paths)}")
