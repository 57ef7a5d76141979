"""How places are shown: paths from where one stands, lines and pages, links that a terminal can open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.safe import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from pinakes.model import Lines, Pages
    from pinakes.model.document import Cells


def display_path(source_path: str) -> str:
    """Return the path from the working folder when it lies below it, else as it is."""
    path = Path(source_path)
    if path.is_absolute():
        try:
            return one_line(path.relative_to(Path.cwd()).as_posix())
        except ValueError:
            pass
    return one_line(source_path)


def span(lines: Lines | None, pages: Pages | None, path: str, cells: Cells | None = None) -> str:
    """Return a place as a citation has it: ``lines 12–18``, ``p. 3``, ``pp. 3–4, paragraphs 12–18``."""
    # Here, because commands that show no place need not wait for the model.
    from pinakes.model.document import span as cited

    return cited(lines, pages, path, cells)


def path_text(source_path: str, style: str = "cyan") -> Text:
    """Return the path as text that links to the file when that exists."""
    from rich.style import Style
    from rich.text import Text

    path = Path(source_path)
    text = Text(display_path(source_path), style=style)
    if path.is_absolute() and path.exists():
        text.stylize(Style(link=path.as_uri()))
    return text


def meant(name: str) -> str:
    """Return a document's path or folder as the index knows it when it is written as ``../notes``."""
    return os.path.abspath(Path(name).expanduser()) if {"..", "~"} & set(Path(name).parts) else name
