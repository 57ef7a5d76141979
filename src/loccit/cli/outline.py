"""``loccit outline``: the tree of headings of a document, or of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.errors import NOTHING_FOUND
from loccit.cli.options import IndexOption, JsonOption, meant, open_library
from loccit.cli.output import message, one_line, path_text, print_json, show
from loccit.config.bounds import DEPTHS
from loccit.model.document import span

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from loccit.model import Outline, OutlineNode


def outline(
    document: Annotated[
        str | None,
        typer.Argument(metavar="DOC", help="Path, file name or title; every document by default."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            "-n",
            min=DEPTHS[0],
            max=DEPTHS[1],
            metavar="N",
            help="How many levels; by default all of DOC, or 1 of every document.",
        ),
    ] = None,
    clauses: Annotated[
        bool, typer.Option("--clauses", "-c", help="Also show the numbered clauses below the headings.")
    ] = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the tree of headings, with lines or pages.

    [bold]Examples[/bold]
    $ loccit outline
    $ loccit outline harbour-safety-act.md --depth 2
    $ loccit outline service-agreement.docx --clauses
    $ loccit outline annual-report.pdf --json
    """
    with open_library(index) as library:
        # JSON gives the tree whole.
        outlines = library.outline(None if document is None else meant(document), clauses=clauses or as_json)
    if as_json:
        print_json([entry.to_dict() for entry in outlines])
    elif not outlines:
        message("The index has no documents. Add some with: loccit index PATH")
    else:
        levels = depth if depth is not None else (None if document is not None else 1)
        show(*(_tree(entry, levels) for entry in outlines))
    if not outlines:
        raise typer.Exit(NOTHING_FOUND)


def _tree(entry: Outline, depth: int | None) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    nodes = entry.nodes
    if len(nodes) == 1 and nodes[0].heading.strip() == entry.title.strip():
        nodes = nodes[0].children  # the heading that is the title would only say it again
    title = Text(one_line(entry.title) or "(no title)", style="bold").append("  ")
    title.append_text(path_text(entry.source_path))
    if checked := str(entry.self_check):
        borne_out = f"  confirmed: {checked}"
        title.append(borne_out, style="yellow" if entry.self_check.doubtful else "dim")
    tree = Tree(title, guide_style="dim")
    _grow(tree, nodes, depth, entry.source_path)
    return tree


def _grow(tree: Tree, nodes: Sequence[OutlineNode], depth: int | None, path: str) -> None:
    if depth == 0:
        return
    below = None if depth is None else depth - 1
    for node in nodes:
        _grow(tree.add(_line(node, path, cut=below == 0)), node.children, below, path)


def _line(node: OutlineNode, path: str, cut: bool) -> Text:
    from rich.text import Text

    heading, label = one_line(node.heading), one_line(node.label)
    line = Text()
    if heading and label.endswith(heading):
        # A clause: its label says its marker.
        heading, label = label, ""
    if label and not heading.casefold().startswith(label.casefold()):
        line.append(f"{label}  ", style="green")
    where = span(node.lines, node.pages, path)
    line.append(heading or "(no heading)").append(f"  {where}  [{node.place_id}]", style="dim")
    hidden = _count(node.children) if cut else 0
    return line.append(f"  +{hidden}", style="dim") if hidden else line


def _count(nodes: Sequence[OutlineNode]) -> int:
    return sum(1 + _count(node.children) for node in nodes)
