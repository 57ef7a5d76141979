"""Pieces of HTML that every part of the report is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pinakes.evaluation.runs import SetRun


def anchor(one: SetRun) -> str:
    """Name the place of a set on the page."""
    return escape("set-" + "".join(c if c.isalnum() else "-" for c in one.name), quote=True)


def figure(title: str, drawn: str, caption: str) -> str:
    """Make a picture with its heading and what it shows."""
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<h3>{escape(title)}</h3><figure>{drawn}{words}</figure>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table; cells are HTML, and may bring their own ``td``."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
